"""Krippendorff's alpha computed a second time, by the package krippendorff, whenever one is shown."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

import krippendorff
import numpy as np

from annotate.agreement.alpha import alphas_of_parts, krippendorff_alpha
from annotate.agreement.bootstrap import Resampling
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.data import IntArray, ReliabilityData
from annotate.agreement.streams import Randomness

TOLERANCE = 1e-9
PACKAGE = f"krippendorff {version('krippendorff')}"
_MOST_NUMBERS = 2**25  # the package holds units x values x values numbers at a time: 256 MB

logger = logging.getLogger(__name__)


def checked_alpha(
    data: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """`krippendorff_alpha`, with its point estimate computed again by the package krippendorff.

    The parameters say by which version. Where the two differ by more than 1e-9 the coefficient has a
    `warning` and the log an error; ours stays the value. Undefined as `krippendorff_alpha`, and then not
    checked; nor is it where the package would need more than 256 MB.
    """
    alpha = krippendorff_alpha(data, generator=generator, resampling=resampling)
    return _check(alpha, data, slice(None))


def checked_alphas_of_parts(
    data: ReliabilityData,
    parts: Sequence[IntArray],
    *,
    generators: Sequence[Randomness],
    resampling: Resampling,
) -> list[Coefficient]:
    """`checked_alpha` of each part of the data; each of `parts` is (units,), the indices of its units."""
    alphas = alphas_of_parts(data, parts, generators=generators, resampling=resampling)
    return [_check(alpha, data, units) for alpha, units in zip(alphas, parts, strict=True)]


def _check(alpha: Coefficient, data: ReliabilityData, units: IntArray | slice) -> Coefficient:
    if alpha.value is None:
        return alpha
    values = len(data.value_domain)
    if alpha.counts.pairable_units * values**2 > _MOST_NUMBERS:
        return _with_parameter(alpha, f"no, {values} distinct values are too many for {PACKAGE}")
    other = krippendorff.alpha(
        value_counts=data.once("value counts", lambda: _value_counts(data))[units],
        value_domain=data.value_domain,
        level_of_measurement=data.measurement_level.value,
    )
    return with_comparison(alpha, float(other))


def with_comparison(alpha: Coefficient, other: float) -> Coefficient:
    """Return the coefficient with what the package found; with a warning where the two differ by over 1e-9.

    alpha: defined; where it is not, there is nothing to compare.
    """
    assert alpha.value is not None
    if abs(alpha.value - other) <= TOLERANCE:
        return _with_parameter(alpha, f"by {PACKAGE}")
    warning = f"{PACKAGE} finds {other!r} where Concord finds {alpha.value!r}; do not report either."
    logger.error("Alpha is computed differently: %s %s", warning, dict(alpha.parameters))
    return replace(_with_parameter(alpha, f"differs from {PACKAGE}"), warning=warning)


def _with_parameter(alpha: Coefficient, said: str) -> Coefficient:
    return replace(alpha, parameters={**alpha.parameters, "cross_checked": said})


def _value_counts(data: ReliabilityData) -> IntArray:
    """(units, values): how many raters gave each value to each unit."""
    units, width = data.codes.shape[1], len(data.value_domain) + 1  # the last column counts gaps
    places = np.arange(units) * width + data.codes.astype(np.intp)
    return np.bincount(places.ravel(), minlength=units * width).reshape(units, width)[:, :-1]
