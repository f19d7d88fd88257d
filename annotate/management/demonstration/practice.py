"""The demonstration's practice: two gold items of a fourth product, and the annotators' answers."""

from collections.abc import Iterable

from agreement.streams import Stream
from annotate.core.guidelines import guideline_of
from annotate.core.models import (
    Document,
    GoldItem,
    Item,
    Membership,
    Project,
    Round,
    System,
    text_digest,
)
from annotate.quality.commands import (
    RightValue,
    describe_gold,
    mark_gold,
    save_practice,
    set_practice_bar,
    settle_practice_item,
)
from annotate.rating.commands.ratings import Answer, SaveOrigin, SubmittedAnswer

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
_RIGHT = 0.8


def add_practice(project: Project) -> None:
    """Add the two items with their reference values, and a bar for practice; Round I is not open yet."""
    parts = [{"label": f"Review {n}", "text": text} for n, text in enumerate(_REVIEWS, start=1)]
    document = Document.objects.create(
        project=project,
        key="umbrella",
        title="Practice: umbrella for two",
        parts=parts,
        digest=text_digest(parts),
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
            given = [
                SubmittedAnswer(
                    each, Answer(value=_choose_answer(right[each.id], chance.random())), SaveOrigin()
                )
                for each in dimensions
            ]
            save_practice(membership=membership, gold=gold, attempt=membership.practice_attempt, given=given)
            settle_practice_item(membership=membership, gold=gold)


def _choose_answer(right: float, chance: float) -> float:
    """Return the reference value, or the one next to it towards the middle of the scale."""
    if chance < _RIGHT:
        return right
    return right + 1 if right < 3 else right - 1
