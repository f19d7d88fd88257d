"""Which category a unit is of where raters differ: by majority, by Dawid and Skene, and by MACE.

Both models find at once how reliable raters are and what units are, without anybody's knowing the truth. They
take raters as independent given the category, and no unit as harder than another.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from agreement.data import FloatArray, IntArray, ReliabilityData, divide_where


def posterior_of(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probabilities (rows, cases) from logarithms of joint ones, and the (rows,) logarithms of their sums."""
    highest = logs.max(axis=1, keepdims=True)
    # Relative to the highest one, because all of them can underflow to 0.
    joint = np.exp(logs - highest)
    total = joint.sum(axis=1, keepdims=True)
    return joint / total, (np.log(total) + highest)[:, 0]


LEAST_RATERS = 3
_STEPS = 2000
_CLOSE = 1e-10  # the relative change of the log-likelihood with which the steps end
_SMALLEST = 1e-300  # instead of probabilities of 0, whose logarithms are infinite
_SMOOTHING = 0.01  # of MACE's counts, divided among categories, as in Hovy and others' program


@dataclass(frozen=True, eq=False)
class Majority:
    """shares: (units, categories), of a unit's raters; (units,) `categories`, the most frequent ones.

    In a tie the first category of the scale is used, and `tied` is True. NaN shares, and the category -1,
    without ratings.
    """

    shares: FloatArray
    categories: IntArray
    tied: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """probabilities: (units, categories), of a unit's true category, NaN without ratings.

    reason: the reason not to use them; empty if the search for the most likely values ended. shares:
    (categories,), their frequencies. confusion: (raters, true category, given category), NaN if a rater has
    no values. accuracy: (raters,), the frequency of the true category for each.
    """

    probabilities: FloatArray
    shares: FloatArray
    confusion: FloatArray
    accuracy: FloatArray
    log_likelihood: float
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Mace:
    """probabilities: (units, categories), of a unit's true category, NaN without ratings.

    reason: the reason not to use them; empty if the search for the most likely values ended. competence:
    (raters,), the frequency of knowing instead of guessing. guesses: (raters, categories), the distribution
    of each rater's guesses. NaN if a rater has no values.
    """

    probabilities: FloatArray
    competence: FloatArray
    guesses: FloatArray
    log_likelihood: float
    reason: str = ""


def majority(data: ReliabilityData) -> Majority:
    """Return the share of each category among a unit's raters, and the most frequent category.

    Undefined for units without values: their shares are NaN and their category is -1.
    """
    counts = _CodedValues.of(data).counts
    total = counts.sum(axis=1, keepdims=True)
    shares = divide_where(total > 0, counts, total)
    most = counts.max(axis=1)
    categories = np.where(most > 0, counts.argmax(axis=1), -1)
    return Majority(shares, categories, ((counts == most[:, None]).sum(axis=1) > 1) & (most > 0))


def why_not_latent(data: ReliabilityData) -> str:
    """Return the reason why `dawid_skene` and `mace` cannot estimate raters' errors; empty if they can.

    They need three raters, and a unit with values of three.
    """
    given = data.codes < len(data.value_domain)
    raters = int(given.any(axis=1).sum())
    if raters < LEAST_RATERS:
        return f"{raters} raters gave values; errors of raters can be told apart with {LEAST_RATERS} or more."
    if not (given.sum(axis=0) >= LEAST_RATERS).any():
        return f"No unit has values of {LEAST_RATERS} raters; have three rate some of the same units."
    return ""


def dawid_skene(data: ReliabilityData) -> DawidSkene:
    """The model of a confusion matrix for each rater, by maximum likelihood.

    p(unit is c) = p_c, p(rater r gives k | c) = e_rck. EM from the shares of raters: each step sets p and e
    to the expected frequencies, then each unit's probabilities by Bayes' rule. A row without expected values
    remains uniform. Source: Dawid and Skene 1979, Applied Statistics 28, 20-28. With few values for each
    rater and category the matrices overfit: zeros stay zeros. Raises ValueError if `why_not_latent` gives a
    reason.
    """
    given = _require_categories(data)
    values = given.by_rater_and_category
    posterior = _normalise(given.counts)
    likelihood, reason = -np.inf, f"The search for the most likely values did not end in {_STEPS:,} steps."
    for _ in range(_STEPS):
        # M step: the frequencies and confusions that the posteriors predict.
        shares = posterior.mean(axis=0)
        reached = (values @ posterior).reshape(given.raters, given.categories, -1)
        confusion = _normalise(reached.transpose(0, 2, 1))  # (raters, true, given)
        # E step: each unit's posterior, from the logarithms of what its raters gave.
        of_value = np.log(np.maximum(confusion, _SMALLEST)).transpose(0, 2, 1).reshape(values.shape[0], -1)
        posterior, totals = posterior_of(np.log(np.maximum(shares, _SMALLEST)) + values.T @ of_value)
        total = float(totals.sum())
        # EM never lowers the likelihood, so a gain this small ends the search.
        if total - likelihood < _CLOSE * abs(total):
            reason = ""
            break
        likelihood = total
    confusion[given.values_of_raters == 0] = np.nan
    accuracy = np.einsum("c,rcc->r", shares, confusion)
    return DawidSkene(given.laid_out(posterior), shares, confusion, accuracy, total, reason)


