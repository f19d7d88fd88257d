"""Answers that have no value, and why: they are gaps to every coefficient, and counted beside it."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Q

from annotate.core.models import Rating, Round


@dataclass(frozen=True)
class WithoutValue:
    """One dimension's answers of a round without a value.

    apart: units to which the dimension does not apply for one rater, and which another rater gave a value.
    """

    not_applicable: int = 0
    cannot_rate: int = 0
    apart: int = 0


def answers_without_value(round: Round) -> Mapping[int, WithoutValue]:
    """Return the counts by the dimension's id, of dimensions that have such answers. One query."""
    units = (
        Rating.objects.filter(assignment__round=round)
        .values_list("dimension", "assignment__item")
        .annotate(
            rated=Count("pk", filter=Q(value__isnull=False)),
            cannot=Count("pk", filter=Q(cannot_rate=True)),
            away=Count("pk", filter=Q(not_applicable=True)),
        )
        .filter(Q(cannot__gt=0) | Q(away__gt=0))
        .order_by()
    )
    found: dict[int, WithoutValue] = {}
    for dimension, _, rated, cannot, away in units:
        before = found.get(dimension, WithoutValue())
        found[dimension] = WithoutValue(
            before.not_applicable + away,
            before.cannot_rate + cannot,
            before.apart + (rated > 0 and away > 0),
        )
    return found
