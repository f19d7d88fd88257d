"""Bets on a risk, document by document: a test that is exact for any dependence within a document."""

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray

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
    gains = (risk * number - losses) / ((1 - risk) * max(most, 1))
    # A document of errors only leaves 1 - share: rounding may put it just below 0.
    factors = np.maximum(1 + stakes.reshape(-1, *[1] * gains.ndim) * gains, 0)
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
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if risk_p_value(lost, counted, middle, most=most) <= significance_level:
            high = middle
        else:
            low = middle
    return high
