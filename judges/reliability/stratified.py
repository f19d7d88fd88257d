"""A mean from a sample that was drawn within strata: judge scores, say, or how far RTS and MCQ differ."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from annotate.agreement.data import FloatArray, IntArray
from judges.reliability.audit import BoolArray
from judges.reliability.estimates import (
    Estimate,
    beyond_batch,
    effective_size,
    humans_only,
    regression_estimate,
    warnings_of,
    with_interval,
)
from judges.reliability.sample import RatedSample
from judges.reliability.weighted import weighted_estimate

LEAST_FOR_REGRESSION = 5
SMALL = 20  # of so many units one


def stratified_estimate(sample: RatedSample, *, confidence_level: float = 0.95) -> Estimate:
    """sum_k (N_k / N) theta_k, theta_k the regression estimate within each stratum k of `sample.strata`;
    without strata the units of one probability are a stratum, as those that a rule sent to people and those
    that it audits.

    Variance sum_k (N_k / N)^2 Var_k, t with Satterthwaite's degrees of freedom. Strata with fewer than 5
    ratings use people only. Within a stratum the sample is a simple random one, or has probabilities of its
    own: then it is weighed by them (`weighted_estimate`). Between strata it need not be in proportion.
    Source: Cochran 1977, sections 5.4 and 7.10; Fisch and others 2024, StratPPI.
    A warning stands for each stratum that is rated in part and from fewer than 20 ratings, or skewed ones.
    A small stratum (one unit, or up to a twentieth of all) that is not rated throughout and has fewer than
    two ratings is joined to the largest one, with a warning: a unit without a value of the judge, say.
    Undefined without either, or where another stratum has no rating; without an interval where one has a
    single rating or no spread.
    """
    empty = Estimate("stratified", "Stratified estimate", _SOURCE, None, None, sample.ratings, sample.units)
    strata = _strata(sample)
    if strata is None:
        return replace(empty, reason="The units have no strata.")
    if not sample.ratings:
        return replace(empty, reason="No person has rated a unit yet.")
    parts, joined = _parts(sample, strata)
    estimates = [_of_stratum(part, confidence_level) for part in parts.values()]
    for (name, part), estimate in zip(parts.items(), estimates, strict=True):
        if estimate.value is None:
            few = f"Only {part.ratings} unit" if part.ratings else "No unit"
            return replace(empty, reason=f"{few} of the stratum {name} is rated.")
    shares = np.array([part.units / sample.units for part in parts.values()])
    values = np.array([estimate.value for estimate in estimates], dtype=float)
    warnings = joined + _warnings(parts)
    found = replace(empty, value=float(shares @ values), warnings=warnings)
    return _with_interval(found, sample, estimates, shares, confidence_level)


_OF_STRATUM = "of the stratum"
_SOURCE = "Cochran 1977, sections 5.4 and 7.10; Fisch and others 2024, arXiv 2406.04291"


def combined_estimate(
    sample: RatedSample, *, confidence_level: float = 0.95, beyond: bool = False
) -> Estimate:
    """The estimate from people and a judge that fits how the units of a system were drawn.

    `stratified_estimate` where they had different probabilities, else `regression_estimate`; with `beyond`
    as one of the population that the batch comes from.
    """
    function = stratified_estimate if sample.unequal else regression_estimate
    found = function(sample, confidence_level=confidence_level)
    return beyond_batch(found, sample, confidence_level=confidence_level) if beyond else found


def neyman_allocation(
    sizes: npt.ArrayLike, deviations: npt.ArrayLike, ratings: int, *, least: int = 5
) -> IntArray:
    """(strata,): how many units to rate in each, in proportion to N_k sd_k, at least `least` and at most N_k.

    sizes: (strata,) N_k; deviations: (strata,) standard deviations of Y - lam f, from a pilot. Adds up to
    `ratings` unless the least or the sizes forbid it. Source: Neyman 1934; Cochran 1977, section 5.5.
    """
    units = np.asarray(sizes, dtype=np.intp)
    wanted = units * np.asarray(deviations, dtype=float)
    if not wanted.sum() > 0:
        wanted = units.astype(float)
    given = np.minimum(units, least)
    while given.sum() < ratings and (given < units).any():
        short = np.where(given < units, wanted / (given + 1), -1.0)
        given[int(np.argmax(short))] += 1
    return np.asarray(given)


def _strata(sample: RatedSample) -> dict[str, BoolArray] | None:
    """Masks (units,) by name; None where units have neither strata nor probabilities."""
    if sample.strata is not None:
        return {name: sample.strata == index for index, name in enumerate(sample.stratum_names)}
    if sample.probabilities is None:
        return None
    chances = np.unique(sample.probabilities)
    return {f"of probability {chance:.6g}": sample.probabilities == chance for chance in chances}


def _parts(
    sample: RatedSample, strata: dict[str, BoolArray]
) -> tuple[dict[str, RatedSample], tuple[str, ...]]:
    """The sample of each stratum by name, small ones without a spread joined, and a sentence on each."""
    largest = max(strata, key=lambda name: int(strata[name].sum()))
    alone = {name: mask for name, mask in strata.items() if name == largest or not _is_small(sample, mask)}
    parts = {name: sample.of_units(mask) for name, mask in alone.items()}
    lost = {name: mask for name, mask in strata.items() if name not in alone}
    if not lost:
        return parts, ()
    chances = np.empty(sample.units)
    for name in (largest, *lost):
        chances[strata[name]] = _chances(sample, strata[name], like=chances[strata[largest]])
    together = np.any([strata[largest], *lost.values()], axis=0)
    parts[largest] = RatedSample(
        judge=sample.judge[together],
        human=sample.human[together],
        probabilities=chances[together],
        documents=None if sample.documents is None else sample.documents[together],
    )
    return parts, tuple(
        f"{int(sample.rated[mask].sum())} of {int(mask.sum())} units of the stratum {name} are rated, which "
        f"tells no spread; it was joined to the stratum {largest}."
        for name, mask in lost.items()
    )


def _is_small(sample: RatedSample, mask: BoolArray) -> bool:
    units, ratings = int(mask.sum()), int(sample.rated[mask].sum())
    return ratings < min(units, 2) and units <= max(1, sample.units // SMALL)


def _warnings(parts: dict[str, RatedSample]) -> tuple[str, ...]:
    """What makes the interval unsafe in each stratum that is not rated throughout."""
    return tuple(
        sentence
        for name, part in parts.items()
        if part.ratings < part.units
        for sentence in warnings_of(part, name=f"{_OF_STRATUM} {name}")
    )


def _chances(sample: RatedSample, mask: BoolArray, *, like: FloatArray) -> FloatArray:
    """(units of the stratum,): of having been rated; as the least of `like` where none was."""
    own = sample.of_units(mask)
    if own.probabilities is not None:
        return own.probabilities
    return np.full(own.units, own.ratings / own.units if own.ratings else like.min())


def _of_stratum(part: RatedSample, confidence_level: float) -> Estimate:
    if part.unequal:
        return weighted_estimate(part, confidence_level=confidence_level)
    if part.ratings >= LEAST_FOR_REGRESSION and part.judged:
        return regression_estimate(part, confidence_level=confidence_level)
    return humans_only(part, confidence_level=confidence_level)


def _with_interval(
    found: Estimate,
    sample: RatedSample,
    estimates: list[Estimate],
    shares: FloatArray,
    confidence_level: float,
) -> Estimate:
    if any(estimate.standard_error is None for estimate in estimates):
        why = "A stratum has too few ratings, or none that differ, so its spread is unknown."
        return replace(found, interval_reason=why)
    variances = shares**2 * np.array([estimate.standard_error for estimate in estimates], dtype=float) ** 2
    freedoms = [estimate.degrees_of_freedom or np.inf for estimate in estimates]
    variance = float(variances.sum())
    lost = float(np.sum(variances**2 / np.array(freedoms)))
    return with_interval(
        found,
        variance,
        variance**2 / lost if lost > 0 else None,
        confidence_level,
        effective=effective_size(variance, sample, finite=True),
        complete=sample.ratings == sample.units,
    )
