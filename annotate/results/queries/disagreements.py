"""The range of raters' values of each unit, the units listed by it, and all answers about one unit."""

import base64
import zlib
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Max, Min
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.guidelines import guideline_of
from annotate.core.models import Dimension, Dispute, Item, Post, Project, Rating, Round
from annotate.core.scale import distance, normalize
from annotate.disputes.queries.rules import answers_by_unit
from annotate.questions import Given, kind_of
from annotate.questions.scale import SCALE
from annotate.results.queries.kept import KeptPage, ratings_of, version_of_round_one
from annotate.results.registry import Chosen, ResultsPage
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, text


@dataclass(frozen=True)
class Disagreement:
    """A selection of units by minimum range, dimension, system and document; empty selects all."""

    dimension: str = ""
    apart: float = 1
    system: str = ""
    document: str = ""


@dataclass(frozen=True)
class RaterValue:
    """A value of a unit with its rater, the answer in words if it has more than a value, and the reason."""

    name: str
    value: float
    says: str = ""
    reason: str = ""


@dataclass(frozen=True)
class UnitApart:
    """A unit with its lowest and highest value, the number of values, their range, and their raters.

    mark: the result of a test about it.
    """

    item: Item
    dimension: Dimension
    lowest: float
    highest: float
    ratings: int
    apart: float
    given: Sequence[RaterValue] = ()
    mark: str = ""

    @property
    def reasons(self) -> Sequence[RaterValue]:
        return [each for each in self.given if each.reason]


@dataclass(frozen=True)
class DisagreementSource:
    """The source of listed disagreements: people, or judges and people.

    part: the stored result with the units. units: the selected units, the largest difference first.
    """

    name: str
    label: str | Promise
    lead: str | Promise
    part: ResultsPage
    units: Callable[[Project, Disagreement, KeptPage], Sequence[UnitApart]]


SOURCES: dict[str, DisagreementSource] = {}
"""By the word that URLs use; the page shows the first one first."""


RaterSaid = tuple[str, Rating | None, Rating | None]
"""What one rater gave a unit: in Round I, and in discussion where there was one."""


@dataclass(frozen=True)
class UnitPage:
    """A unit: its output and document, every rater's value and reason, and the thread of its dispute."""

    item: Item
    dimension: FrozenDimension
    raters: Sequence[RaterSaid]
    dispute: Dispute | None
    posts: Sequence[Post]
    sides: Sequence[str] = ()

    @property
    def title(self) -> str:
        return str(self.item.document)

    @property
    def parts(self) -> list[dict[str, str]]:
        return list(self.item.document.parts)


def shows_systems(project: Project) -> bool:
    """Return True if pages may show a unit's system: no rating, discussion or decision is open.

    People who decide a dispute, and people in contact with them, must not know the system. Two queries.
    """
    rounds = Round.objects.filter(project=project)
    if not rounds.exists() or rounds.filter(status=Round.Status.OPEN).exists():
        return False
    return not Dispute.objects.filter(round__project=project, status=Dispute.Status.OPEN).exists()


def texts_of_sides(item: Item) -> list[str]:
    """Return the outputs of a comparison in their stored order, none of another item. One query."""
    if not item.is_comparison:
        return []
    return [each.output.text for each in item.sides.select_related("output")]


class PagedUnits(Sequence[UnitApart]):
    @abstractmethod
    def read(self, part: slice) -> list[UnitApart]:
        """Return some of the units; deleted ones are missing."""

    @overload
    def __getitem__(self, index: int) -> UnitApart: ...
    @overload
    def __getitem__(self, index: slice) -> list[UnitApart]: ...
    def __getitem__(self, index: int | slice) -> UnitApart | list[UnitApart]:
        return self.read(slice(index, index + 1))[0] if isinstance(index, int) else self.read(index)


