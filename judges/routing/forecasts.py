"""The page that forecasts routes: judges in stages, single judges, the rule by R, and people alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import Avg
from django.utils.translation import gettext, gettext_lazy

from agreement import Stream, spearman
from agreement.reliability import (
    CascadeForecast,
    Loss,
    another_point,
    forecast_cascade,
    indicator,
    more_than_one_point,
)
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.models import Project
from annotate.core.rounds import round_one
from annotate.rating.queries.assignments import median_seconds
from annotate.results.answers import amounts_of
from annotate.results.queries.study import WAGE
from annotate.results.registry import (
    Arrangement,
    Chart,
    Chosen,
    NumberParameter,
    Parameter,
    ResultsPage,
    Tables,
)
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, text
from judges.core.models import Calibration, Judge
from judges.core.stages import JudgeStage
from judges.results.queries.confidences import Kind, evidence_of
from judges.results.queries.pairings import measured_judges, of_method
from judges.results.queries.scores import Material, SamplesOf, material_of, samples_of
from judges.results.tables.columns import number_or_reason
from judges.results.tables.parameters import JUDGE, chosen_judge, values_of, version_of_judges

RISKS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
USUAL_RISK = 0.2


def _offer_judges(project: Project) -> Sequence[tuple[str, str]]:
    judges = [(str(judge.pk), judge.name) for judge in measured_judges(project)]
    return [("", gettext("none: the rest goes to people")), *judges]


SECOND = Parameter("then", gettext_lazy("Then ask"), _offer_judges)
THIRD = Parameter("last", gettext_lazy("Then ask"), _offer_judges)
LOSS = Parameter(
    "wrong",
    gettext_lazy("A value is wrong if it is"),
    lambda _: [
        (str(each.value), str(each.label))
        for each in (Calibration.Loss.MORE_THAN_ONE_POINT, Calibration.Loss.ANOTHER_POINT)
    ],
)
RISK = NumberParameter("risk", gettext_lazy("Accepted share of wrong values"), least=0.001, most=0.999)
BUDGET = NumberParameter("budget", gettext_lazy("Budget"), least=0, most=1e9)


@dataclass(frozen=True)
class UnitCosts:
    """The cost of one unit. calls: by judge, money for its calls or None. seconds: of people, or None.

    wage: of an hour, 0 if unspecified.
    """

    calls: dict[int, float | None]
    seconds: float | None
    wage: float

    @property
    def person(self) -> float | None:
        return None if self.seconds is None or not self.wage else self.seconds / 3600 * self.wage

    def call_costs(self, judges: Sequence[Judge], reached: npt.NDArray[np.float64]) -> float | None:
        """Return the money for the calls, if `reached` units arrive at each judge."""
        prices = [self.calls.get(judge.pk) for judge in judges]
        # An unknown price does not matter for a judge that no unit reaches.
        if any(price is None and count for price, count in zip(prices, reached, strict=False)):
            return None
        return float(sum((price or 0) * count for price, count in zip(prices, reached, strict=False)))


@dataclass(frozen=True)
class RouteOption:
    """A way to decide all units of the dimensions at one accepted risk.

    decided: by judge name the units. people: units for people. wrong: expected wrong values. calls: money.
    """

    name: str
    decided: dict[str, float]
    people: float
    wrong: float
    calls: float | None

    def cost(self, costs: UnitCosts) -> float | None:
        """Return the total cost, None if a part is unknown."""
        if self.calls is None or costs.person is None:
            return None
        return self.calls + self.people * costs.person


@dataclass(frozen=True, eq=False)
class RatedJudges:
    """The units of a dimension with values of people and all chosen judges.

    confidences, losses: (stages, rated). documents: (rated,). units: of the whole project.
    """

    dimension: FrozenDimension
    confidences: npt.NDArray[np.float64]
    losses: npt.NDArray[np.float64]
    documents: npt.NDArray[np.int64]
    units: int

    def select_stages(self, stages: Sequence[int]) -> "RatedJudges":
        chosen = list(stages)
        return RatedJudges(
            self.dimension, self.confidences[chosen], self.losses[chosen], self.documents, self.units
        )

    def forecast(self, project: Project, risks: Sequence[float]) -> CascadeForecast | None:
        """Return the forecast of the stages; None with too few documents."""
        # Thresholds come from other documents than the ones that they decide.
        if len(np.unique(self.documents)) < 2:
            return None
        return forecast_cascade(
            self.confidences,
            self.losses,
            self.documents,
            risks,
            # Closeness and steadiness of different judges have no common unit.
            comparable=False,
            generator=Stream(project.seed).of("forecast of routes", self.dimension.key),
        )


def stage_of(judge: Judge, judges: Sequence[Judge]) -> tuple[JudgeStage, str]:
    """Return a judge as a stage and its confidence: closeness to its partner, else steadiness.

    The partner is the RTS or MCQ judge of the same model.
    """
    partner_method = {"rts": "mcq", "mcq": "rts"}.get(judge.method, "")
    partners = [each for each in of_method(judges, partner_method) if each.model == judge.model]
    if partners:
        return JudgeStage(1, judge, partners[0]), Kind.CLOSENESS
    return JudgeStage(1, judge), Kind.STEADINESS


def routes_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return the comparison at the accepted risk, and the curve over accepted risks by dimension."""
    by_key = {str(judge.pk): judge for judge in measured_judges(project)}
    further = [by_key[chosen[name]] for name in ("then", "last") if chosen.get(name)]
    # A judge that is chosen twice is one stage.
    judges = list({judge.pk: judge for judge in (chosen_judge(project, chosen), *further)}.values())
    measured = list(by_key.values())
    loss: Loss = another_point if chosen["wrong"] == Calibration.Loss.ANOTHER_POINT else more_than_one_point
    round = round_one(project)
    material = material_of(project, round, guideline_at(project, round))
    stages = [stage_of(judge, measured) for judge in judges]
    samples = samples_of([each for stage, _ in stages for each in stage.judges], material)
    # Certificates need an order of the values.
    scales = [one for one in material.dimensions if not one.is_named]
    units = [_rated_units(stages, material, samples, one, loss) for one in scales]
    rated = [each for each in units if each is not None]
    costs = _costs(project, [stage for stage, _ in stages], float(chosen.get("wage") or 0))
    budget = float(chosen["budget"]) if chosen.get("budget") else None
    risk = float(chosen.get("risk") or USUAL_RISK)
    if budget is not None:
        # The smallest accepted risk at which the route costs no more, if any does.
        every = list(range(len(judges)))
        for lower in RISKS:
            cost = _option("", project, judges, every, rated, costs, lower).cost(costs)
            if cost is not None and cost <= budget:
                risk = lower
                break
    options = list(_options(project, judges, rated, costs, risk))
    dimensions = [each.dimension for each in rated]
    if by_r := _find_indicator_option(*stages[0], material, samples, dimensions, loss, risk, costs):
        options.append(by_r)
    compared = _compare_options(options, judges, rated, costs, risk)
    return [Section(gettext("Routes"), "", [compared, _curve(project, judges, rated, costs)])]


