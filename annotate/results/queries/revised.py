"""Alpha of the independent values of Round I beside alpha of those that raters revised."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime

import numpy as np
from django.db.models import Count, F, Max
from django.utils.translation import gettext, gettext_lazy

from agreement import Coefficient, alpha_difference
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Assignment, Rating, RatingChange, Round
from annotate.results.page import Section
from annotate.results.queries.material import RatedRound
from annotate.results.queries.reliability_data import RatedItems, rated_items
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text

SAYS = gettext_lazy(
    "At the end of a document, raters saw their own values of all its items side by side and could revise "
    "them. The independent values are primary: all other results use them. Raters still worked alone."
)
_HOW = gettext_lazy("Number of values that differ from the independent ones (of counted raters).")
_LATER = gettext_lazy(
    "Number of independent values (of counted raters) that changed after their rater had rated the whole "
    "document, and so may have seen its other values."
)

Work = tuple[int, int]  # annotator, document


def revised_section(
    rated: RatedRound, alpha: Callable[[RatedRound, FrozenDimension], Coefficient]
) -> Section:
    """Return a table of both alphas by dimension, given Round I and what computes alpha. Six queries."""
    later = _changed_after_comparison(rated.round)
    after = RatedRound(rated.round, rated.dimensions, rated_items(rated.round, revised=True), rated.drawn)
    rows = [
        [
            text(dimension.name, key=dimension.key),
            figure(alpha(rated, dimension)),
            figure(alpha(after, dimension)),
            figure(_difference(rated, after, dimension)),
            Cell(_count_revised(rated.rated[dimension.key], after.rated[dimension.key]), how=str(_HOW)),
            Cell(later[dimension.id], how=str(_LATER)),
            Cell(int(np.sum(rated.data(dimension).ratings_per_unit)), how=str(_HOW)),
        ]
        for dimension in rated.dimensions
    ]
    columns = [
        DIMENSION,
        Column("alpha_independent", gettext("alpha, independent")),
        Column("alpha_revised", gettext("alpha, revised")),
        Column("difference", gettext("difference")),
        Column("revised", gettext("values revised"), ColumnKind.COUNT),
        Column("changed_later", gettext("independent values changed later"), ColumnKind.COUNT),
        Column("values", gettext("of"), ColumnKind.COUNT),
    ]
    says = gettext("The difference is revised minus independent, with an interval over the same resamples.")
    table = Table(
        "revised", gettext("Krippendorff’s alpha before and after the revision"), columns, rows, says=says
    )
    return Section(gettext("With revised values"), str(SAYS), [table], "revised")


def _difference(before: RatedRound, after: RatedRound, dimension: FrozenDimension) -> Coefficient:
    return alpha_difference(
        before.data(dimension),
        after.data(dimension),
        generator=before.stream(dimension),
        resampling=before.resampling,
    )


def _count_revised(before: RatedItems, after: RatedItems) -> int:
    rated = ~np.isnan(before.data.values)
    return int(np.sum(before.data.values[rated] != after.data.values[rated]))


def _changed_after_comparison(round: Round) -> Counter[int]:
    """Count, by dimension, the independent values that were changed when their document was all rated."""
    compared = _compared_at(round)
    changes = RatingChange.objects.filter(
        rating__assignment__round=round,
        rating__assignment__annotator__counted=True,
        rating__value__isnull=False,
        value_before__isnull=False,
    ).exclude(value_before=F("value_after"))
    of = ("rating__assignment__annotator", "rating__assignment__item__document")
    changed = {
        (rating, dimension)
        for rating, dimension, at, *work in changes.values_list("rating", "rating__dimension", "at", *of)
        if (seen := compared.get((work[0], work[1]))) and at > seen
    }
    return Counter(dimension for _, dimension in changed)


def _compared_at(round: Round) -> dict[Work, datetime]:
    """Return since when raters could see their values of a document side by side.

    That is when the last of its units was first saved, hidden checks among them, but no item met again.
    """
    met = Assignment.objects.filter(
        round__project=round.project_id, round__number__in=Round.MET_TOGETHER, annotator__isnull=False
    ).exclude(plan=Assignment.Plan.REPEAT)
    work = ("annotator", "item__document")
    several = met.order_by().values_list(*work).annotate(items=Count("pk")).filter(items__gt=1)
    # What is asked about again, as its wording changed, was complete before.
    missing = met.filter(completed_at=None).exclude(ratings__asked_again_at__isnull=False)
    ended = {(row[0], row[1]) for row in several} - set(missing.order_by().values_list(*work))
    saved = Rating.objects.filter(assignment__in=met.values("pk")).order_by()
    last = saved.values_list(*(f"assignment__{each}" for each in work)).annotate(at=Max("created_at"))
    return {(annotator, document): at for annotator, document, at in last if (annotator, document) in ended}