class UnitsApart(PagedUnits):
    """Rated units, the largest difference in Round I first; names are read only for requested units."""

    def __init__(self, project: Project, meant: Disagreement, kept: KeptPage) -> None:
        """Select the wanted units from the stored page. Up to three queries."""
        self._project = project
        units = units_of(kept)
        least = np.full(len(units), meant.apart)
        # Questions that are no scale rarely have a distance above 1: their usual threshold counts.
        others = project.dimensions.exclude(kind=SCALE.key)
        usual_thresholds = {each.pk: kind_of(each).threshold for each in others}
        for pk, opens in usual_thresholds.items():
            least[units["dimension"] == pk] = min(meant.apart, opens)
        wanted = units["apart"] >= least
        if meant.dimension:
            keys = project.dimensions.filter(key=meant.dimension).values_list("pk", flat=True)
            # An unknown key gives an empty list, which selects no unit.
            wanted &= np.isin(units["dimension"], list(keys))
        # Units have keys of items, so names become keys first.
        if meant.system or meant.document:
            named = {"system__name": meant.system, "document__key": meant.document}
            items = Item.objects.filter(
                document__project=project, **{name: value for name, value in named.items() if value}
            )
            wanted &= np.isin(units["item"], list(items.values_list("pk", flat=True)))
        self._units = units[wanted]

    def __len__(self) -> int:
        return len(self._units)

    def read(self, part: slice) -> list[UnitApart]:
        """Return several units with names and values, in up to four queries."""
        chosen = self._units[part]
        by_key = items_with_texts(chosen["item"].tolist())
        dimensions = self._project.dimensions.in_bulk()
        # Answers of other kinds than scales are described with the frozen options, such as labels.
        others: dict[int, FrozenDimension] = {}
        if any(each.kind != SCALE.key for each in dimensions.values()):
            round = self._project.rounds.select_related("guideline").filter(number=1).first()
            frozen = FrozenGuideline.from_json(round.guideline.content).dimensions if round else ()
            others = {each.id: each for each in frozen if not each.is_scale}
        given = _values_of_raters(by_key, others)
        return [
            UnitApart(
                item=by_key[item],
                dimension=dimensions[dimension],
                lowest=normalize(lowest),
                highest=normalize(highest),
                ratings=ratings,
                apart=normalize(apart),
                given=given.get((item, dimension), ()),
            )
            for item, dimension, lowest, highest, ratings, apart in chosen.tolist()
        ]


def items_with_texts(keys: Sequence[int]) -> Mapping[int, Item]:
    """Return these items with document, system and output, by their keys. One query."""
    items = Item.objects.select_related("document", "system").defer("document__parts")
    return items.in_bulk(keys)


def _values_of_raters(
    items: Iterable[int], others: Mapping[int, FrozenDimension]
) -> Mapping[tuple[int, int], list[RaterValue]]:
    """Return the Round I values of these items by item and dimension, in the order of raters. One query.

    others: the dimensions that are no scales, by their keys.
    """
    ratings = Rating.objects.filter(
        assignment__item__in=list(items),
        assignment__round__number=1,
        assignment__annotator__counted=True,
        value__isnull=False,
    ).select_related("assignment__annotator")
    found: dict[tuple[int, int], list[RaterValue]] = {}
    for rating in ratings.order_by("assignment__annotator__joined_at", "assignment__annotator"):
        membership, value = rating.assignment.annotator, rating.value
        if membership is not None and value is not None:
            unit = (rating.assignment.item_id, rating.dimension_id)
            other = others.get(rating.dimension_id)
            # Raters see the sides of a comparison in different orders; the stored order makes answers
            # comparable.
            answer = Given(normalize(value), rating.data).unordered
            says = kind_of(other).describe(other, answer) if other else ""
            found.setdefault(unit, []).append(RaterValue(membership.rater_name, answer.value, says))
    return found