def _rated_units(
    stages: Sequence[tuple[JudgeStage, str]],
    material: Material,
    samples: SamplesOf,
    one: FrozenDimension,
    loss: Loss,
) -> RatedJudges | None:
    evidence = [evidence_of(kind, stage, material, samples, one.key) for stage, kind in stages]
    scores = [each.scores for each in evidence]
    usable = ~np.isnan(scores[0].human_means)
    for each in scores:
        # All routes are compared on the same units.
        usable &= ~np.isnan(each.judge)
    if not usable.any():
        return None
    # A judge of one sample without a partner is equally sure of every unit: it decides all or none.
    sure = [
        np.where(each.usable, each.confidences, 0.0 if not each.usable.any() else np.nan) for each in evidence
    ]
    return RatedJudges(
        one,
        np.array(sure)[:, usable],
        np.array([loss(each.judge, each.human_means)[usable] for each in scores]),
        material.documents[usable],
        len(material.items),
    )


def _costs(project: Project, stages: Sequence[JudgeStage], wage: float) -> UnitCosts:
    """Return the cost of a unit: the mean cost of existing judgments, for a judge with its partner."""
    calls: dict[int, float | None] = {}
    for stage in stages:
        prices = [
            # Reused answers cost nothing and would lower the mean.
            each.judgments.filter(cost__isnull=False, reused_from=None).aggregate(mean=Avg("cost"))["mean"]
            for each in stage.judges
        ]
        known = [
            float(price) * each.samples
            for price, each in zip(prices, stage.judges, strict=True)
            if price is not None
        ]
        # The pair has no known cost if one of its judges has no price.
        calls[stage.judge.pk] = sum(known) if len(known) == len(prices) else None
    seconds = median_seconds(project)
    # All raters of a unit take their time.
    return UnitCosts(calls, None if seconds is None else seconds * project.raters_per_item, wage)


