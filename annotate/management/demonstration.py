"""The demonstration project, for trying Concord out: three invented products and two items for practice."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.hashers import make_password

from agreement.streams import Stream
from annotate.core.guideline import FrozenGuideline, ProjectTemplate
from annotate.core.guidelines import guideline_of
from annotate.core.models import (
    Assignment,
    Document,
    GoldItem,
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
from annotate.people.commands import add_member
from annotate.quality.commands import (
    RightValue,
    describe_gold,
    mark_gold,
    save_practice,
    set_practice_bar,
    settle_practice_item,
)
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, SaveOrigin, SubmittedAnswer, save_rating
from annotate.rating.commands.rounds import open_round_one
from annotate.setup.commands import create_project, delete_project
from annotate.setup.presets import TEMPLATES

SYSTEMS = ("first-sentences", "small-model", "large-model", "editor")


@dataclass(frozen=True)
class Product:
    """A document: its reviews, and one summary for each of SYSTEMS, in that order."""

    key: str
    title: str
    reviews: tuple[str, ...]
    summaries: tuple[str, ...]


KETTLE = Product(
    key="kettle",
    title="Electric kettle, 1.7 litres",
    reviews=(
        "Boils a full pot in under four minutes, which is faster than my old one by half. The handle stays cool. "
        "My only complaint is the lid, which needs two hands to open.",
        "Quick and quiet enough for an open kitchen. After three months there is limescale on the spout filter, "
        "but it comes off with vinegar.",
        "The lid is stiff! My mother cannot open it at all. A pity, because the water is hot in no time.",
        "Looks smart, pours without dripping. I measured 3:50 minutes for 1.7 litres. The cord could be longer.",
        "Leaked from the base after six weeks. The shop replaced it without questions and the new one has been fine.",
        "Good kettle for the price. Cool handle, no plastic taste. The cord barely reaches my socket.",
    ),
    summaries=(
        "Boils a full pot in under four minutes, which is faster than my old one by half. Quick and quiet enough for "
        "an open kitchen. The lid is stiff!",
        "This kettle is a great kettle. Reviewers love the kettle and the temperature control of the kettle. It is "
        "quiet and the the cord is long.",
        "Reviewers agree that the kettle is fast, boiling a full pot in about four minutes, and that its handle stays "
        "cool. The stiff lid and the short cord are the main complaints; one unit leaked and was replaced.",
        "Fast, quiet and cool to hold: most buyers are content, above all for the price. The lid takes strength to "
        "open, and the cord is short for some kitchens.",
    ),
)

BACKPACK = Product(
    key="backpack",
    title="Day backpack, 22 litres",
    reviews=(
        "Carried it for two weeks in Norway in constant rain and nothing inside got wet. Straps are soft.",
        "Comfortable straps, but the zip of the front pocket broke on the third day. Sewed in a new one myself.",
        "The laptop sleeve is too small for a 15-inch machine, although the label says otherwise.",
        "Light, waterproof, and the straps do not cut in even with eight kilos. I use it every day for work.",
        "Zip stuck from the start. Returned it.",
        "My son has used it for school for a year. The fabric looks like new; the zips are another story.",
    ),
    summaries=(
        "Carried it for two weeks in Norway in constant rain and nothing inside got wet. Comfortable straps, but the "
        "zip of the front pocket broke on the third day.",
        "A backpack that is liked by everyone. Waterproof. Zips are good, straps are good, laptop is good.",
        "The backpack keeps rain out and its straps are comfortable even under load. Several buyers had trouble with "
        "the zips, and one found the laptop sleeve smaller than stated.",
        "Praised for staying dry inside and sitting softly on the shoulders; blamed for zips that jam or break. Check "
        "the size of your laptop before you buy.",
    ),
)

LAMP = Product(
    key="lamp",
    title="Desk lamp with three colours of light",
    reviews=(
        "Warm light in the evening, cold light for drawing: exactly what I wanted. Touch buttons react at once.",
        "It hums. Very softly, but in a quiet room I hear nothing else.",
        "Stable foot, bends in every direction, and stays where you put it.",
        "The brightness is wonderful for embroidery. It remembers the last setting, which I love.",
        "Mine hums on the lowest level only. I keep it one step brighter and am happy with it.",
        "The touch buttons are so sensitive that my cat operates the lamp.",
    ),
    summaries=(
        "Warm light in the evening, cold light for drawing: exactly what I wanted. It hums. Stable foot, bends in "
        "every direction, and stays where you put it.",
        "The lamp has light. It is good for cat and embroidery and drawing. Buttons is sensitive. No one complains "
        "about any noise.",
        "Buyers value the choice between warm and cold light, the brightness and the stable, flexible arm. Two of six "
        "hear a soft hum, at least on the lowest level, and the touch buttons are very sensitive.",
        "Bright, adjustable and steady, this lamp suits fine work such as drawing or embroidery. A faint hum bothers "
        "those who work in silence.",
    ),
)

PRODUCTS = (KETTLE, BACKPACK, LAMP)

# How good each system's summaries are, by dimension, before raters differ about it.
QUALITY = {
    "fluency": (4, 2, 5, 5),
    "coherence": (2, 2, 4, 5),
    "faithfulness": (5, 1, 5, 4),
    "aspect-coverage": (2, 2, 5, 4),
}


_REVIEWS = (
    "Opens at one press and survived a storm at the coast. A little heavy for a handbag.",
    "Second autumn with it: not one rib bent. The cover got lost on the first day.",
    "Keeps two people dry. The handle is smooth, and slips with wet gloves.",
)
# The summaries of two systems, with their right values and the reason.
_SUMMARIES = {
    "editor": (
        "Opens at one press and holds up in storms, buyers say; it is heavy, and its handle slips when wet.",
        {"fluency": 5, "coherence": 5, "faithfulness": 5, "aspect-coverage": 4},
        "It has the praise and two of three complaints. The lost cover is missing, which costs a point.",
    ),
    "small-model": (
        "A light umbrella. The umbrella are good in the storm and ribs bent in storm.",
        {"fluency": 2, "coherence": 2, "faithfulness": 1, "aspect-coverage": 2},
        "Buyers call it heavy, and no rib bent: it says the opposite, twice.",
    ),
}
_BAR = 60  # percent
_RIGHT = 0.8  # the share of practice answers that equal the reference value


def add_practice(project: Project) -> None:
    """Add the two items with their reference values, and a bar for practice; Round I is not open yet."""
    parts = [{"label": f"Review {n}", "text": text} for n, text in enumerate(_REVIEWS, start=1)]
    title, digest = "Practice: umbrella for two", text_digest(parts)
    document = Document.objects.create(
        project=project, key="umbrella", title=title, parts=parts, digest=digest
    )
    dimensions = {each.key: each for each in project.dimensions.all()}
    for name, (text, values, explanation) in _SUMMARIES.items():
        system, _ = System.objects.get_or_create(project=project, name=name)
        item = Item.objects.create(document=document, system=system, text=text, digest=text_digest(text))
        gold = mark_gold(project=project, item=item, use=GoldItem.Use.PRACTICE)
        right = {dimensions[key].pk: RightValue(value) for key, value in values.items()}
        describe_gold(project=project, gold=gold, explanation=explanation, values=right)
    set_practice_bar(project=project, bar=_BAR)


def practise(round: Round, memberships: Iterable[Membership]) -> None:
    """Let each annotator answer both items until practice is passed; most answers are right."""
    dimensions = guideline_of(round).dimensions
    for membership in memberships:
        chance = Stream(0).of("demonstration", "practice", membership.pseudonym).shuffler()
        for gold in GoldItem.objects.filter(item__document__project=round.project_id).order_by("pk"):
            right = dict(gold.values.values_list("dimension", "value"))
            given = []
            for each in dimensions:
                value = right[each.id]
                if chance.random() >= _RIGHT:  # the value next to it, towards the middle of the scale
                    value += 1 if value < 3 else -1
                given.append(SubmittedAnswer(each, Answer(value=value), SaveOrigin()))
            save_practice(membership=membership, gold=gold, attempt=membership.practice_attempt, given=given)
            settle_practice_item(membership=membership, gold=gold)


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
        # Practice has changed the row of this membership since it was read.
        membership.refresh_from_db()
        # Each person has their own stream, so another person's answers change none of these.
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
        about = {"key": product.key, "title": product.title}
        add_texts(project, systems=SYSTEMS, parts=parts, texts=product.summaries, **about)
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
