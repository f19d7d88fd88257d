"""Plain functions that make what tests need. Everyone's password is "correct horse"."""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import count
from string import ascii_uppercase
from typing import Any

from django.contrib.auth.hashers import make_password
from django.utils import timezone
from django.utils.text import slugify

from annotate.core.audit import record
from annotate.core.models import (
    Dimension,
    Document,
    Item,
    Membership,
    OutsideRater,
    OutsideStudy,
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
    user = _user(email, name)
    user.save()
    return user


def _user(email: str = "", name: str = "") -> User:
    number = next(_numbers)
    return User(
        email=email or f"person{number}@example.org",
        name=name or f"Person {number}",
        password=_hash(PASSWORD),
    )


def make_member(project: Project, role: Role = Role.ANNOTATOR, *, user: User | None = None) -> Membership:
    return add_member(project=project, role=role, user=user or make_user())


def _make_members(
    project: Project, admin: User, researcher: User, annotators: list[User]
) -> list[Membership]:
    """Make a new project's members at once, as `add_member` makes them; return the annotators."""
    members = [
        Membership(project=project, role=Role.ADMIN, user=admin, label=str(admin)),
        Membership(project=project, role=Role.RESEARCHER, user=researcher, label=str(researcher)),
    ]
    members += [
        Membership(project=project, role=Role.ANNOTATOR, user=user, label=str(user), alias=alias)
        for user, alias in zip(annotators, ascii_uppercase, strict=False)
    ]
    for membership in Membership.objects.bulk_create(members):
        record(project, "place.made", membership, after={"role": membership.role, "alias": membership.alias})
    return members[2:]


def make_outside_rater(membership: Membership, **fields: Any) -> OutsideRater:
    """Record that an annotator joined by a study's link, which is now closed."""
    study, _ = OutsideStudy.objects.get_or_create(
        project=membership.project, defaults={"pay_rule": "item", "pay_rate": "0.25", "currency": "GBP"}
    )
    parameters = {"PROLIFIC_PID": f"pid-{membership.pk}", "SESSION_ID": "session"}
    usual = {
        "parameters": parameters,
        "platform_id": parameters["PROLIFIC_PID"],
        "consented_at": timezone.now(),
    }
    return OutsideRater.objects.create(
        study=study,
        membership=membership,
        **{"consent_digest": sha256(b"consent").hexdigest(), **usual, **fields},
    )


def make_dimension(project: Project, name: str, *, minimum: int = 1, maximum: int = 5) -> Dimension:
    (dimension,) = _make_dimensions(project, (name,), project.dimensions.count() + 1, minimum, maximum)
    return dimension


def _make_dimensions(
    project: Project, names: tuple[str, ...], first: int = 1, minimum: int = 1, maximum: int = 5
) -> list[Dimension]:
    dimensions = Dimension.objects.bulk_create(
        Dimension(
            project=project,
            key=slugify(name),
            name=name.capitalize(),
            position=position,
            definition=f"How good the {name} is.",
            scale_minimum=minimum,
            scale_maximum=maximum,
        )
        for position, name in enumerate(names, first)
    )
    ScalePoint.objects.bulk_create(
        ScalePoint(
            dimension=dimension, value=value, label=f"{name} {value}", description=f"What {value} means."
        )
        for dimension, name in zip(dimensions, names, strict=True)
        for value in (minimum, maximum)
    )
    return dimensions


def make_items(project: Project, *, documents: int = 2, systems: int = 2) -> list[Item]:
    """Make every system's text for every document."""
    made = System.objects.bulk_create(
        System(project=project, name=f"system-{n}") for n in range(1, systems + 1)
    )
    texts = [
        [{"label": f"Review {k}", "text": f"Review {k} of product {n}."} for k in (1, 2)]
        for n in range(1, documents + 1)
    ]
    sources = Document.objects.bulk_create(
        Document(
            project=project, key=f"product-{n}", title=f"Product {n}", parts=parts, digest=text_digest(parts)
        )
        for n, parts in enumerate(texts, 1)
    )
    written = [
        (document, system, f"What {system.name} wrote about product {n}.")
        for n, document in enumerate(sources, 1)
        for system in made
    ]
    return Item.objects.bulk_create(
        Item(document=document, system=system, text=text, digest=text_digest(text))
        for document, system, text in written
    )


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
    admin, researcher, *others, outsider = User.objects.bulk_create(_user() for _ in range(annotators + 3))
    return Cast(
        project=project,
        admin=admin,
        annotators=_make_members(project, admin, researcher, others),
        researcher=researcher,
        outsider=outsider,
        items=make_items(project, documents=documents, systems=systems),
        dimensions=_make_dimensions(project, dimensions),
    )