def _option(
    name: str,
    project: Project,
    judges: Sequence[Judge],
    stages: Sequence[int],
    rated: Sequence[RatedJudges],
    costs: UnitCosts,
    risk: float,
) -> RouteOption:
    decided: dict[str, float] = {}
    people, wrong, reached = 0.0, 0.0, np.zeros(len(stages))
    for each in rated:
        found = each.select_stages(stages).forecast(project, [risk])
        # Too few documents for a forecast, so people rate the whole dimension.
        if found is None:
            people += each.units
            continue
        # The last column is people; the forecast is a share, applied to all units of the dimension.
        people += each.units * found.decided[0, -1]
        wrong += each.units * found.errors[0]
        reached += each.units * found.reached[0, :-1]
        for index, stage in enumerate(stages):
            key = judges[stage].name
            decided[key] = decided.get(key, 0.0) + each.units * found.decided[0, index]
    own = [judges[stage] for stage in stages]
    return RouteOption(name, decided, people, wrong, costs.call_costs(own, reached))


def _options(
    project: Project, judges: Sequence[Judge], rated: Sequence[RatedJudges], costs: UnitCosts, risk: float
) -> Iterator[RouteOption]:
    units = float(sum(each.units for each in rated))
    # People's values are the standard here, so none of theirs counts as wrong.
    yield RouteOption(gettext("People alone"), {}, units, 0.0, 0.0)
    for index, judge in enumerate(judges):
        name = gettext("{judge}, then people").format(judge=judge.name)
        yield _option(name, project, judges, [index], rated, costs, risk)
    if len(judges) > 1:
        name = gettext(" then ").join([*(judge.name for judge in judges), gettext("people")])
        yield _option(name, project, judges, list(range(len(judges))), rated, costs, risk)


def _find_indicator_option(
    stage: JudgeStage,
    kind: str,
    material: Material,
    samples: SamplesOf,
    dimensions: Sequence[FrozenDimension],
    loss: Loss,
    risk: float,
    costs: UnitCosts,
) -> RouteOption | None:
    """Return the paper's rule at the r that keeps most with the accepted share; None without a partner."""
    judge = stage.judge
    if kind != Kind.CLOSENESS or judge.method != "rts":
        return None
    people = wrong = units = 0.0
    for one in dimensions:
        own, other = (
            evidence_of(Kind.STEADINESS, JudgeStage(1, each), material, samples, one.key).scores
            for each in stage.judges
        )
        values = [found.coefficient.value for found in indicator(own, other.as_read, spearman)]
        # R by system; a system without R goes to people.
        levels = np.array([np.nan if value is None else value for value in values], dtype=float)
        losses = loss(own.judge, own.human_means)
        kept = errors = 0.0  # shares of the units, at the r that keeps most within the risk
        for level in np.unique(levels[~np.isnan(levels)]):
            # r is just below this level, so systems with exactly this R stay.
            stay = levels[own.systems] >= level
            wrong_ones = losses[stay & ~np.isnan(losses)]
            if len(wrong_ones) and wrong_ones.mean() <= risk and stay.mean() > kept:
                kept, errors = float(stay.mean()), float(stay.mean() * wrong_ones.mean())
        size = len(material.items)
        units, people, wrong = units + size, people + size * (1 - kept), wrong + size * errors
    name = gettext("{judge} where R is above r, then people (no guarantee)").format(judge=judge.name)
    calls = costs.call_costs([judge], np.array([units]))
    return RouteOption(name, {judge.name: units - people}, people, wrong, calls)


_NO_PRICE = gettext_lazy("A price of the judge is unknown.")
_NO_TIME = gettext_lazy("No rating has a measured time.")
_NO_WAGE = gettext_lazy("Enter the pay for an hour.")
_SAYS = gettext_lazy(
    "A forecast for all units from those that people and all of these judges have rated: documents of one "
    "fifth are decided by thresholds from the others. It is no guarantee; a calibration gives one. Judges "
    "are sure where they agree with their partner of the other method, else where their samples agree."
)


