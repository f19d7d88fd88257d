"""What an annotator marked to come back to: ratings that are unsure, and units that could not be rated."""

from dataclasses import dataclass

from django.db.models import Q

from annotate.core.models import Membership, Rating, Round
from annotate.rating.queries.places import own_order


@dataclass(frozen=True)
class FlaggedItem:
    """An item with its flagged ratings, in the order of the dimensions."""

    position: int
    title: str
    text: str
    ratings: list[Rating]


def flagged_items(round: Round, annotator: Membership) -> list[FlaggedItem]:
    """Return the annotator's flagged items in the annotator's order. One query."""
    flagged = Rating.objects.filter(
        Q(unsure=True) | Q(cannot_rate=True), assignment__in=own_order(round, annotator).order_by()
    )
    ordered = flagged.select_related("assignment__item__document", "dimension").order_by(
        "assignment__position", "dimension__position"
    )
    found: dict[int, FlaggedItem] = {}
    for rating in ordered:
        assignment = rating.assignment
        position, item = assignment.position or 0, assignment.item
        flagged_item = FlaggedItem(position, item.document.title, item.text, [])
        found.setdefault(assignment.pk, flagged_item).ratings.append(rating)
    return list(found.values())
