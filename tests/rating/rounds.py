"""Plain functions that carry a project through its rounds."""

from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Assignment, Dispute, Item, Membership, Round
from annotate.fastpath.queries import NUMBERS, Prepared
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one, open_round_one, open_round_two
from tests.factories import Cast


def frozen(round: Round, key: str = "fluency") -> FrozenDimension:
    dimension = FrozenGuideline.from_json(round.guideline.content).dimension(key)
    assert dimension is not None
    return dimension


def opened(cast: Cast) -> Round:
    return open_round_one(project=cast.project, by=cast.admin)


def assigned(cast: Cast, round: Round, annotator: Membership, item: Item) -> Assignment:
    """Return the annotator's assignment of an item; without one, reserve everything that can be had."""
    keys = round.pk, annotator.pk, item.pk
    if found := _OWN.first(*keys):
        return found
    reserve_items(round=round, annotator=annotator, how_many=len(cast.items))
    (found,) = _OWN.all(*keys)
    return found


_OWN = Prepared(
    lambda round, annotator, item: Assignment.objects.filter(round=round, annotator=annotator, item=item),
    *NUMBERS,
)


def rate(
    cast: Cast,
    round: Round,
    annotator: Membership,
    item: Item,
    value: float | None,
    *,
    comment: str = "",
    key: str = "fluency",
) -> None:
    save_rating(
        assignment=assigned(cast, round, annotator, item),
        dimension=frozen(round, key),
        answer=Answer(value=value, comment=comment),
        by=annotator.user,
    )


def discussed(cast: Cast, *values: float | None) -> Dispute:
    """Rate the first item with these values, close Round I, open Round II, and return the one dispute."""
    round = opened(cast)
    for annotator, value in zip(cast.annotators, values, strict=True):
        rate(cast, round, annotator, cast.items[0], value, comment=f"Reason of {annotator.alias}.")
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    return Dispute.objects.get(round=round)
