"""Means from samples with unequal probabilities or strata, or over systems, and the sampling itself."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray, IntArray
from agreement.reliability.estimates import (
    NO_JUDGE,
    NO_RATING,
    Estimate,
    beyond_batch,
    effective_size,
    humans_only,
    least_squares_slope,
    no_estimate,
    regression_estimate,
    warnings_of,
    weighted_variance,
    why_too_few,
    with_interval,
)
from agreement.reliability.sample import BoolArray, RatedSample
from agreement.student import satterthwaite_freedom


def weighted_estimate(
    sample: RatedSample, *, weight: float | None = None, confidence_level: float = 0.95
) -> Estimate:
    """The mean human score of this batch, if each unit i was sampled independently with probability pi_i.

    theta = lam fbar_N + sum_s (Y_i - lam f_i) / pi_i / sum_s 1 / pi_i (Hajek's form: the sum of weights
    instead of N, so that a uniformly generous judge adds no noise). Variance sum_s (1 - pi_i) / pi_i^2 (e_i -
    ebar)^2 / (sum_s 1 / pi_i)^2, so that units rated for certain add nothing, times n / (n - 2) (n - 1 if you
    pass lam) over the n units that were not certain, and t with n - 2 (n - 1) degrees of freedom. lam
    minimises it, cut to 0..1; weight=0 is people only. Source: Hajek 1971; Saerndal, Swensson and Wretman
    1992, sections 5.7 and 6.6 (Poisson sampling). Undefined without 2 ratings; if probabilities are unknown,
    use the other estimates.
    """
    empty = no_estimate("weighted", "Weighted estimate (Hajek)", _HAJEK, sample)
    reason = _explain_missing(sample)
    if reason is not None or sample.probabilities is None:
        return replace(empty, reason=reason)
    chance = sample.probabilities[sample.rated]
    rated, judge = sample.human[sample.rated], sample.judge[sample.rated]
    # Poisson sampling: the variance (1 - pi) / pi of a unit, times 1 / pi for the units it represents.
    influence = (1 - chance) / chance**2
    lam = weight or 0.0
    if weight is None and sample.judged:
        # The lam with the least sum of influence x (residual - weighted mean)^2.
        people, scores = (values - np.average(values, weights=1 / chance) for values in (rated, judge))
        spread = float(np.sum(influence * scores**2))
        product = float(np.sum(influence * people * scores))
        lam = float(np.clip(product / spread, 0, 1)) if spread > 1e-12 else 0.0
    # A judge without any value is NaN, and 0 x NaN would be NaN.
    overall = lam * sample.judge.mean() if lam else 0.0
    residuals = rated - lam * judge if lam else rated
    centre = np.average(residuals, weights=1 / chance)
    variance = float(np.sum(influence * (residuals - centre) ** 2)) / float(np.sum(1 / chance)) ** 2
    # Units that are rated for certain add no variance, and no degrees of freedom.
    uncertain = int((chance < 1).sum())
    freedom = max(uncertain - (2 if weight is None else 1), 1)
    variance *= uncertain / freedom
    found = replace(empty, value=float(overall + centre), weight=lam, warnings=_warnings_of_uncertain(sample))
    complete = bool((chance == 1).all()) and sample.ratings == sample.units
    effective = effective_size(variance, sample, finite=True)
    return with_interval(found, variance, freedom, confidence_level, effective=effective, complete=complete)


def active_inference(
    sample: RatedSample, *, weight: float | None = None, confidence_level: float = 0.95
) -> Estimate:
    """The mean human score of the population that the batch comes from, from an active sample.

    inc_i = lam f_i + (Y_i - lam f_i) xi_i / pi_i, xi_i = 1 where the unit was rated; theta = mean(inc),
    interval theta -+ z sd(inc) / sqrt(N). lam minimises the variance of inc, cut to 0..1.
    Where the sample has documents, increments are summed within each and t has G - 1 degrees of freedom.
    Source: Zrnic and Candes 2024, Active Statistical Inference, equation 3 (Horvitz and Thompson 1952).
    Undefined without 2 ratings, probabilities, or values of the judge.
    """
    empty = no_estimate("active_inference", "Active inference (Horvitz-Thompson)", _ACTIVE, sample)
    reason = _explain_missing(sample)
    if reason is None and not sample.judged:
        reason = NO_JUDGE
    if reason is not None or sample.probabilities is None:
        return replace(empty, reason=reason)
    weights = np.where(sample.rated, 1 / sample.probabilities, 0.0)
    people = np.where(sample.rated, sample.human, 0.0) * weights
    # inc_i, rearranged: lam times f_i (1 - xi_i / pi_i), plus Y_i xi_i / pi_i.
    judge = sample.judge * (1 - weights)
    # The variance of people + lam x judge is least at the slope of people on -judge.
    lam = weight if weight is not None else float(np.clip(least_squares_slope(people, -judge), 0, 1))
    increments = lam * judge + people
    value = float(increments.mean())
    found = replace(empty, value=value, weight=lam, warnings=_warnings_of_uncertain(sample))
    variance, freedom = float(np.mean((increments - value) ** 2)) / sample.units, None
    if sample.documents is not None:
        sums = np.bincount(sample.documents, increments - value) / sample.units
        groups, rated_groups = len(sums), len(np.unique(sample.documents[sample.rated]))
        variance = groups / (groups - 1) * float(np.sum(sums**2)) if groups > 1 else 0.0
        freedom = max(rated_groups - 1, 1) if groups > 1 else None
    effective = effective_size(variance, sample, finite=False)
    return with_interval(found, variance, freedom, confidence_level, effective=effective)


def active_probabilities(
    expected_error: npt.ArrayLike, share: float, *, mix: float = 0.25, least: float = 0.05
) -> FloatArray:
    """(units,): the sampling probability of each unit, larger if the judge's expected error is larger.

    pi_i = (1 - mix) share u_i / mean(u) + mix share, at least `least` and no more than 1, scaled between the
    two limits so that the mean sampling share is `share`. expected_error: (units,), the predicted |Y - f| or
    its root mean square, not below 0 (`cross_fitted_loss`, cut at 0); any mistake in it costs precision,
    never validity. On SummEval it narrowed intervals by 1 to 6%. Source: Zrnic and Candes 2024, section 4.
    Raises ValueError unless 0 < least <= share <= 1.
    """
    error = np.asarray(expected_error, dtype=float)
    if not 0 < least <= share <= 1:
        raise ValueError("The least probability must be above 0, and the share at least that and at most 1.")
    if not 0 <= mix <= 1:
        raise ValueError(f"The uniform part must lie between 0 and 1, but is {mix}.")
    if np.isnan(error).any() or (error < 0).any():
        raise ValueError("Expected errors must be numbers of 0 or more.")
    mean = error.mean() if len(error) else 0.0
    relative = error / mean if mean > 0 else np.ones(len(error))
    # Above 0, so that the upper end of the bisection cuts every probability to 1 and its mean reaches any
    # share, also if the other units have an expected error of 0.
    relative = np.maximum((1 - mix) * relative + mix, _LEAST_RELATIVE)
    low, high = 0.0, 1 / float(relative.min(initial=1))
    for _ in range(100 if len(relative) else 0):
        middle = (low + high) / 2
        if np.clip(middle * relative, least, 1).mean() < share:
            low = middle
        else:
            high = middle
    # The end whose mean is not below the share.
    return np.asarray(np.clip(high * relative, least, 1))


_HAJEK = "Hajek 1971; Saerndal, Swensson and Wretman 1992, sections 5.7 and 6.6"
_ACTIVE = "Zrnic and Candes 2024, Active Statistical Inference, arXiv 2403.03208"


_LEAST_RELATIVE = 1e-9


def _warnings_of_uncertain(sample: RatedSample) -> tuple[str, ...]:
    uncertain = np.ones(sample.units) if sample.probabilities is None else sample.probabilities < 1
    # Units that are rated for certain are no sample, so warnings on small samples do not concern them.
    found = warnings_of(sample.of_units(uncertain.astype(bool)))
    if sample.skipped:
        drawn = sample.skipped + sample.ratings
        found += (
            f"{sample.skipped} of {drawn} assigned units have no rating; "
            "they are taken to be like those of the same probability that have one.",
        )
    return found


def _explain_missing(sample: RatedSample) -> str | None:
    if sample.probabilities is None:
        return "The probabilities with which units were drawn are unknown."
    return why_too_few(sample, 2)


LEAST_FOR_REGRESSION = 5
SMALL = 20  # one in this many units


def stratified_estimate(sample: RatedSample, *, confidence_level: float = 0.95) -> Estimate:
    """sum_k (N_k / N) theta_k, theta_k the regression estimate within each stratum k of `sample.strata`;
    without strata the units of one probability are a stratum, such as the units that a rule sent to people
    and the units that it audits.

    Variance sum_k (N_k / N)^2 Var_k, t with Satterthwaite's degrees of freedom. Strata with fewer than 5
    ratings use people only. Within a stratum the sample is a simple random one, or has unequal probabilities:
    then it is weighted by them (`weighted_estimate`). Between strata it need not be in proportion. Source:
    Cochran 1977, sections 5.4 and 7.10; Fisch and others 2024, StratPPI. There is a warning for each stratum
    that is rated in part and from fewer than 20 ratings, or skewed ones. A small stratum (one unit, or up to
    a twentieth of all) that is not fully rated and has fewer than two ratings is joined to the largest one,
    with a warning: a unit without a value of the judge, say. Undefined without either, or if another stratum
    has no rating; without an interval if one has a single rating or no spread.
    """
    empty = no_estimate("stratified", "Stratified estimate", _SOURCE, sample)
    if sample.strata is None and sample.probabilities is None:
        return replace(empty, reason="The units have no strata.")
    if not sample.ratings:
        return replace(empty, reason=NO_RATING)
    # The estimate of each stratum, after small ones without a spread have joined the largest.
    parts, joined = _parts(sample, _strata(sample))
    estimates = [_mean_of_stratum(part, confidence_level) for part in parts.values()]
    for (name, part), estimate in zip(parts.items(), estimates, strict=True):
        if estimate.value is None:
            few = f"Only {part.ratings} unit" if part.ratings else "No unit"
            return replace(empty, reason=f"{few} of the stratum {name} is rated.")
    # The mean weighted by size, with a warning for each stratum that is rated in part.
    shares = np.array([part.units / sample.units for part in parts.values()])
    values = np.array([estimate.value for estimate in estimates], dtype=float)
    warnings = joined + tuple(
        sentence
        for name, part in parts.items()
        if part.ratings < part.units
        for sentence in warnings_of(part, name=f"{_OF_STRATUM} {name}")
    )
    found = replace(empty, value=float(shares @ values), warnings=warnings)
    if any(estimate.standard_error is None for estimate in estimates):
        why = "A stratum has too few ratings, or none that differ, so its spread is unknown."
        return replace(found, interval_reason=why)
    # Strata are independent samples, so their variances add up.
    variances = shares**2 * np.array([estimate.standard_error for estimate in estimates], dtype=float) ** 2
    freedoms = [estimate.degrees_of_freedom or np.inf for estimate in estimates]
    variance = float(variances.sum())
    return with_interval(
        found,
        variance,
        satterthwaite_freedom(zip(variances.tolist(), freedoms, strict=True)),
        confidence_level,
        effective=effective_size(variance, sample, finite=True),
        complete=sample.ratings == sample.units,
    )


_OF_STRATUM = "of the stratum"
_SOURCE = "Cochran 1977, sections 5.4 and 7.10; Fisch and others 2024, arXiv 2406.04291"


def combined_estimate(
    sample: RatedSample, *, confidence_level: float = 0.95, beyond: bool = False
) -> Estimate:
    """The estimate from people and a judge that fits the sampling of a system's units.

    `stratified_estimate` if they had different probabilities, else `regression_estimate`; with `beyond` as an
    estimate of the population that the batch comes from. Undefined as the chosen estimate.
    """
    function = stratified_estimate if sample.unequal else regression_estimate
    found = function(sample, confidence_level=confidence_level)
    return beyond_batch(found, sample, confidence_level=confidence_level) if beyond else found


def neyman_allocation(
    sizes: npt.ArrayLike, deviations: npt.ArrayLike, ratings: int, *, least: int = 5
) -> IntArray:
    """(strata,): the number of units to rate in each, in proportion to N_k sd_k, at least `least` and no more
    than N_k.

    sizes: (strata,) N_k; deviations: (strata,) standard deviations of Y - lam f, from a pilot. Adds up to
    `ratings` unless the least or the sizes forbid it. Source: Neyman 1934; Cochran 1977, section 5.5.
    """
    units = np.asarray(sizes, dtype=np.intp)
    wanted = units * np.asarray(deviations, dtype=float)
    # Without any spread, or with an unknown one, the allocation is in proportion to size.
    if not wanted.sum() > 0:
        wanted = units.astype(float)
    given = np.minimum(units, least)
    while given.sum() < ratings and (given < units).any():
        # One unit at a time keeps whole numbers, the least of each stratum, and its size as the limit.
        short = np.where(given < units, wanted / (given + 1), -1.0)
        given[int(np.argmax(short))] += 1
    return np.asarray(given)


def _strata(sample: RatedSample) -> dict[str, BoolArray]:
    """Masks (units,) by name; all units if they have neither strata nor probabilities."""
    if sample.strata is not None:
        return {name: sample.strata == index for index, name in enumerate(sample.stratum_names)}
    if sample.probabilities is None:
        return {"": np.ones(sample.units, dtype=bool)}
    chances = np.unique(sample.probabilities)
    return {f"of probability {chance:.6g}": sample.probabilities == chance for chance in chances}


def _parts(
    sample: RatedSample, strata: dict[str, BoolArray]
) -> tuple[dict[str, RatedSample], tuple[str, ...]]:
    """The sample of each stratum by name, with small strata without a spread joined, and a message on
    each.
    """
    largest = max(strata, key=lambda name: int(strata[name].sum()))

    def is_small(mask: BoolArray) -> bool:
        units, ratings = int(mask.sum()), int(sample.rated[mask].sum())
        return ratings < min(units, 2) and units <= max(1, sample.units // SMALL)

    alone = {name: mask for name, mask in strata.items() if name == largest or not is_small(mask)}
    parts = {name: sample.of_units(mask) for name, mask in alone.items()}
    lost = {name: mask for name, mask in strata.items() if name not in alone}
    if not lost:
        return parts, ()
    # Joined strata had different probabilities, so the joined sample is weighted by them.
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


def _chances(sample: RatedSample, mask: BoolArray, *, like: FloatArray) -> FloatArray:
    """(units of the stratum,): of having been rated; as the least of `like` where none was."""
    own = sample.of_units(mask)
    if own.probabilities is not None:
        return own.probabilities
    return np.full(own.units, own.ratings / own.units if own.ratings else like.min())


def _mean_of_stratum(part: RatedSample, confidence_level: float) -> Estimate:
    if part.unequal:
        return weighted_estimate(part, confidence_level=confidence_level)
    if part.ratings >= LEAST_FOR_REGRESSION and part.judged:
        return regression_estimate(part, confidence_level=confidence_level)
    return humans_only(part, confidence_level=confidence_level)


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
    empty = Estimate("pooled", "Pooled over systems", _POOLED_SOURCE, None, None, ratings, units)
    # The units of each stratum, or else of each probability.
    strata = [(sample, mask) for sample in samples for mask in _strata(sample).values()]
    cells = [sample.of_units(mask) for sample, mask in strata if mask.any()]
    if not ratings:
        return replace(empty, reason=NO_RATING)
    if lacking := sum(not cell.ratings for cell in cells):
        return replace(empty, reason=f"{lacking} of {len(cells)} systems’ strata have no rating yet.")
    # Fully rated cells are known: they need neither the slope nor a warning.
    drawn = [cell for cell in cells if cell.ratings < cell.units]
    # One slope for all cells, then the mean of each cell with it.
    slope = _slope(drawn)
    shares, means, residuals, influences = np.array([cell.units / units for cell in cells]), [], [], []
    for cell in cells:
        lam = slope if cell.judged and cell.ratings < cell.units else 0.0
        judge = cell.judge if lam else np.zeros(cell.units)
        values, weights = cell.human[cell.rated] - lam * judge[cell.rated], 1 / _rating_chances(cell)
        centre = float(np.average(values, weights=weights))
        means.append(float(lam * judge.mean()) + centre)
        residuals.append(values - centre)
        # (1 - pi) / pi^2 over the squared sum of 1 / pi; 0 for units that are rated for certain.
        influences.append((1 - 1 / weights) * weights**2 / float(weights.sum()) ** 2)
    value = float(shares @ np.array(means))
    found = replace(empty, value=value, weight=slope if drawn else None, warnings=_warnings(drawn))
    return _add_interval(found, cells, residuals, influences, shares, documents, confidence_level)


_POOLED_SOURCE = "Cochran 1977, sections 5.4 and 7.11"


def _rating_chances(cell: RatedSample) -> FloatArray:
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
            # Deviations within a cell: differences between systems must not enter the slope.
            product += float(np.sum((judge - judge.mean()) * (people - people.mean())))
            spread += float(np.sum((judge - judge.mean()) ** 2))
    return product / spread if spread > 1e-12 else 0.0


def _add_interval(
    found: Estimate,
    cells: Sequence[RatedSample],
    residuals: Sequence[FloatArray],
    influences: Sequence[FloatArray],
    shares: FloatArray,
    documents: int | None,
    confidence_level: float,
) -> Estimate:
    unknown = [left for left, own in zip(residuals, influences, strict=True) if own.sum() > 0]
    variances: list[tuple[float, float]] = []
    if unknown:
        # Each cell's mean takes a degree of freedom, and the common slope one more.
        freedom_left = sum(map(len, unknown)) - len(unknown) - 1
        if freedom_left < 1:
            few = "The systems have too few ratings together to tell how much texts differ."
            return replace(found, interval_reason=few)
        spread = sum(float(np.sum(left**2)) for left in unknown) / freedom_left
        for left, influence, share in zip(residuals, influences, shares, strict=True):
            if len(left) == 1:
                variances.append((share**2 * spread * float(influence.sum()), freedom_left))
            else:
                # The second factor is for the slope.
                own = float(np.sum(influence * left**2)) * len(left) / (len(left) - 1)
                variances.append((share**2 * own * (freedom_left + 1) / freedom_left, len(left) - 1))
    variance, freedom = sum(own for own, _ in variances), satterthwaite_freedom(variances)
    # Documents are a sample too, which adds the variance within systems over their number.
    if documents is not None:
        within = [
            weighted_variance(cell.human[cell.rated], 1 / _rating_chances(cell)) if cell.ratings >= 2 else 0.0
            for cell in cells
        ]
        of_batch = float(shares @ np.array(within)) / documents
        freedom = freedom if freedom is not None else documents - 1
        found = replace(found, batch_variance=of_batch)
        variance += of_batch
    complete = not unknown and documents is None
    return with_interval(found, variance, freedom, confidence_level, complete=complete)


def _warnings(drawn: Sequence[RatedSample]) -> tuple[str, ...]:
    """Warnings as for one random sample of all units that are not fully rated."""
    if not drawn:
        return ()
    together = RatedSample(
        judge=np.concatenate([cell.judge for cell in drawn]),
        human=np.concatenate([cell.human for cell in drawn]),
    )
    return warnings_of(together, name="that were drawn over all systems")
