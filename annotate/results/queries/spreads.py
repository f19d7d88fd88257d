"""The range of each unit's Round I values: counts by dimension, and every unit in packed form."""

import base64
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Max, Min
from django.utils.translation import gettext, gettext_lazy

from annotate.core.guidelines import guideline_of
from annotate.core.models import Project, Rating
from annotate.core.scale import distance, normalize
from annotate.disputes.queries.rules import answers_by_unit
from annotate.questions import kind_of
from annotate.questions.scale import SCALE
from annotate.results.page import Section
from annotate.results.queries.kept import KeptPage
from annotate.results.queries.version import ratings_of, version_of_round_one
from annotate.results.registry import Chosen, ResultsPage
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text

UnitArray = npt.NDArray[Any]
UNIT = np.dtype(
    [
        ("item", np.int64),
        ("dimension", np.int64),
        ("lowest", np.float64),
        ("highest", np.float64),
        ("ratings", np.int32),
        ("apart", np.float64),
    ]
)
_COLUMNS = [
    DIMENSION,
    Column("apart", lambda: gettext("range"), ColumnKind.COUNT),
    Column("units", lambda: gettext("units"), ColumnKind.COUNT),
]
BATCH = 20_000


def spread_sections(project: Project, _chosen: Chosen) -> list[Section]:
    """Return the number of units with at least two values by their range, and the table of all units.

    Three queries; one more if there are questions of other kinds than scales.
    """
    keys = dict(project.dimensions.values_list("pk", "key"))
    units = np.fromiter(_units(project), UNIT)
    rank = {pk: index for index, pk in enumerate(sorted(keys, key=keys.__getitem__))}
    ranks = np.array([rank[pk] for pk in units["dimension"].tolist()], int)
    units = units[np.lexsort((ranks, units["item"], -units["apart"]))]
    paired = units[units["ratings"] >= 2]
    counts = Counter(zip(paired["dimension"].tolist(), paired["apart"].tolist(), strict=True))
    rows = [
        [text(keys[pk], key=str(pk)), Cell(normalize(apart)), Cell(count)]
        for (pk, apart), count in sorted(counts.items())
    ]
    table = Table("units", gettext("Units by the range of their values"), _COLUMNS, rows, heads=2)
    return [
        Section(
            gettext("Range of values"),
            "",
            [table],
            packed=base64.b64encode(zlib.compress(units.tobytes(), 1)).decode(),
        )
    ]


SPREADS = ResultsPage(
    "spreads",
    gettext_lazy("Range of values"),
    gettext_lazy("Round I values of each unit, the largest minus the smallest."),
    spread_sections,
    version_of_round_one,
    ratings_of,
    shown_on="disagreements",
)


def counted_spreads(kept: KeptPage) -> Mapping[int, Counter[float]]:
    counted: dict[int, Counter[float]] = {}
    for dimension, apart, units in (row for table in kept.tables for row in table.rows):
        counted.setdefault(int(dimension.key), Counter())[float(apart.value or 0)] = int(units.value or 0)
    return counted


def units_of(kept: KeptPage) -> UnitArray:
    """Return every rated unit, the largest difference first, then by item and the key of its dimension."""
    packed = b"".join(base64.b64decode(section.packed) for section in kept.sections)
    return np.frombuffer(zlib.decompress(packed), UNIT) if packed else np.empty(0, UNIT)


def _units(project: Project) -> Iterator[tuple[float, ...]]:
    given = Rating.objects.filter(
        assignment__round__project=project,
        assignment__round__number=1,
        assignment__annotator__counted=True,
        value__isnull=False,
    )
    round = project.rounds.select_related("guideline").filter(number=1).first()
    if round is not None:
        for item, dimension, answers in answers_by_unit(given, guideline_of(round)):
            values = [each.value for each in answers]
            apart = kind_of(dimension).spread(dimension, answers)
            yield item, dimension.id, min(values), max(values), len(values), apart
    scales = given.filter(dimension__kind=SCALE.key)
    units = scales.values_list("assignment__item", "dimension").annotate(
        lowest=Min("value"), highest=Max("value"), ratings=Count("pk")
    )
    for item, key, lowest, highest, ratings in units.order_by().iterator(BATCH):
        yield item, key, lowest, highest, ratings, distance(lowest, highest)
