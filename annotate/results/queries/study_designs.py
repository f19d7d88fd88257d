"""The cheapest design of a study that reaches a goal, and three others."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from django.utils.translation import gettext, gettext_lazy

from agreement.design import (
    LEAST_RATERS,
    MOST_DOCUMENTS,
    MOST_RATERS,
    Design,
    cheapest_designs,
    deviation_of_alpha,
    width_of_alpha,
    width_of_difference,
)
from annotate.results.queries.study_variances import WANTED, Planned, Size
from annotate.results.registry import Chosen, NumberParameter, Parameter
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, text

POWER, DIFFERENCE, ALPHA = "power", "difference", "alpha"
GOALS = {
    POWER: gettext_lazy("power to find the difference"),
    DIFFERENCE: gettext_lazy("width of a difference’s interval"),
    ALPHA: gettext_lazy("width of alpha’s interval"),
}
_USUAL_POWER, _USUAL_ALPHA = 0.8, 0.1
COSTS = gettext_lazy("What it costs")


GOAL = Parameter(
    "goal",
    gettext_lazy("Design reaches"),
    lambda _project: [(key, str(label)) for key, label in GOALS.items()],
    group=WANTED,
)
REACH = NumberParameter("reach", gettext_lazy("Power or width"), group=WANTED, least=0.001, most=100)
SYSTEMS = NumberParameter("systems", gettext_lazy("Systems"), group=WANTED, least=2, most=1_000)
TRAINING = NumberParameter(
    "training", gettext_lazy("Minutes of training for each rater"), group=COSTS, most=100_000
)
PANEL = NumberParameter("panel", gettext_lazy("Raters"), group=WANTED, least=2, most=100)
PER_DOCUMENT = NumberParameter(
    "per_document", gettext_lazy("Raters of each document"), group=WANTED, least=2, most=MOST_RATERS
)
DESIGN_PARAMETERS = (GOAL, REACH, SYSTEMS, PANEL, PER_DOCUMENT)

_SAYS = gettext_lazy(
    "The fewest ratings that reach the goal on every dimension with known variances. Every rater rates "
    "every output unless you enter the raters of each document. Costs are time for items, training if "
    "given, and pay. If the field is empty, the planner uses a power of 0.8, a difference’s interval of a "
    "quarter of the scale, or an alpha’s interval of 0.1."
)
_NAMES = {
    "cheapest": gettext_lazy("cheapest"),
    "next": gettext_lazy("next cheapest"),
    "raters": gettext_lazy("fewest raters"),
    "documents": gettext_lazy("fewest documents"),
}
_HOW = {
    POWER: gettext_lazy(
        "Power of the crossed model’s t test at 5 %, Bonferroni over all pairs of systems (method "
        "ErrorVariances.power)."
    ),
    DIFFERENCE: gettext_lazy(
        "Expected width of the 95 % interval of one pair of systems by the crossed model (function "
        "width_of_difference)."
    ),
    ALPHA: gettext_lazy(
        "Expected width of interval alpha’s 95 % interval from the variances (function deviation_of_alpha), "
        "times the ratio of Round I’s width to the one expected there."
    ),
}
_NO_SECONDS = gettext_lazy("Enter the seconds for an item.")
_NO_PAY = gettext_lazy("Enter the pay for an hour.")
_UNREACHED = gettext_lazy("Not reached with {raters} raters and {documents} documents.")
_TOO_FEW_RATERS = gettext_lazy("Enter at least as many raters as raters of each document.")


@dataclass(frozen=True)
class Goal:
    """The goal of one dimension.

    value: the power or width by raters and documents. target: the goal for it; is_power: a minimum, else a
    maximum. words: the goal in words, for the end of a message.
    """

    planned: Planned
    value: Callable[[int, int], float]
    target: float
    is_power: bool
    words: str

    def is_reached(self, raters: int, documents: int) -> bool:
        value = self.value(raters, documents)
        return value >= self.target if self.is_power else value <= self.target

    def shortfall(self, design: Design) -> float:
        """The distance of a design from the goal; the dimension with the largest value is the hardest."""
        # Relative to the target, so dimensions with different scales can be compared.
        ratio = self.value(design.raters, design.documents) / self.target
        return -ratio if self.is_power else ratio


@dataclass(frozen=True)
class Costs:
    """The costs of ratings. seconds: of an item; training: of a rater, in seconds; wage: of an hour."""

    seconds: float
    training: float
    wage: float
    source: str = ""

    @property
    def training_in_ratings(self) -> float:
        return self.training / self.seconds if self.seconds else 0.0

    def hours(self, design: Design) -> float:
        return (design.ratings * self.seconds + design.raters * self.training) / 3600


def designs_section(
    planned: Sequence[Planned], size: Size, costs: Costs, widths: Mapping[str, float], chosen: Chosen
) -> Section:
    """Return the cheapest design with three others, and the cheapest for each dimension.

    widths: of alpha's interval in Round I, by dimension key.
    """
    kind = chosen.get("goal", POWER)
    goals = [_goal_of(kind, each, size, widths, chosen) for each in planned if each.components]

    def cheapest(wanted: Sequence[Goal]) -> list[Design]:
        return cheapest_designs(
            [each.is_reached for each in wanted],
            size.systems,
            training=costs.training_in_ratings,
            raters=_numbers_of_raters(chosen),
            per_document=_per_document(chosen),
        )

    designs = cheapest(goals)
    tables = [_designs(designs, goals, costs, kind)] if designs else []
    tables.append(_table_by_dimension(planned, goals, cheapest, costs, chosen))
    return Section(gettext("Cheapest design"), str(_SAYS), tables, "designs")


def _per_document(chosen: Chosen) -> int | None:
    return int(float(chosen[PER_DOCUMENT.name])) if chosen.get(PER_DOCUMENT.name) else None


def _numbers_of_raters(chosen: Chosen) -> Sequence[int]:
    if chosen.get(PANEL.name):
        return [int(float(chosen[PANEL.name]))]
    return range(LEAST_RATERS, MOST_RATERS + 1)


def _goal_of(kind: str, planned: Planned, size: Size, widths: Mapping[str, float], chosen: Chosen) -> Goal:
    components = planned.components
    assert components is not None
    variances, asked = components.of_differences, float(chosen.get("reach") or 0)
    each = _per_document(chosen)
    if kind == DIFFERENCE:
        width = asked or planned.length / 4
        words = gettext("estimate a difference of systems within ±{half:g} points").format(half=width / 2)
        expected = partial(width_of_difference, variances, size.systems, per_document=each)
        return Goal(planned, expected, width, is_power=False, words=words)
    if kind == ALPHA:
        return _goal_of_alpha(planned, size, widths.get(planned.key), asked or _USUAL_ALPHA, each)
    find = float(chosen.get("find") or 0) or planned.length / 8
    power = min(asked or _USUAL_POWER, 0.999)  # no design has a power of 1
    words = gettext("find {difference:g} points with {power:g} % power")
    words = words.format(difference=find, power=100 * power)
    found = partial(variances.power, find, size.systems, significance_level=size.level, per_document=each)
    return Goal(planned, found, power, is_power=True, words=words)


def _goal_of_alpha(
    planned: Planned, size: Size, width: float | None, target: float, per_document: int | None
) -> Goal:
    components = planned.components
    assert components is not None

    # The deviation does not depend on the number of documents, so one simulation serves all of them.
    @cache
    def deviation(raters: int, each: int | None = per_document) -> float:
        return deviation_of_alpha(components, min(size.systems, _MOST_DRAWN), raters, each)[1]

    def planned_width(raters: int, documents: int) -> float:
        return times * width_of_alpha(deviation(raters), documents)

    # The variances are only an approximation of alpha's deviation: Round I shows how far it is off.
    expected = width_of_alpha(deviation(size.raters, size.per_document), size.documents)
    times = width / expected if width and expected else 1.0
    words = gettext("estimate alpha within ±{half:g}").format(half=target / 2)
    return Goal(planned, planned_width, target, is_power=False, words=words)


_MOST_DRAWN = 16
"""Systems of simulated documents; with more the width hardly changes."""


def choose_designs(designs: Sequence[Design]) -> list[tuple[str, Design]]:
    """Return the cheapest design and up to three others, each with the key of its name."""
    found = {
        "cheapest": designs[0],
        "raters": min(designs, key=lambda each: each.raters),
        "documents": min(designs, key=lambda each: (each.documents, each.raters)),
    }
    # The cheapest design may also have the fewest raters or documents; it is listed once.
    kept = {key: design for key, design in found.items() if key == "cheapest" or design != designs[0]}
    others = [each for each in designs if each not in kept.values()]
    while others and len(kept) < len(_NAMES):
        # The number keeps the keys different; it is removed from the result.
        kept[f"next {len(kept)}"] = others.pop(0)
    return [
        (key.split()[0], design)
        for key, design in sorted(kept.items(), key=lambda each: designs.index(each[1]))
    ]


def _designs(designs: Sequence[Design], goals: Sequence[Goal], costs: Costs, kind: str) -> Table:
    rows = [
        [text(str(_NAMES[key]), key=key), *_design_cells(design, costs), *_reached_cells(design, goals, kind)]
        for key, design in choose_designs(designs)
    ]
    columns = [
        Column("design", gettext("Design"), ColumnKind.TEXT),
        *_design_columns(),
        Column("reached", str(GOALS[kind])),
        Column("hardest", gettext("hardest dimension"), ColumnKind.TEXT),
        Column("reaches", gettext("reaches"), ColumnKind.TEXT),
    ]
    return Table("designs", gettext("Cheapest design, and others"), columns, rows, says=str(_SAYS))


def _design_columns() -> list[Column]:
    return [
        Column("raters", gettext("raters"), ColumnKind.COUNT),
        Column("per_document", gettext("of each document"), ColumnKind.COUNT),
        Column("documents", gettext("documents"), ColumnKind.COUNT),
        Column("systems", gettext("systems"), ColumnKind.COUNT),
        Column("ratings", gettext("ratings"), ColumnKind.COUNT),
        Column("hours", gettext("hours"), decimals=1),
        Column("pay", gettext("pay"), decimals=0),
    ]


def _design_cells(design: Design, costs: Costs) -> Iterator[Cell]:
    numbers = design.raters, design.per_document, design.documents, design.systems, design.ratings
    yield from map(Cell, numbers)
    if not costs.seconds:
        yield from [Cell(reason=str(_NO_SECONDS))] * 2
        return
    how = gettext("{seconds:.0f} seconds an item ({source}), {training:.0f} seconds of training.").format(
        seconds=costs.seconds, source=costs.source, training=costs.training
    )
    hours = costs.hours(design)
    yield Cell(hours, how=how)
    yield Cell(hours * costs.wage, how=how) if costs.wage else Cell(reason=str(_NO_PAY))


def _reached_cells(design: Design, goals: Sequence[Goal], kind: str) -> Iterator[Cell]:
    hardest = max(goals, key=lambda each: each.shortfall(design))
    yield Cell(hardest.value(design.raters, design.documents), how=str(_HOW[kind]))
    yield hardest.planned.heading
    differ = len({each.words for each in goals}) > 1
    words = gettext("{reaches} on {dimension}, the hardest") if differ else "{reaches}"
    yield text(words.format(reaches=hardest.words, dimension=hardest.planned.name))


def _table_by_dimension(
    planned: Sequence[Planned],
    goals: Sequence[Goal],
    cheapest: Callable[[Sequence[Goal]], list[Design]],
    costs: Costs,
    chosen: Chosen,
) -> Table:
    kind, most = chosen.get("goal", POWER), max(_numbers_of_raters(chosen))
    unreached = _UNREACHED.format(raters=most, documents=f"{MOST_DOCUMENTS:,}")
    missing = str(_TOO_FEW_RATERS) if (_per_document(chosen) or 0) > most else unreached
    of_dimension = {each.planned.key: each for each in goals}
    columns = [
        DIMENSION,
        Column("target", gettext("goal"), decimals=2),
        *_design_columns(),
        Column("reached", str(GOALS[kind])),
    ]
    rows = []
    for each in planned:
        # A dimension without variances has no goal, only a reason.
        goal = of_dimension.get(each.key)
        if goal is None:
            rows.append([each.heading, *[Cell(reason=each.reason)] * (len(columns) - 1)])
            continue
        found = cheapest([goal])
        target = Cell(goal.target)
        if not found:
            rows.append([each.heading, target, *[Cell(reason=missing)] * (len(columns) - 2)])
            continue
        reached = Cell(goal.value(found[0].raters, found[0].documents), how=str(_HOW[kind]))
        rows.append([each.heading, target, *_design_cells(found[0], costs), reached])
    title = gettext("Cheapest design for each dimension")
    return Table("designs-by-dimension", title, columns, rows)
