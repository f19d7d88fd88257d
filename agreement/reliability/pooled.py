"""One mean over several systems, each of which has too few ratings for a separate interval."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agreement.data import FloatArray
from agreement.reliability.estimates import Estimate, warnings_of, weighted_variance, with_interval
from agreement.reliability.sample import RatedSample
from agreement.student import satterthwaite_freedom


def pooled_estimate(
    samples: Sequence[RatedSample], *, documents: int | None = None, confidence_level: float = 0.95
) -> Estimate:
    """The mean human score of the units of several systems together, from samples within each.

    sum_k (N_k / N) (fbar_k b + ebar_k) over cells k, the units of one system and stratum, with e = Y - b f,
    ebar_k its mean weighted by 1 / pi and one slope b within all cells. Variance sum_k (N_k / N)^2 times
    sum_k (1 - pi) / pi^2 (e - ebar_k)^2 / (sum_k 1 / pi)^2 n_k / (n_k - 1), times (n - L) / (n - L - 1) for
    the slope of n ratings in L cells; of a cell with one rating the spread of all. t with Satterthwaite's
    degrees of freedom. Fully rated cells are known. documents: the number of documents of the outputs, if
    these are a sample, too. The function then adds the mean within-system variance / documents. This assumes
    that a document is equally hard for all systems, so it adds too much, not too little. Source: Cochran
    1977, sections 5.4 and 7.11 (combined regression estimate). Undefined without systems or ratings, and if a
    cell has no rating.
    """
    units = sum(sample.units for sample in samples)
    ratings = sum(sample.ratings for sample in samples)
    empty = Estimate("pooled", "Pooled over systems", _SOURCE, None, None, ratings, units)
    cells = [cell for sample in samples for cell in _cells(sample)]
    if not ratings:
        return replace(empty, reason="No person has rated a unit yet.")
    if lacking := sum(not cell.ratings for cell in cells):
        return replace(empty, reason=f"{lacking} of {len(cells)} systems’ strata have no rating yet.")
    drawn = [cell for cell in cells if cell.ratings < cell.units]
    slope = _slope(drawn)
    parts = [_part(cell, slope) for cell in cells]
    shares = np.array([cell.units / units for cell in cells])
    value = float(shares @ np.array([part.value for part in parts]))
    found = replace(empty, value=value, weight=slope if drawn else None, warnings=_warnings(drawn))
    return _with_interval(found, cells, parts, shares, documents, confidence_level)


_SOURCE = "Cochran 1977, sections 5.4 and 7.11"


@dataclass(frozen=True)
class _Part:
    """One cell: its mean, the sum of squared residuals and what its variance is of their mean square."""

    value: float
    residuals: FloatArray
    of_spread: float
    variance: float


def _cells(sample: RatedSample) -> list[RatedSample]:
    """The units of each stratum, or else of each probability."""
    if sample.strata is not None:
        of_unit = sample.strata
    elif sample.probabilities is not None:
        of_unit = np.unique(sample.probabilities, return_inverse=True)[1]
    else:
        return [sample] if sample.units else []
    return [sample.of_units(of_unit == index) for index in np.unique(of_unit)]


def _chances(cell: RatedSample) -> FloatArray:
    """(ratings,): of having been rated; in a simple random sample their share."""
    if cell.probabilities is None:
        return np.full(cell.ratings, cell.ratings / cell.units)
    return np.asarray(cell.probabilities[cell.rated])


def _slope(cells: Sequence[RatedSample]) -> float:
    """The slope of people's values on the judge's within cells, 0 if the judge does not vary there."""
    product = spread = 0.0
    for cell in cells:
        judge, people = cell.judge[cell.rated], cell.human[cell.rated]
        if cell.judged:
            product += float(np.sum((judge - judge.mean()) * (people - people.mean())))
            spread += float(np.sum((judge - judge.mean()) ** 2))
    return product / spread if spread > 1e-12 else 0.0


def _part(cell: RatedSample, slope: float) -> _Part:
    lam = slope if cell.judged and cell.ratings < cell.units else 0.0
    judge = cell.judge if lam else np.zeros(cell.units)
    values, weights = cell.human[cell.rated] - lam * judge[cell.rated], 1 / _chances(cell)
    centre = float(np.average(values, weights=weights))
    residuals = values - centre
    influence = (1 - 1 / weights) * weights**2 / float(weights.sum()) ** 2
    number = len(values)
    return _Part(
        value=float(lam * judge.mean()) + centre,
        residuals=residuals,
        of_spread=float(influence.sum()),
        variance=float(np.sum(influence * residuals**2)) * number / max(number - 1, 1),
    )


def _with_interval(
    found: Estimate,
    cells: Sequence[RatedSample],
    parts: Sequence[_Part],
    shares: FloatArray,
    documents: int | None,
    confidence_level: float,
) -> Estimate:
    unknown = [part for part in parts if part.of_spread > 0]
    number, left = sum(len(part.residuals) for part in unknown), 0
    variances: list[tuple[float, float]] = []
    if unknown:
        left = number - len(unknown) - 1
        if left < 1:
            few = "The systems have too few ratings together to tell how much texts differ."
            return replace(found, interval_reason=few)
        spread = sum(float(np.sum(part.residuals**2)) for part in unknown) / left
        of_slope = (left + 1) / left
        for part, share in zip(parts, shares, strict=True):
            alone = len(part.residuals) == 1
            own = share**2 * (spread * part.of_spread if alone else part.variance * of_slope)
            variances.append((own, left if alone else len(part.residuals) - 1))
    variance, freedom = sum(own for own, _ in variances), satterthwaite_freedom(variances)
    if documents is not None:
        within = np.array([_spread(cell) for cell in cells])
        of_batch = float(shares @ within) / documents
        freedom = freedom if freedom is not None else documents - 1
        found = replace(found, batch_variance=of_batch)
        variance += of_batch
    complete = not unknown and documents is None
    return with_interval(found, variance, freedom, confidence_level, complete=complete)


def _spread(cell: RatedSample) -> float:
    values, weights = cell.human[cell.rated], 1 / _chances(cell)
    return weighted_variance(values, weights) if len(values) >= 2 else 0.0


def _warnings(drawn: Sequence[RatedSample]) -> tuple[str, ...]:
    """Warnings as for one random sample of all units that are not fully rated."""
    if not drawn:
        return ()
    together = RatedSample(
        judge=np.concatenate([cell.judge for cell in drawn]),
        human=np.concatenate([cell.human for cell in drawn]),
    )
    return warnings_of(together, name="that were drawn over all systems")
