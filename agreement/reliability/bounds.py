"""Exact upper bounds on an error rate, and p values for a maximum risk.

Bets on a risk, document by document, are exact for any dependence within a document.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import scipy

from agreement.data import FloatArray, IntArray

# Shares of the largest stake, which a document of only errors would lose. The mean capital over them does not
# depend on the order of documents, and needs no guess of the error rate.
STAKES = np.linspace(1 / 12, 1, 12)


def log_capital(
    lost: npt.ArrayLike, counted: npt.ArrayLike, risk: float, *, most: int, stakes: FloatArray = STAKES
) -> FloatArray:
    """Return the log of the capital of a bet on "the risk is below `risk`" after each document, from 1.

    lost, counted: (documents, ...), the sum of losses within 0..1 and the number of units of each document.
    most: the largest number of units that a document can have, fixed before any loss was known. stakes:
    shares
    of the largest possible stake; the capital of each, the first axis of the result, is
    prod_d (1 + s (risk n_d - l_d) / ((1 - risk) most)), and `mean_capital` takes their mean. If the risk is
    at least `risk`, the expected capital is <= 1 after any number of randomly sampled documents. The
    probability that it ever reaches 1 / a is <= a, for any dependence between the units of one document.
    Source: Ville 1939; Waudby-Smith and Ramdas 2024, JRSS B 86, section 4; a mixture of stakes as in Robbins
    1970. Raises ValueError for a document with more units than `most`.
    """
    number, losses = np.asarray(counted, dtype=float), np.asarray(lost, dtype=float)
    if (number > most).any():
        raise ValueError(f"A document has more than {most} units.")
    # The largest possible loss is (1 - risk) x most, so no stake up to 1 makes the capital negative.
    gains = (risk * number - losses) / ((1 - risk) * max(most, 1))
    # A document of errors only leaves 1 - share: rounding may put it just below 0.
    factors = np.maximum(1 + stakes.reshape(-1, *[1] * gains.ndim) * gains, 0)
    # A stake that has lost everything has the logarithm minus infinity.
    with np.errstate(divide="ignore"):
        return np.asarray(np.cumsum(np.log(factors), axis=1))


def mean_capital(logs: FloatArray) -> FloatArray:
    """Return the mean over stakes, (stakes, ...), of capitals given as logs; infinite beyond floats."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(logs).mean(axis=0))


def risk_p_value(lost: npt.ArrayLike, counted: npt.ArrayLike, risk: float, *, most: int) -> FloatArray:
    """Return the p value of "the risk is at least `risk`" after all documents: 1 / capital, cut at 1.

    lost, counted: (documents, ...), as for `log_capital`; the result has the further axes. 1 without
    documents.
    """
    logs = log_capital(lost, counted, risk, most=most)
    if not logs.shape[1]:
        return np.ones(logs.shape[2:])
    return np.asarray(1 / np.maximum(mean_capital(logs[:, -1]), 1))


def risk_upper(lost: FloatArray, counted: FloatArray, significance_level: float, *, most: int) -> float:
    """Return the least risk that `risk_p_value` rejects at this level, to 1e-9; 1 if it rejects none.

    lost, counted: (documents,). Each factor of the capital grows with the risk, so halving finds it.
    """
    return _least_rejected(
        lambda risk: risk_p_value(lost, counted, risk, most=most) <= significance_level, above=0.0
    )


def clopper_pearson_upper(
    errors: npt.ArrayLike, ratings: npt.ArrayLike, significance_level: float
) -> FloatArray:
    """The upper bound on an error rate after `errors` errors in `ratings` independent ratings.

    sup{R: P(Bin(n, R) <= k) >= delta} = the 1 - delta quantile of Beta(k + 1, n - k); 1 if k = n or n = 0.
    Arrays of one shape, or numbers. Source: Clopper and Pearson 1934, one-sided; Jung, Brahman and Choi 2025,
    section 3.
    """
    wrong, number = (np.asarray(each, dtype=float) for each in (errors, ratings))
    _check_counts(wrong, number, significance_level)
    # If every rating is an error, the bound is 1, and the parameter 1 only keeps Beta defined.
    some = wrong < number
    quantile = scipy.special.betaincinv(wrong + 1, np.where(some, number - wrong, 1), 1 - significance_level)
    return np.where(some, quantile, 1.0)


