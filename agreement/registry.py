"""Every coefficient and measure under its name, and which coefficients exist at a measurement level."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import Protocol

from agreement.alpha import krippendorff_alpha
from agreement.bootstrap import Resampling
from agreement.coefficient import Coefficient
from agreement.complete import intraclass_correlation, kendall_w
from agreement.data import MeasurementLevel, ReliabilityData
from agreement.kappa import fleiss_kappa, gwet_ac, percent_agreement, weighted_kappa, within_one_agreement
from agreement.measures import (
    PairMeasure,
    bias,
    kendall_tau_b,
    mean_absolute_error,
    pearson,
    root_mean_squared_error,
    spearman,
)
from agreement.patterns import usual_weights
from agreement.streams import Randomness


class CoefficientFunction(Protocol):
    """A coefficient of reliability data; with a generator it has a bootstrap interval."""

    def __call__(
        self,
        data: ReliabilityData,
        *,
        generator: Randomness | None = None,
        resampling: Resampling | None = None,
    ) -> Coefficient:
        """The coefficient of the data."""


COEFFICIENTS: Mapping[str, CoefficientFunction] = MappingProxyType(
    {
        "krippendorff_alpha": krippendorff_alpha,
        "percent_agreement": percent_agreement,
        "within_one_agreement": within_one_agreement,
        "weighted_kappa": weighted_kappa,
        "fleiss_kappa": fleiss_kappa,
        "gwet_ac": gwet_ac,
        "icc_a1": partial(intraclass_correlation, form="A,1"),
        "icc_ak": partial(intraclass_correlation, form="A,k"),
        "icc_ck": partial(intraclass_correlation, form="C,k"),
        "kendall_w": kendall_w,
    }
)
"""Coefficients of ReliabilityData by the `name` they carry, in the order a report shows them."""

MEASURES: Mapping[str, PairMeasure] = MappingProxyType(
    {
        measure.estimator.name: measure
        for measure in (
            pearson,
            spearman,
            kendall_tau_b,
            root_mean_squared_error,
            mean_absolute_error,
            bias,
        )
    }
)
"""Measures of two arrays by the `name` they carry."""


_VARIED = (
    (1, 2, 3, 2, 1, 3),
    (1, 2, 3, 1, 2, 3),
    (2, 2, 3, 1, 1, 3),
)  # three raters; nothing is missing or constant


@dataclass(frozen=True)
class Advice:
    """The consequences of a measurement level: the weights of disagreements, and the defined coefficients."""

    level: MeasurementLevel
    weights: str
    defined: tuple[str, ...]
    undefined: tuple[str, ...]


@cache
def advice(level: MeasurementLevel | str) -> Advice:
    """Return the coefficients that are defined at a level, by their labels, and the undefined ones."""
    level = MeasurementLevel(level)
    data = ReliabilityData(_VARIED, measurement_level=level, value_domain=(1, 2, 3))
    # Computed from an example, so this list cannot contradict the coefficients themselves.
    found = [coefficient(data) for coefficient in COEFFICIENTS.values()]
    return Advice(
        level=level,
        weights=usual_weights(level),
        defined=tuple(each.label for each in found if each.value is not None),
        undefined=tuple(each.label for each in found if each.value is None),
    )
