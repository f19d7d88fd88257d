"""A control chart of a judge: is it still the model that gave the first values?"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import scipy

from agreement.data import FloatArray
from agreement.ranks import holm_by_key
from agreement.student import standard_error, t_reach

Key = TypeVar("Key", bound=Hashable)
BoolArray = npt.NDArray[np.bool_]

LAST_CHECKS = (1, 2, 4, 8)
"""The blocks of last checks that are compared with all values before them."""
_BETS = np.array([0.5, 1.5, 5.0])  # per standard deviation within documents


@dataclass(frozen=True)
class ControlPoint:
    """A check of one dimension against the first values.

    value, low, high: mean of check - first over documents in points, and its t interval for this check alone.
    changed: share of units that moved by more than the tolerance. p_value: for "nothing has changed", by all
    checks up to this one. Value and share are None, with a reason, if no unit has both values; the interval
    is None for one document. units: units with both values; missing: units without a value in this check.
    """

    check: int
    units: int
    missing: int
    value: float | None
    low: float | None
    high: float | None
    changed: float | None
    p_value: float = 1.0
    is_alarm: bool = False
    reason: str = ""


def control_chart(
    values: Mapping[Key, npt.ArrayLike],
    documents: Mapping[Key, npt.ArrayLike],
    *,
    tolerance: float = 1.0,
    significance_level: float = 0.05,
) -> dict[Key, tuple[ControlPoint, ...]]:
    """Compare each check with the first values, and test after each if the judge has changed.

    values: by dimension (1 + checks, units), the first values and then one row a check, NaN for a gap;
    documents: by dimension (units,). All dimensions have the same number of checks.

    The test: if the judge has not changed, the values of a document are exchangeable over time, and documents
    are independent. For a block B of m checks of the T times of a document and a bet l,

    e = prod_{t in B} exp(l x_t) / mean over all blocks of m times of the same product

    then has the mean 1, given the values without their order, even if the judge never varies. The product
    over documents is averaged over blocks (the last 1, 2, 4, 8 checks, and the first values), over l and over
    three directions: up, down, and either for each document by itself. p = 1 / e is a p value by Markov's
    inequality. Check c has the level a / (c (c + 1)), and these levels add up to a over the whole life of the
    monitoring; dimensions are adjusted by Holm. Units must be chosen without regard to their first values.
    Source: Grünwald, de Heide and Koolen 2024, Safe testing, JRSS B 86 (e values); the conditional likelihood
    of a block is from Cox 1972, JRSS B 34.
    """
    tables = {key: np.asarray(each, dtype=float) for key, each in values.items()}
    owners = {key: np.unique(np.asarray(documents[key]), return_inverse=True)[1] for key in tables}
    counts = {len(each) for each in tables.values()}
    if len(counts) > 1 or counts == {0}:
        raise ValueError("All dimensions need the first values and the same number of checks.")
    charts: dict[Key, list[ControlPoint]] = {key: [] for key in tables}
    for check in range(1, min(counts, default=1)):
        points = {
            key: _compare_with_first(table[: check + 1], owners[key], tolerance)
            for key, table in tables.items()
        }
        adjusted = holm_by_key({key: each.p_value for key, each in points.items()})
        level = significance_level / (check * (check + 1))
        for key, point in points.items():
            charts[key].append(replace(point, is_alarm=adjusted[key] <= level))
    return {key: tuple(each) for key, each in charts.items()}


def _compare_with_first(table: FloatArray, owners: npt.NDArray[np.intp], tolerance: float) -> ControlPoint:
    check, missing = len(table) - 1, int(np.isnan(table[-1]).sum())
    both = ~np.isnan(table[0]) & ~np.isnan(table[-1])
    if not both.any():
        reason = "No unit has a value in this check."
        return ControlPoint(check, 0, missing, None, None, None, None, reason=reason)
    table, owners = table[:, both], np.unique(owners[both], return_inverse=True)[1]
    sizes = np.bincount(owners)
    # A time at which a unit of a document has no value does not count for this document.
    by_document = np.array([np.bincount(owners, row) for row in table]).T / sizes[:, None]
    differences = by_document[:, -1] - by_document[:, 0]
    mean, low, high = float(differences.mean()), None, None
    if len(differences) > 1:
        reach = t_reach(standard_error(differences), len(differences) - 1, 0.95)
        low, high = mean - reach, mean + reach
    moved = np.abs(table[-1] - table[0]) > tolerance + 1e-9
    p_value = float(np.exp(-max(_log_evidence(by_document), 0.0)))
    return ControlPoint(
        check, int(both.sum()), missing, mean, low, high, float(moved.mean()), p_value=p_value
    )


def _log_evidence(values: FloatArray) -> float:
    """Return the logarithm of e; values: (documents, times), NaN for a gap."""
    is_known = ~np.isnan(values)
    centred = np.where(is_known, values - np.nanmean(values, axis=1, keepdims=True), 0.0)
    spread = np.sqrt((centred**2).sum() / is_known.sum())
    if spread < 1e-12:
        return 0.0
    check = values.shape[1] - 1
    times = np.arange(check + 1)
    blocks = [times == 0] + [times > check - last for last in LAST_CHECKS if last < check]
    bets = np.concatenate([_BETS, -_BETS]) / spread
    scores = bets[:, None, None] * centred
    found = _log_ratios(scores, is_known, blocks)  # (blocks, bets, documents)
    up, down = np.split(found, 2, axis=1)
    either = np.logaddexp(up, down) - np.log(2)
    sums = np.concatenate([up, down, either], axis=1).sum(axis=2)
    return float(scipy.special.logsumexp(sums) - np.log(sums.size))


def _log_ratios(scores: FloatArray, is_known: BoolArray, blocks: list[BoolArray]) -> FloatArray:
    """(blocks, bets, documents): the logarithm of e of each document; scores: (bets, documents, times).

    The sum over all blocks of m times is the elementary symmetric polynomial of order m, built up over times.
    """
    most = max(int(block.sum()) for block in blocks)
    sums = np.full((*scores.shape[:2], most + 1), -np.inf)
    sums[..., 0] = 0.0
    for time in range(scores.shape[2]):
        added = np.logaddexp(sums[..., 1:], sums[..., :-1] + scores[..., time, None])
        sums[..., 1:] = np.where(is_known[:, time, None], added, sums[..., 1:])
    number = is_known.sum(axis=1)
    found = []
    for block in blocks:
        size = (is_known & block).sum(axis=1)
        own = (scores * block).sum(axis=2)
        # log of (number choose size)
        ways = (
            scipy.special.gammaln(number + 1)
            - scipy.special.gammaln(size + 1)
            - scipy.special.gammaln(number - size + 1)
        )
        index = np.broadcast_to(size[:, None], (*scores.shape[:2], 1))
        found.append(own - np.take_along_axis(sums, index, axis=2)[..., 0] + ways)
    return np.array(found)