def hypergeometric_upper(
    errors: npt.ArrayLike, ratings: npt.ArrayLike, units: npt.ArrayLike, significance_level: float
) -> IntArray:
    """The upper bound on the number of wrong units among N, after k wrong ones in a random sample of n of
    them.

    max{K: P(Hyp(N, K, n) <= k) > delta}, a count of units: divide by N for a rate. The units of the sample
    are among the N. For 5 wrong of 100 out of 200 and delta .1 it is 15. Arrays of one shape, or numbers.
    Raises ValueError for more ratings than units, or more errors than ratings. Source: inverting the
    hypergeometric test; Buonaccorsi 1987, The American Statistician 41, 215-218.
    """
    given = (np.atleast_1d(np.asarray(each, dtype=np.intp)) for each in (errors, ratings, units))
    wrong, number, size = np.broadcast_arrays(*given)
    _check_counts(wrong, number, significance_level)
    if (number > size).any():
        raise ValueError("There are more ratings than units.")
    # The sample's own errors are wrong for certain, and its other units are right for certain.
    low, high = wrong.copy(), size - (number - wrong)
    while (low < high).any():
        # Rounded down, the middle of two neighbours would be `low` and the search would not end.
        middle = (low + high + 1) // 2
        possible = hypergeometric_cdf(wrong, size, middle, number) > significance_level
        low, high = np.where(possible, middle, low), np.where(possible, high, middle - 1)
    return np.asarray(low.reshape(np.shape(errors)), dtype=np.intp)


def hypergeometric_cdf(
    errors: npt.ArrayLike, units: npt.ArrayLike, wrong_units: npt.ArrayLike, ratings: npt.ArrayLike
) -> FloatArray:
    """P(k or fewer wrong ones in a random sample of n out of N units of which K are wrong).

    errors (k), units (N), wrong_units (K), ratings (n): whole numbers of shapes that broadcast.
    """
    counts = (np.asarray(each, dtype=np.intp) for each in (errors, units, wrong_units, ratings))
    return np.asarray(scipy.stats.hypergeom.cdf(*counts), dtype=float)


def binomial_cdf(errors: npt.ArrayLike, ratings: npt.ArrayLike, rate: npt.ArrayLike) -> FloatArray:
    """P(k or fewer errors in n independent ratings) = I_{1 - rate}(n - k, k + 1); 1 if k >= n.

    errors (k), ratings (n), rate (of errors, 0 to 1): of shapes that broadcast, as the result.
    """
    wrong, number = (np.asarray(each, dtype=float) for each in (errors, ratings))
    some = wrong < number
    left = scipy.special.betainc(
        np.where(some, number - wrong, 1), wrong + 1, 1 - np.asarray(rate, dtype=float)
    )
    return np.where(some, left, 1.0)


def binomial_p_value(errors: npt.ArrayLike, ratings: npt.ArrayLike, risk: float) -> FloatArray:
    """P(Bin(n, risk) <= k): the p value of "the error rate is above the risk"; 1 without ratings.

    Source: Jung, Brahman and Choi 2025; Angelopoulos and others 2021, Learn then Test.
    """
    return binomial_cdf(errors, ratings, risk)


def hypergeometric_p_value(
    errors: npt.ArrayLike, ratings: npt.ArrayLike, units: npt.ArrayLike, risk: float
) -> FloatArray:
    """The p value of "more than risk x N of these N units are wrong", after k wrong ones in a sample of n.

    P(Hyp(N, K, n) <= k) at K = floor(risk N) + 1, the least K for which the claim is true; it is <= delta
    exactly if `hypergeometric_upper` is <= risk x N. 1 without ratings.
    """
    wrong, number, size = (np.asarray(each, dtype=np.intp) for each in (errors, ratings, units))
    least = np.minimum(largest_allowed(size, risk) + 1, size)
    p_values = hypergeometric_cdf(wrong, np.maximum(size, 1), least, np.minimum(number, size))
    # If the risk allows every unit to be wrong, "more than that" is false for certain.
    every_unit_may_be_wrong = largest_allowed(size, risk) >= size
    return np.where(number > 0, np.where(every_unit_may_be_wrong, 0.0, p_values), 1.0)


def exact_p_value(
    errors: npt.ArrayLike, ratings: npt.ArrayLike, units: npt.ArrayLike | None, risk: float
) -> FloatArray:
    """`hypergeometric_p_value` within a batch of N units, `binomial_p_value` without (None)."""
    if units is None:
        return binomial_p_value(errors, ratings, risk)
    return hypergeometric_p_value(errors, ratings, units, risk)