def mace(data: ReliabilityData) -> Mace:
    """The model of raters who know a unit's category, or guess without looking at it.

    p(rater r gives k | c) = t_r [k = c] + (1 - t_r) g_rk, with all categories equally likely a priori. EM
    with counts smoothed by 0.01 / categories, from each rater's agreement with the shares of all. Source:
    Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013, Learning Whom to Trust with MACE, NAACL, 1120-1130. Raises
    ValueError if `why_not_latent` gives a reason.
    """
    given = _require_categories(data)
    values, categories = given.values_of_raters, given.categories
    counted = given.sum_by_rater_and_category(np.ones(len(given.code)))
    start = _normalise(given.counts)
    smoothing = _SMOOTHING / categories
    # Competence starts from the mean share of a unit's raters who gave the rater's value.
    alike = given.sum_by_rater_and_category(start[given.unit, given.code])
    competence = alike.sum(axis=1) / np.maximum(values, 1)
    guesses = _normalise(counted + smoothing)
    likelihood, reason = -np.inf, f"The search for the most likely values did not end in {_STEPS:,} steps."
    for _ in range(_STEPS):
        guessed = (1 - competence)[:, None] * guesses  # (raters, categories)
        right = np.log(np.maximum(competence[:, None] + guessed, _SMALLEST))
        wrong = np.log(np.maximum(guessed, _SMALLEST))
        # Every category starts from `wrong`, and a value replaces it by `right` in its own category.
        of_wrong = given.sum_by_unit_and_category(wrong).sum(axis=1, keepdims=True)
        logs = given.sum_by_unit_and_category(right - wrong) + of_wrong
        posterior, totals = posterior_of(logs - np.log(categories))
        total = float(totals.sum())
        # A value is a guess if it is not the category, and sometimes also if it is.
        knows = competence[:, None] / np.maximum(competence[:, None] + guessed, _SMALLEST)
        known = given.sum_by_rater_and_category(posterior[given.unit, given.code]) * knows
        # Knowing and guessing are two outcomes, so both counts are smoothed.
        competence = (known.sum(axis=1) + smoothing) / (values + 2 * smoothing)
        guesses = _normalise(counted - known + smoothing)
        # With smoothed counts a step can lower the likelihood, so its size decides.
        if abs(total - likelihood) < _CLOSE * abs(total):
            reason = ""
            break
        likelihood = total
    nothing = values == 0
    competence[nothing], guesses[nothing] = np.nan, np.nan
    return Mace(given.laid_out(posterior), competence, guesses, total, reason)


@dataclass(frozen=True, eq=False)
class _CodedValues:
    """Individual values: (values,) rater, unit and code. No array is as large as raters times units.

    `positions`: of units among all units of the data, whose number is `size`.
    """

    rater: IntArray
    unit: IntArray
    code: IntArray
    raters: int
    categories: int
    positions: IntArray
    size: int

    @classmethod
    def of(cls, data: ReliabilityData, *, only_rated: bool = False) -> "_CodedValues":
        """Of all units, or of those only that have values."""
        given = data.codes < len(data.value_domain)
        rater, unit = np.nonzero(given)
        code = data.codes[rater, unit].astype(np.intp)
        raters, size = given.shape
        positions = np.arange(size)
        # A unit without values has no part in the likelihood.
        if only_rated:
            positions, unit = np.unique(unit, return_inverse=True)
        return cls(rater, unit, code, raters, len(data.value_domain), positions, size)

    @property
    def counts(self) -> FloatArray:
        """(units, categories): the number of raters with each."""
        return self.sum_by_unit_and_category(np.ones((self.raters, self.categories)))

    @property
    def values_of_raters(self) -> IntArray:
        """(raters,): the number of values of each."""
        return np.bincount(self.rater, minlength=self.raters)

    @property
    def by_rater_and_category(self) -> "scipy.sparse.csr_array":  # quoted, as it would load 14 MB
        """Sparse (raters times categories, units): 1 if a rater gave a unit a category."""
        cells = self.rater * self.categories + self.code, self.unit
        shape = self.raters * self.categories, len(self.positions)
        return scipy.sparse.csr_array((np.ones(len(self.code)), cells), shape=shape)

    def sum_by_rater_and_category(self, of_value: FloatArray) -> FloatArray:
        """(raters, categories): the sums of `of_value`, one number for each value."""
        sums = np.bincount(self.rater * self.categories + self.code, of_value, self.raters * self.categories)
        return sums.astype(float).reshape(self.raters, self.categories)

    def sum_by_unit_and_category(self, of_rater: FloatArray) -> FloatArray:
        """(units, categories): the sums of what (raters, categories) has for each value."""
        cells, size = self.unit * self.categories + self.code, len(self.positions) * self.categories
        sums = np.bincount(cells, of_rater[self.rater, self.code], size)
        return sums.astype(float).reshape(len(self.positions), self.categories)

    def laid_out(self, posterior: FloatArray) -> FloatArray:
        """Results of units, (units, categories), among all units, NaN without ratings."""
        found = np.full((self.size, posterior.shape[1]), np.nan)
        found[self.positions] = posterior
        return found


def _require_categories(data: ReliabilityData) -> _CodedValues:
    if reason := why_not_latent(data):
        raise ValueError(reason)
    return _CodedValues.of(data, only_rated=True)


def _normalise(counts: FloatArray) -> FloatArray:
    """Counts divided by their sum over the last axis, uniform if the sum is 0."""
    total = counts.sum(axis=-1, keepdims=True)
    even = np.full(counts.shape, 1 / counts.shape[-1])
    return np.asarray(np.divide(counts, total, out=even, where=total > 0))
