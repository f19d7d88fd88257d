"""Agreement of a project's raters, per round and dimension."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from annotate.agreement import (
    COEFFICIENTS,
    Coefficient,
    ComparedRaters,
    Measure,
    ReliabilityData,
    Resampling,
    ValueDistribution,
    between_raters,
    kendall_tau_b,
    krippendorff_alpha,
    percent_agreement,
    root_mean_squared_error,
    spearman,
    value_distributions,
    with_mean,
    within_one_agreement,
)
from annotate.generators import generator_for
from annotate.guideline import FrozenDimension, FrozenGuideline
from annotate.models import Dispute, MeasurementLevel, Project, Round
from annotate.queries.reliability import reliability_data
from annotate.queries.rounds import rounds_of
from annotate.queries.without_value import WithoutValue, answers_without_value

Drawn = Literal["units", "documents"]


@dataclass(frozen=True)
class RoundFigures:
    """One dimension's figures of one round."""

    alpha: Coefficient
    percent: Coefficient
    within_one: Coefficient


@dataclass(frozen=True)
class DisputeFigures:
    """What became of one dimension's disputes."""

    opened: int = 0
    settled: int = 0
    adjudicated: int = 0
    left_open: int = 0
    open: int = 0


@dataclass(frozen=True)
class DimensionFigures:
    """A dimension's reliability, its disputes and its agreement after discussion."""

    dimension: FrozenDimension
    round_one: RoundFigures
    without_value: WithoutValue
    disputes: DisputeFigures
    round_two: RoundFigures | None


@dataclass(frozen=True)
class AgreementTable:
    """The agreement page's centre: Round I beside what followed discussion."""

    round_one: Round
    round_two: Round | None
    drawn: Drawn
    dimensions: list[DimensionFigures]


@dataclass(frozen=True)
class DimensionDetail:
    """Everything about one dimension in one round."""

    round: Round
    dimension: FrozenDimension
    levels: Mapping[str, Coefficient]
    coefficients: list[Coefficient]
    rmse: tuple[ComparedRaters, ...]
    spearman: tuple[ComparedRaters, ...]
    kendall: tuple[ComparedRaters, ...]
    distributions: tuple[ValueDistribution, ...]
    without_value: WithoutValue

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values, ready for JSON."""
        return {
            "round": self.round.number,
            "measures": "reliability" if self.round.is_independent else "agreement after discussion",
            "dimension": self.dimension.key,
            "measurement_level": self.dimension.measurement_level,
            "krippendorff_alpha": {level: alpha.as_dict() for level, alpha in self.levels.items()},
            "coefficients": [each.as_dict() for each in self.coefficients],
            "rmse": [_compared(each) for each in self.rmse],
            "spearman_within_documents": [_compared(each) for each in self.spearman],
            "kendall_tau_b_within_documents": [_compared(each) for each in self.kendall],
            "distributions": [
                {"rater": each.rater, "values": each.values, "counts": each.counts}
                for each in self.distributions
            ],
            "without_value": asdict(self.without_value),
        }


def agreement_table(project: Project, *, drawn: Drawn = "units") -> AgreementTable | None:
    """Return alpha with its interval per round and dimension, None before Round I. Seven queries at most."""
    rounds = rounds_of(project)
    if 1 not in rounds:
        return None
    first, second = rounds[1], rounds.get(2)
    before = reliability_data(first)
    after = reliability_data(second) if second else {}
    disputes = _disputes(project)
    without_value = answers_without_value(first)
    guideline = FrozenGuideline.from_json(first.guideline.content)
    return AgreementTable(
        round_one=first,
        round_two=second,
        drawn=drawn,
        dimensions=[
            DimensionFigures(
                dimension=dimension,
                round_one=_figures(before[dimension.key], first, dimension, drawn),
                without_value=without_value.get(dimension.id, WithoutValue()),
                disputes=disputes.get(dimension.id, DisputeFigures()),
                round_two=_figures(after[dimension.key], second, dimension, drawn) if second else None,
            )
            for dimension in guideline.dimensions
        ],
    )


def dimension_details(
    round: Round, *, keys: frozenset[str] | None = None, drawn: Drawn = "units"
) -> list[DimensionDetail]:
    """Return everything about a round's dimensions (all of them, or those with these keys). Three queries."""
    data = reliability_data(round)
    without_value = answers_without_value(round)
    guideline = FrozenGuideline.from_json(round.guideline.content)
    return [
        _detail(round, dimension, data[dimension.key], drawn, without_value.get(dimension.id, WithoutValue()))
        for dimension in guideline.dimensions
        if keys is None or dimension.key in keys
    ]


def _figures(data: ReliabilityData, round: Round, dimension: FrozenDimension, drawn: Drawn) -> RoundFigures:
    return RoundFigures(
        alpha=alpha_with_interval(data, round, dimension, drawn),
        percent=percent_agreement(data),
        within_one=within_one_agreement(data),
    )


def alpha_with_interval(
    data: ReliabilityData, round: Round, dimension: FrozenDimension, drawn: Drawn
) -> Coefficient:
    """Return alpha with an interval that is the same whenever it is computed: its seed is the round's."""
    generator = generator_for(round.seed, dimension.key)
    return krippendorff_alpha(data, generator=generator, resampling=Resampling(by=drawn))


def _detail(
    round: Round,
    dimension: FrozenDimension,
    data: ReliabilityData,
    drawn: Drawn,
    without_value: WithoutValue,
) -> DimensionDetail:
    return DimensionDetail(
        round=round,
        dimension=dimension,
        levels={
            level: alpha_with_interval(data.at_level(level), round, dimension, drawn)
            for level in MeasurementLevel.values
            if level != MeasurementLevel.RATIO or dimension.scale_minimum >= 0
        },
        coefficients=[
            coefficient(data) for name, coefficient in COEFFICIENTS.items() if name != "krippendorff_alpha"
        ],
        rmse=_between_all(data, root_mean_squared_error),
        spearman=_between_all(data, spearman, within=data.documents),
        kendall=_between_all(data, kendall_tau_b, within=data.documents),
        distributions=value_distributions(data),
        without_value=without_value,
    )


def _between_all(data: ReliabilityData, measure: Measure, **how: Any) -> tuple[ComparedRaters, ...]:
    return (*between_raters(data, measure, **how), *with_mean(data, measure, **how))


def _disputes(project: Project) -> dict[int, DisputeFigures]:
    counts: dict[int, Counter[str]] = {}
    found = Dispute.objects.filter(round__project=project).values_list("dimension", "status")
    for dimension, status in found:
        counts.setdefault(dimension, Counter())[status] += 1
    return {dimension: DisputeFigures(opened=count.total(), **count) for dimension, count in counts.items()}


def _compared(pair: ComparedRaters) -> dict[str, Any]:
    return {"first": pair.first, "second": pair.second, **pair.coefficient.as_dict()}