def _compare_options(
    options: Sequence[RouteOption],
    judges: Sequence[Judge],
    rated: Sequence[RatedJudges],
    costs: UnitCosts,
    risk: float,
) -> Table:
    columns = [
        Column("route", gettext("Route"), ColumnKind.TEXT),
        *(Column(f"judge_{index}", judge.name, ColumnKind.COUNT) for index, judge in enumerate(judges)),
        Column("people", gettext("People"), ColumnKind.COUNT),
        Column("wrong", gettext("Wrong values"), ColumnKind.COUNT),
        Column("hours", gettext("Hours of people"), decimals=1),
        Column("calls", gettext("Calls cost")),
        Column("cost", gettext("All costs")),
    ]
    rows = []
    for each in options:
        hours = None if costs.seconds is None else each.people * costs.seconds / 3600
        why = _NO_TIME if costs.seconds is None else _NO_WAGE
        rows.append(
            [
                text(each.name),
                *(Cell(round(each.decided.get(judge.name, 0))) for judge in judges),
                Cell(round(each.people)),
                Cell(round(each.wrong)),
                number_or_reason(hours, str(_NO_TIME)),
                number_or_reason(each.calls, str(_NO_PRICE)),
                number_or_reason(each.cost(costs), str(_NO_PRICE if each.calls is None else why)),
            ]
        )
    title = gettext("Routes at an accepted share of {risk:.3g} wrong values").format(risk=risk)
    return Table("compared", title, columns, rows if rated else [], says=str(_SAYS))


def _curve(
    project: Project, judges: Sequence[Judge], rated: Sequence[RatedJudges], costs: UnitCosts
) -> Table:
    columns = [
        DIMENSION,
        Column("risk", gettext("accepted share of wrong values")),
        Column("people", gettext("share of units for people"), ColumnKind.SHARE),
        *(Column(f"judge_{index}", judge.name, ColumnKind.SHARE) for index, judge in enumerate(judges)),
        Column("wrong", gettext("Wrong of decided"), ColumnKind.SHARE),
        Column("calls", gettext("Calls cost for 1,000 units")),
        Column("hours", gettext("Hours for 1,000 units"), decimals=1),
    ]
    rows = []
    none = gettext("The judges would decide nothing.")
    for each in rated:
        found = each.forecast(project, RISKS)
        if found is None:
            continue
        for index, risk in enumerate(RISKS):
            share = float(found.decided[index, -1])
            rate = float(found.error_rates[index])
            calls = costs.call_costs(judges, 1_000 * found.reached[index, :-1])
            hours = None if costs.seconds is None else 1_000 * share * costs.seconds / 3600
            rows.append(
                [
                    text(each.dimension.name, key=each.dimension.key),
                    Cell(risk),
                    Cell(share),
                    *(Cell(float(part)) for part in found.decided[index, :-1]),
                    number_or_reason(None if np.isnan(rate) else rate, none),
                    number_or_reason(calls, str(_NO_PRICE)),
                    number_or_reason(hours, str(_NO_TIME)),
                ]
            )
    title = gettext("Units for people by accepted share of wrong values")
    return Table("curve", title, columns, rows, heads=2, plot="curve")


def answer_routes(tables: Tables) -> str:
    """Return the route that sends the fewest units to people."""
    table = tables.get("compared")
    people = amounts_of(table, "people") if table else []
    if not table or len(people) < 2:
        return gettext("Nothing can be forecast: people and the judges have rated no unit in common.")
    # Row 0 is people alone, with which the routes are compared.
    best = min(range(1, len(people)), key=people.__getitem__)
    if people[best] >= people[0]:
        return gettext("No route of these judges saves ratings at this risk: people rate everything.")
    return gettext(
        "{route}: people rate {people:,.0f} of {units:,.0f} units instead of all. This is a forecast."
    ).format(route=table.rows[best][0].value, people=people[best], units=people[0])


ROUTES_PAGE = ResultsPage(
    "routes",
    gettext_lazy("Routes"),
    gettext_lazy(
        "What routes of cheap judges, strong judges and people would decide, get wrong and cost, before "
        "anything is asked."
    ),
    routes_sections,
    version_of_judges,
    values_of,
    [JUDGE, SECOND, THIRD, LOSS, RISK, WAGE, BUDGET],
    filled_by="judges",
    arrangement=Arrangement(
        tabs={"compared": gettext_lazy("Comparison"), "curve": gettext_lazy("By accepted risk")},
        charts={"compared": "curve"},
        chart=Chart("curve"),
        answer=answer_routes,
    ),
)
