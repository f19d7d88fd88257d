"""Plain functions that make what tests need. Everyone's password is "correct horse"."""

from dataclasses import dataclass
from functools import cache
from itertools import count

from django.contrib.auth.hashers import make_password
from django.utils.text import slugify

from annotate.core.models import (
    Dimension,
    Document,
    Item,
    Membership,
    Project,
    Role,
    ScalePoint,
    System,
    User,
    text_digest,
)
from annotate.people.commands import add_member

PASSWORD = "correct horse"
_numbers = count(1)
_hash = cache(make_password)


@dataclass(frozen=True)
class Cast:
    """A project and the people of its tests."""

    project: Project
    admin: User
    annotators: list[Membership]
    researcher: User
    outsider: User
    items: list[Item]
    dimensions: list[Dimension]


def make_user(email: str = "", *, name: str = "") -> User:
    number = next(_numbers)
    return User.objects.create(
        email=email or f"person{number}@example.org",
        name=name or f"Person {number}",
        password=_hash(PASSWORD),
    )


def make_member(project: Project, role: Role = Role.ANNOTATOR, *, user: User | None = None) -> Membership:
    return add_member(project=project, role=role, user=user or make_user())


def make_dimension(project: Project, name: str, *, minimum: int = 1, maximum: int = 5) -> Dimension:
    position = project.dimensions.count() + 1
    dimension = Dimension.objects.create(
        project=project,
        key=slugify(name),
        name=name.capitalize(),
        position=position,
        definition=f"How good the {name} is.",
        scale_minimum=minimum,
        scale_maximum=maximum,
    )
    ScalePoint.objects.bulk_create(
        ScalePoint(
            dimension=dimension, value=value, label=f"{name} {value}", description=f"What {value} means."
        )
        for value in (minimum, maximum)
    )
    return dimension


def make_items(project: Project, *, documents: int = 2, systems: int = 2) -> list[Item]:
    """Make every system's text for every document."""
    made = [System.objects.create(project=project, name=f"system-{n}") for n in range(1, systems + 1)]
    items = []
    for n in range(1, documents + 1):
        parts = [{"label": f"Review {k}", "text": f"Review {k} of product {n}."} for k in (1, 2)]
        document = Document.objects.create(
            project=project, key=f"product-{n}", title=f"Product {n}", parts=parts, digest=text_digest(parts)
        )
        for system in made:
            text = f"What {system.name} wrote about product {n}."
            items.append(
                Item.objects.create(document=document, system=system, text=text, digest=text_digest(text))
            )
    return items


def make_project(
    *,
    dimensions: tuple[str, ...] = ("fluency",),
    documents: int = 2,
    systems: int = 2,
    annotators: int = 3,
    raters_per_item: int = 3,
) -> Cast:
    """Make a project with its material and people; no round is open."""
    number = next(_numbers)
    project = Project.objects.create(
        slug=f"project-{number}", name=f"Project {number}", raters_per_item=raters_per_item, seed=1
    )
    admin, researcher = make_user(), make_user()
    make_member(project, Role.ADMIN, user=admin)
    make_member(project, Role.RESEARCHER, user=researcher)
    return Cast(
        project=project,
        admin=admin,
        annotators=[make_member(project) for _ in range(annotators)],
        researcher=researcher,
        outsider=make_user(),
        items=make_items(project, documents=documents, systems=systems),
        dimensions=[make_dimension(project, name) for name in dimensions],
    )