def units_table(units: Sequence[UnitApart], *, with_systems: bool) -> Table:
    """Return units with their outputs and values as a table for a file; some have reasons and marks."""
    with_reasons = any(each.mark for each in units)
    columns = [
        Column("document", gettext("Document"), ColumnKind.TEXT),
        Column("title", gettext("Title"), ColumnKind.TEXT),
        Column("system", gettext("System"), ColumnKind.TEXT),
        DIMENSION,
        Column("difference", gettext("difference"), decimals=2),
        Column("lowest", gettext("lowest"), decimals=2),
        Column("highest", gettext("highest"), decimals=2),
        Column("ratings", gettext("ratings"), ColumnKind.COUNT),
        Column("values", gettext("Values"), ColumnKind.TEXT),
        Column("reasons", gettext("Reasons"), ColumnKind.TEXT),
        Column("mark", gettext("test"), ColumnKind.TEXT),
        Column("text", gettext("Text"), ColumnKind.TEXT),
    ]
    rows = [
        [
            text(each.item.document.key),
            text(str(each.item.document)),
            text(each.item.system.name),
            text(each.dimension.name, key=each.dimension.key),
            Cell(float(each.apart)),
            Cell(float(each.lowest)),
            Cell(float(each.highest)),
            Cell(each.ratings),
            text("; ".join(f"{one.name}: {one.says or f'{one.value:g}'}" for one in each.given)),
            text("; ".join(f"{one.name}: {one.reason}" for one in each.reasons)),
            text(each.mark),
            text(each.item.text),
        ]
        for each in units
    ]
    table = Table("disagreements", gettext("Disagreements"), columns, rows, heads=4)
    # Only some sources have reasons and tests; see `shows_systems` for the names of systems.
    hidden = (() if with_systems else ("system",)) + (() if with_reasons else ("reasons", "mark"))
    return table.select([column.key for column in columns if column.key not in hidden])


def unit_page(project: Project, item_id: int, key: str) -> UnitPage | None:
    """Return everything about a unit, None if the project does not have it. Up to six queries."""
    item = (
        Item.objects.filter(pk=item_id, document__project=project)
        .select_related("document", "system")
        .first()
    )
    round = project.rounds.filter(number=1).select_related("guideline").first()
    dimension = FrozenGuideline.from_json(round.guideline.content).dimension(key) if round else None
    if item is None or dimension is None:
        return None
    disputes = Dispute.objects.filter(round=round, item=item, dimension=dimension.id)
    dispute = disputes.prefetch_related("posts__author").first()
    return UnitPage(
        item=item,
        dimension=dimension,
        raters=_answers_of_raters(item, dimension),
        dispute=dispute,
        posts=list(dispute.posts.all()) if dispute else [],
        sides=texts_of_sides(item),
    )


def _answers_of_raters(item: Item, dimension: FrozenDimension) -> list[RaterSaid]:
    ratings = Rating.objects.filter(
        assignment__item=item, dimension=dimension.id, assignment__round__number__in=(1, 2)
    ).select_related("assignment__annotator", "assignment__round")
    # The ratings of each rater by the number of their round.
    by_rater: dict[str, dict[int, Rating]] = {}
    for rating in ratings.order_by("assignment__annotator__joined_at", "assignment__annotator"):
        if rating.is_answered and rating.assignment.annotator:
            name = rating.assignment.annotator.rater_name
            by_rater.setdefault(name, {})[rating.assignment.round.number] = rating
    return [(name, given.get(1), given.get(2)) for name, given in by_rater.items()]


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
    # A unit takes 44 bytes in this array, and many times that as Python objects.
    units = np.fromiter(_units(project), UNIT)
    rank = {pk: index for index, pk in enumerate(sorted(keys, key=keys.__getitem__))}
    ranks = np.array([rank[pk] for pk in units["dimension"].tolist()], int)
    # The last key sorts first: the largest range, then the item, then the key of the dimension.
    units = units[np.lexsort((ranks, units["item"], -units["apart"]))]
    paired = units[units["ratings"] >= 2]
    counts = Counter(zip(paired["dimension"].tolist(), paired["apart"].tolist(), strict=True))
    rows = [
        [text(keys[pk], key=str(pk)), Cell(normalize(apart)), Cell(count)]
        for (pk, apart), count in sorted(counts.items())
    ]
    table = Table("units", gettext("Units by the range of their values"), _COLUMNS, rows, heads=2)
    # The units are too many for rows of a table, which pages would load whole.
    packed = base64.b64encode(zlib.compress(units.tobytes(), 1)).decode()
    return [Section(gettext("Range of values"), "", [table], packed=packed)]


SPREADS = ResultsPage(
    "spreads",
    _("Range of values"),
    _("Round I values of each unit, the largest minus the smallest."),
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
    # A range of other kinds needs all answers of a unit; of scales, the database computes the extremes.
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


AMONG_PEOPLE = DisagreementSource(
    "people",
    _("Among people"),
    _("Units with the largest range of Round I values come first."),
    SPREADS,
    UnitsApart,
)