def first_that_passes(
    passes: Callable[[IntArray], npt.NDArray[np.bool_]], least: int, most: int
) -> int | None:
    """Return the first size from `least` to `most` that passes; None if none does.

    passes: from sizes (n,) to whether each passes. Blocks of sizes grow, as most answers are small.
    """
    start, block = least, 256
    while start <= most:
        sizes = np.arange(start, min(start + block, most + 1))
        found = np.flatnonzero(passes(sizes))
        if len(found):
            return int(sizes[found[0]])
        start, block = start + block, 4 * block
    return None


def p_value_of_unknown_batch(
    errors: npt.ArrayLike, ratings: npt.ArrayLike, largest: npt.ArrayLike, risk: float
) -> FloatArray:
    """The largest `hypergeometric_p_value` over all sizes of the batch from n to `largest`.

    errors (k), ratings (n), largest: (sizes,). For a judge that has judged only the sample, so the number of
    units it would accept is unknown. Above 20,000 units the p value of `binomial_p_value`, which is larger. 1
    without ratings.
    """
    wrong, number, most = (
        np.atleast_1d(np.asarray(each, dtype=np.intp)) for each in (errors, ratings, largest)
    )
    found = binomial_p_value(wrong, number, risk)
    for index in np.flatnonzero((number > 0) & (most <= _LARGEST_SEARCHED)):
        # Of all sizes for which K wrong units are just too many, the largest has the smallest share of them.
        counts = np.arange(1, int(largest_allowed(most[index], risk)) + 2)
        sizes = np.ceil(np.round(counts / risk, 9)).astype(np.intp) - 1
        sizes = np.append(sizes[(sizes >= number[index]) & (sizes < most[index])], most[index])
        found[index] = hypergeometric_p_value(
            np.full(len(sizes), wrong[index]), np.full(len(sizes), number[index]), sizes, risk
        ).max()
    return found


_LARGEST_SEARCHED = 20_000


def hoeffding_bentkus_p_value(mean_loss: npt.ArrayLike, ratings: npt.ArrayLike, risk: float) -> FloatArray:
    """The p value of "the mean loss is above the risk" for independent losses between 0 and 1.

    min(exp(-n h(min(m, a), a)), e P(Bin(n, a) <= ceil(n m))) with m the mean loss, a the risk and
    h(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q)). 1 without ratings.
    Source: Bates and others 2021, Distribution-free, risk-controlling prediction sets, proposition 7.
    """
    mean, number = (np.asarray(each, dtype=float) for each in (mean_loss, ratings))
    least = np.minimum(mean, risk)
    divergence = scipy.special.rel_entr(least, risk) + scipy.special.rel_entr(1 - least, 1 - risk)
    hoeffding = np.exp(-number * divergence)
    counted = np.ceil(np.round(number * mean, 9))  # 7.000000001 losses are 7
    bentkus = np.e * binomial_cdf(counted, number, risk)
    return np.where(number > 0, np.minimum(1, np.minimum(hoeffding, bentkus)), 1.0)


def hoeffding_bentkus_upper(mean_loss: float, ratings: int, significance_level: float) -> float:
    """The least risk that `hoeffding_bentkus_p_value` rejects at this level, to 1e-9; else 1."""
    return _least_rejected(
        lambda risk: hoeffding_bentkus_p_value(mean_loss, ratings, risk) <= significance_level,
        above=min(max(mean_loss, 0.0), 1.0),
    )


def _least_rejected(
    rejects: Callable[[float], bool | np.bool_ | npt.NDArray[np.bool_]], *, above: float
) -> float:
    """Return the least risk that is rejected, to 1e-9, by halving; 1 if none is."""
    low, high = above, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if rejects(middle) else (middle, high)
    # This end is rejected (or 1), so the bound is never too small.
    return high


def largest_allowed(units: npt.ArrayLike, risk: float) -> IntArray:
    """floor(risk N): the number of wrong units that a risk allows; .3 x 10 is 3 despite floating-point
    rounding.

    units (N): of any shape, as the result. risk: the share of wrong units, 0 to 1.
    """
    return np.asarray(np.floor(np.round(np.asarray(units) * risk, 9)), dtype=np.intp)


def _check_counts(
    errors: npt.NDArray[np.number], ratings: npt.NDArray[np.number], significance_level: float
) -> None:
    if (errors < 0).any() or (errors > ratings).any():
        raise ValueError("Errors must lie between 0 and the number of ratings.")
    if not 0 < significance_level < 1:
        raise ValueError(f"The significance level must lie between 0 and 1, but is {significance_level}.")
