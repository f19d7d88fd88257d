"""Where judges can be trusted: R, P, M and what R tells, from a project's judgments and ratings."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.agreement import Interval, holm
from annotate.guideline import FrozenDimension
from annotate.models import Project, Round
from annotate.queries.assigned import Unit
from annotate.queries.rounds import rounds_of
from judges.comparison import CORRELATIONS
from judges.models import Judge
from judges.queries.comparison import guideline_of
from judges.queries.pairings import Pairing
from judges.queries.scores import Material, material_of, samples_of, scores_of
from judges.queries.settling import settling_units
from judges.reliability import (
    DimensionReliability,
    SystemReliability,
    Validity,
    reliability,
)

SIGNIFICANCE_LEVEL = 0.05

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class DimensionFigures:
    """The indicator on one dimension, and what may be done with it.

    adjusted_p_value: of `figures.validity`, by Holm over the report's dimensions. trusted: whether R tells
    where the judge agrees with people here; None where that cannot be said. reading: the same in words.
    """

    dimension: FrozenDimension
    figures: DimensionReliability
    adjusted_p_value: float | None
    trusted: bool | None
    reading: str


@dataclass(frozen=True)
class ReliabilityReport:
    """Everything about one pair of judges by one measure; P, M and validity are about `beside_people`.

    rated_units: those that people rated. settling: those of them that settled r of a policy or a certificate
    of these judges; P leaves them out where `fresh`.
    """

    pairing: Pairing
    beside_people: Judge
    coefficient: str
    round: Round | None
    seed: int
    dimensions: Sequence[DimensionFigures]
    rated_units: int
    settling: int
    fresh: bool

    @property
    def label(self) -> str:
        """Return the name of the measure."""
        return CORRELATIONS[self.coefficient].estimator.label

    @property
    def rated(self) -> bool:
        """Whether people have rated any item that the judge has a value for."""
        return any(each.rated for one in self.dimensions for each in one.figures.systems)

    @property
    def computed(self) -> Interval | None:
        """Return how intervals were made: one of R, if there is any."""
        found = (each.indicator.interval for one in self.dimensions for each in one.figures.systems)
        return next((interval for interval in found if interval), None)

    @property
    def rows(self) -> list[tuple[str, list[SystemReliability]]]:
        """Return each system with its figures on every dimension."""
        columns = zip(*(one.figures.systems for one in self.dimensions), strict=True)
        return [(cells[0].system, list(cells)) for cells in columns]

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values, ready for JSON."""
        return {
            "rts": self.pairing.rts.name,
            "mcq": self.pairing.mcq.name,
            "beside_people": self.beside_people.name,
            "coefficient": self.coefficient,
            "round": self.round and self.round.number,
            "seed": self.seed,
            "rated_units": self.rated_units,
            "settling_units": self.settling,
            "settling_units_left_out": self.fresh,
            "dimensions": [{**asdict(each), "dimension": each.dimension.key} for each in self.dimensions],
        }


def reliability_report(
    project: Project,
    pairing: Pairing,
    *,
    coefficient: str = "spearman",
    beside_people: Judge | None = None,
    round_number: int | None = None,
    fresh: bool = False,
) -> ReliabilityReport:
    """Return R of a pair of judges with P of one of them (the RTS judge), against people's values of a round.

    The round is the last one unless a number is given. `fresh`: without what people gave units that settled
    what is trusted of these judges. Intervals are drawn with the project's seed, so the same data give the
    same figures. Six queries, before a round five.
    """
    rounds = rounds_of(project)
    round = rounds.get(round_number or max(rounds, default=0))
    material = material_of(project, round, guideline_of(project, round))
    first = beside_people or pairing.rts
    other = pairing.mcq if first == pairing.rts else pairing.rts
    settling = _settling(material, settling_units([first, other]))
    found = _measured(material, first, other, coefficient, project.seed, settling if fresh else {})
    return ReliabilityReport(
        pairing=pairing,
        beside_people=first,
        coefficient=coefficient,
        round=round,
        seed=project.seed,
        dimensions=_read(found),
        rated_units=sum(len(rated.items) for rated in material.rated.values()),
        settling=sum(int(chosen.sum()) for chosen in settling.values()),
        fresh=fresh,
    )


Measured = list[tuple[FrozenDimension, DimensionReliability]]


def _settling(material: Material, units: set[Unit]) -> dict[str, BoolArray]:
    """Return (items,) by dimension key: whether the unit is rated and one of these."""
    items = material.items.tolist()
    return {
        one.key: np.isin(material.items, material.rated[one.key].items)
        & np.array([(item, one.id) in units for item in items], dtype=bool)
        for one in material.dimensions
        if one.key in material.rated
    }


def _measured(
    material: Material,
    first: Judge,
    other: Judge,
    coefficient: str,
    seed: int,
    without: Mapping[str, BoolArray],
) -> Measured:
    """Return the figures of every dimension that one of the judges has a value on."""
    samples = samples_of([first, other], material)
    measure, found = CORRELATIONS[coefficient], []
    for dimension in material.dimensions:
        own, others = (
            scores_of(material, dimension.key, samples[judge.pk, dimension.key]) for judge in (first, other)
        )
        if not np.isnan([own.judge, others.judge]).all():
            if dimension.key in without:
                own = own.without_people(without[dimension.key])
            generator = np.random.default_rng(seed)
            figures = reliability(own, others.judge, measure, generator=generator)
            found.append((dimension, figures))
    return found


def _read(found: Measured) -> list[DimensionFigures]:
    p_values = {
        index: figures.validity.p_value
        for index, (_, figures) in enumerate(found)
        if figures.validity.p_value is not None
    }
    adjusted = dict(zip(p_values, holm(list(p_values.values())).tolist(), strict=True))
    return [
        DimensionFigures(
            dimension, figures, adjusted.get(index), *_reading(figures.validity, adjusted.get(index))
        )
        for index, (dimension, figures) in enumerate(found)
    ]


def _reading(found: Validity, adjusted: float | None) -> tuple[bool | None, str]:
    """Return whether R tells anything on this dimension, and that in a sentence."""
    value = found.correlation.value
    if value is None or adjusted is None:
        return None, f"It cannot be said yet: {_why(found)}"
    if adjusted > SIGNIFICANCE_LEVEL:
        return False, (
            "No: R does not tell on which systems the judge agrees with people. Do not decide by R here."
        )
    if value < 0:
        return False, "No: the judge agrees less with people where R is high. Do not decide by R here."
    return (
        True,
        "Yes: where R is higher, the judge agrees more with people; how wrong it is, R does not tell.",
    )


def _why(found: Validity) -> str:
    reason = found.correlation.reason or found.p_value_reason or ""
    return reason[:1].lower() + reason[1:]
