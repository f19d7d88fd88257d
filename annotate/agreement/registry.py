"""Every coefficient and measure under its name, for pages, commands and tests that go through them all."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Protocol

from annotate.agreement.alpha import krippendorff_alpha
from annotate.agreement.bootstrap import Resampling
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.concordance import kendall_w
from annotate.agreement.correlation import kendall_tau_b, pearson, spearman
from annotate.agreement.data import ReliabilityData
from annotate.agreement.differences import bias, mean_absolute_error, root_mean_squared_error
from annotate.agreement.fleiss import fleiss_kappa, gwet_ac
from annotate.agreement.icc import intraclass_correlation
from annotate.agreement.kappa import weighted_kappa
from annotate.agreement.measure import PairMeasure
from annotate.agreement.percent import percent_agreement, within_one_agreement
from annotate.agreement.streams import Randomness


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
