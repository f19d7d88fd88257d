"""Creation of the demonstration project, for trying Concord out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.hashers import make_password

from agreement.streams import Stream
from annotate.core.guideline import FrozenGuideline, ProjectTemplate
from annotate.core.models import (
    Assignment,
    Document,
    Item,
    Membership,
    Project,
    Role,
    Round,
    System,
    User,
    text_digest,
)
from annotate.core.models.people import LETTERS
from annotate.core.rounds import round_one
from annotate.management.demonstration.material import PRODUCTS, QUALITY, SYSTEMS
from annotate.management.demonstration.practice import add_practice, practise
from annotate.people.commands import add_member
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, SaveOrigin, save_rating
from annotate.rating.commands.rounds import open_round_one
from annotate.setup.commands import create_project, delete_project
from annotate.setup.presets import TEMPLATES

NAME = "Demonstration: opinions about three products"
SEED = 1  # of every demonstration: two installations show the same values and the same disputes
Parts = Sequence[Mapping[str, str]]
PASSWORD = "demonstration"  # noqa: S105 - known to everyone, for a server that only this machine reaches


@dataclass(frozen=True)
class Person:
    """A demonstration account. Annotators have rated a number of items, each with an individual bias."""

    email: str
    name: str
    role: Role
    rated: int = 0
    leaning: float = 0


PEOPLE = (
    Person("admin@example.org", "Ada Admin", Role.ADMIN),
    Person("ann@example.org", "Ann", Role.ANNOTATOR, rated=10, leaning=0.2),
    Person("bo@example.org", "Bo", Role.ANNOTATOR, rated=8, leaning=-0.6),
    Person("cem@example.org", "Cem", Role.ANNOTATOR, rated=5, leaning=0.1),
    Person("researcher@example.org", "Rae Researcher", Role.RESEARCHER),
)


def load_demonstration() -> Project:
    """Create the demonstration project with Round I partly done, unless it exists.

    Each step is its own transaction, so that others can save between them. A demonstration without a round
    comes from a process that died; it is deleted and created again.
    """
    users = make_accounts()
    if existing := Project.objects.filter(name=NAME).first():
        if round_one(existing):
            return existing
        delete_project(project=existing, name=NAME, by=users[PEOPLE[0]])
    round, memberships = _make(users)
    practise(round, [membership for person, membership in memberships.items() if person.rated])
    for person, membership in memberships.items():
        membership.refresh_from_db()
        chance = Stream(0).of("demonstration", person.email).shuffler()
        dimensions = FrozenGuideline.from_json(round.guideline.content).dimensions
        while person.rated > membership.assignments.count() and reserve_items(
            round=round, annotator=membership
        ):
            pass
        mine = Assignment.objects.select_related("item__system", "round__guideline").filter(
            annotator=membership
        )
        for assignment in mine.order_by("position")[: person.rated]:
            quality = SYSTEMS.index(assignment.item.system.name)
            for dimension in dimensions:
                felt = QUALITY[dimension.key][quality] + person.leaning + chance.gauss(0, 0.7)
                save_rating(
                    assignment=assignment,
                    dimension=dimension,
                    answer=Answer(value=min(max(int(felt + 0.5), 1), 5)),
                    by=membership.user,
                    sent=SaveOrigin(active_seconds=chance.uniform(8, 25)),
                )
    return round.project


def _make(users: Mapping[Person, User]) -> tuple[Round, dict[Person, Membership]]:
    project, memberships = begin_project(NAME, _template(), users)
    for product in PRODUCTS:
        parts = [{"label": f"Review {n}", "text": text} for n, text in enumerate(product.reviews, start=1)]
        add_texts(
            project,
            systems=SYSTEMS,
            key=product.key,
            title=product.title,
            parts=parts,
            texts=product.summaries,
        )
    add_practice(project)
    return open_round_one(project=project, by=users[PEOPLE[0]]), memberships


def make_accounts() -> dict[Person, User]:
    # One hash for all: five took most of the time of the first start, and the password is no secret.
    hashed = make_password(PASSWORD)
    return {person: _user(person, hashed) for person in PEOPLE}


def begin_project(
    name: str, template: ProjectTemplate, users: Mapping[Person, User]
) -> tuple[Project, dict[Person, Membership]]:
    """Return a new project and its people, with random choices seeded by SEED."""
    project = create_project(user=users[PEOPLE[0]], name=name, template=template)
    project.seed = SEED
    project.save(update_fields=["seed"])
    memberships = {
        person: add_member(project=project, role=person.role, user=user) for person, user in users.items()
    }
    for person, membership in memberships.items():
        # The orders of an annotator's items follow from the pseudonym.
        letters = Stream(SEED).of("pseudonym", person.email).shuffler().choices(LETTERS, k=8)
        membership.pseudonym = "R-" + "".join(letters)
        membership.save(update_fields=["pseudonym"])
    return project, memberships


def add_texts(
    project: Project, *, systems: Sequence[str], key: str, title: str, parts: Parts, texts: Sequence[str]
) -> None:
    document = Document.objects.create(
        project=project, key=key, title=title, parts=list(parts), digest=text_digest(parts)
    )
    for name, text in zip(systems, texts, strict=True):
        system, _ = System.objects.get_or_create(project=project, name=name)
        Item.objects.create(document=document, system=system, text=text, digest=text_digest(text))


def _template() -> ProjectTemplate:
    template = TEMPLATES["opinion-summaries"]
    names = {key.replace("-", " ") for key in QUALITY}
    return replace(
        template, dimensions=tuple(each for each in template.dimensions if each.name.lower() in names)
    )


def _user(person: Person, hashed: str) -> User:
    existing = User.objects.filter(email=person.email).first()
    return existing or User.objects.create(email=person.email, name=person.name, password=hashed)
