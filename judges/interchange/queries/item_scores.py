"""Judges on pages of items: scores of each item, and search flags."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from statistics import fmean

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from annotate.core.models import MeasurementLevelChoices, Project
from annotate.exports.registry import Row
from annotate.exports.tables.rows import AT_ONCE
from annotate.items.registry import ItemLead, ItemMark
from judges.core.models import OF_PROJECT, Judge, Judgment
from judges.core.values import map_values


def scores_by_item(project: Project) -> Iterator[tuple[int, Row]]:
    """Yield a score after the key of its item: the mean of a judge's samples on the dimension's scale.

    Categories have no mean and use the most frequent one; ties use the one returned first.
    """
    judges = Judge.objects.filter(project=project, scale_minimum__isnull=False)
    scales = {judge.name: judge.own_scale for judge in judges}
    dimensions = {each.key: each for each in project.dimensions.all()}
    for (item, judge, key), group in groupby(_values(project), key=itemgetter(0, 1, 2)):
        given, scale, dimension = [value for *_, value in group], scales.get(judge), dimensions[key]
        if scale:
            given = map_values(given, scale, dimension).tolist()
        is_named = dimension.measurement_level == MeasurementLevelChoices.NOMINAL
        score = float(Counter(given).most_common(1)[0][0] if is_named else fmean(given))
        yield item, {"judge": judge, "dimension": key, "score": score}


def _values(project: Project) -> Iterator[tuple[int, str, str, float]]:
    judgments = Judgment.objects.filter(
        judge__project=project,
        **OF_PROJECT,
        other=None,
        status=Judgment.Status.DONE,
        value__isnull=False,
    )
    in_order = judgments.order_by("item", "judge", "dimension__position", "dimension", "sample", "pk")
    columns = in_order.values_list("item", "judge__name", "dimension__key", "value")
    for item, judge, dimension, value in columns.iterator(AT_ONCE):
        assert value is not None  # filtered
        yield item, judge, dimension, value


def _has_judgment() -> Q:
    return Q(Exists(Judgment.objects.filter(item=OuterRef("pk"), status=Judgment.Status.DONE)))


ITEM_MARKS = (
    ItemMark("judged", _("judged"), _has_judgment),
    ItemMark("unjudged", _("not judged yet"), lambda: ~_has_judgment()),
    ItemMark("development", _("judges may learn from it"), lambda: Q(document__development__isnull=False)),
)
ITEM_LEAD = ItemLead("run_plan", _("Have judges judge these"))
