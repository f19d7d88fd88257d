"""The marginal likelihood of the rating scale model with raters, and its derived statistics."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from agreement.data import FloatArray, IntArray
from agreement.latent_categories import posterior_of


@dataclass(frozen=True, eq=False)
class RatedPoints:
    """Individual values, by unit: (values,) rater, unit and point as indices; systems and documents of units.

    rater_indices: (raters,), the raters with values, as indices into all.
    """

    rater: IntArray
    unit: IntArray
    code: IntArray
    points: FloatArray
    systems: tuple[str, ...]
    system_of_unit: IntArray
    document_of_unit: IntArray
    rater_indices: IntArray

    @classmethod
    def of(
        cls, values: FloatArray, points: Sequence[float], systems: Sequence[str], documents: npt.NDArray[Any]
    ) -> "RatedPoints":
        """From values (raters, units), NaN for gaps; raters and units without values are excluded."""
        kept = ~np.isnan(values).all(axis=0)
        raters = np.flatnonzero(~np.isnan(values).all(axis=1))
        table = values[raters][:, kept]
        unit, rater = np.nonzero(~np.isnan(table).T)
        names, of_unit = np.unique(np.asarray(systems)[kept], return_inverse=True)
        scale = np.array(sorted(points), dtype=float)
        return cls(
            rater,
            unit,
            np.searchsorted(scale, table[rater, unit]),
            scale,
            tuple(names.tolist()),
            of_unit,
            np.unique(documents[kept], return_inverse=True)[1],
            raters,
        )

    @property
    def number_of_documents(self) -> int:
        """The number of documents with values."""
        return int(self.document_of_unit.max()) + 1

    def means_of_systems(self) -> FloatArray:
        """(systems,): the mean over a system's units of the mean over their raters."""
        sums = np.bincount(self.unit, self.points[self.code])
        means = sums / np.bincount(self.unit)
        return np.bincount(self.system_of_unit, means) / np.bincount(self.system_of_unit)

    @property
    def share_rated(self) -> float:
        """The share of units and raters that have a value."""
        return len(self.unit) / (len(self.system_of_unit) * len(self.rater_indices))

    def shares_of_raters(self) -> FloatArray:
        """(systems, raters): the part of a system's mean that each rater's values are."""
        found = np.zeros((len(self.systems), len(self.rater_indices)))
        weights = 1 / np.bincount(self.unit)
        np.add.at(found, (self.system_of_unit[self.unit], self.rater), weights[self.unit])
        return np.asarray(found / found.sum(axis=1, keepdims=True))


_BLOCK = 20_000
"""How many values are looked at at once, so that memory does not grow with all of them."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some patterns. cells: sparse (patterns, cells), 1 if a pattern has a cell's value.

    times: (patterns,), the number of units with it; documents: sparse (patterns, documents), the same number
    by document.
    """

    cells: Any
    times: IntArray
    documents: Any
    system_of_pattern: IntArray


class RatedPatterns:
    """Units counted by pattern. A cell is a point that a rater gave to a system's units.

    system_of_pair, rater_of_pair: (pairs,), a rater and a system that the rater has values of.
    pair_of_cell, code_of_cell: (cells,), the pair and the point as indices.
    """

    def __init__(self, rated: RatedPoints) -> None:
        points, raters = len(rated.points), len(rated.rater_indices)
        system = rated.system_of_unit[rated.unit]
        # A cell is one number of system, rater and point, which divisions take to pieces again.
        cells, self._cell = np.unique(
            (system * raters + rated.rater) * points + rated.code, return_inverse=True
        )
        self.code_of_cell = cells % points
        pairs, self.pair_of_cell = np.unique(cells // points, return_inverse=True)
        self.system_of_pair, self.rater_of_pair = pairs // raters, pairs % raters
        self._rated = rated

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All patterns, some at a time."""
        rated = self._rated
        table = np.full((len(rated.system_of_unit), 1 + len(rated.rater_indices)), -1, dtype=np.int16)
        table[:, 0] = rated.system_of_unit
        table[rated.unit, 1 + rated.rater] = rated.code
        # A unit of each pattern, the pattern of each unit, and the number of units of each pattern.
        _, chosen, pattern, times = np.unique(
            table, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        pattern = pattern.reshape(-1)  # some versions of NumPy return the inverse of rows as a column
        # One unit of each pattern gives the cells of the pattern.
        kept = np.isin(rated.unit, chosen)
        ones = np.ones(int(kept.sum()))
        coordinates = pattern[rated.unit[kept]], self._cell[kept]
        cells = scipy.sparse.csr_array((ones, coordinates), shape=(len(chosen), len(self.code_of_cell)))
        of_document = scipy.sparse.csr_array(
            (np.ones(len(pattern)), (pattern, rated.document_of_unit)),
            shape=(len(chosen), rated.number_of_documents),
        )
        # As many patterns as have about _BLOCK values together.
        size = max(1, _BLOCK * len(chosen) // len(ones))
        parts = [slice(start, start + size) for start in range(0, len(chosen), size)]
        return tuple(
            Block(cells[rows], times[rows], of_document[rows], rated.system_of_unit[chosen[rows]])
            for rows in parts
        )


LOG_SPREADS = (-5.0, 3.0)
"""Between which logarithms the standard deviation of units is looked for."""
_NODES = 21
_STEP = 1e-4  # of central differences
_SMALLEST = 1e-300  # instead of probabilities of 0, whose logarithms are infinite
Slopes = tuple[FloatArray, FloatArray]


class SeverityLikelihood:
    """Penalised marginal likelihood. Parameters: systems, raters, thresholds, log standard deviation.

    Units of one system with the same values of the same raters are as likely: each such pattern is computed
    once and counted, and each probability of a point once for a system and a rater.
    """

    def __init__(self, rated: RatedPoints, penalty: float) -> None:
        self.rated, self.penalty = rated, penalty
        self._patterns = RatedPatterns(rated)
        self._sizes = len(rated.systems), len(rated.rater_indices), len(rated.points) - 1
        # Divided by their sum, the weights are the ones of the normal distribution.
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        self._nodes, self._weights = nodes, weights / weights.sum()

    @property
    def start(self) -> FloatArray:
        """The start of the search: all parameters alike."""
        return np.zeros(sum(self._sizes) + 1)

    @property
    def bounds(self) -> list[tuple[float | None, float | None]]:
        """Of the parameters: a standard deviation of 0 has no logarithm."""
        return [(None, None)] * sum(self._sizes) + [LOG_SPREADS]

    def severities(self, parameters: FloatArray) -> FloatArray:
        """(raters,): how severe each is, their mean being 0."""
        own = self._parts(parameters)[1]
        return np.asarray(own - own.mean())

    def means_of_raters(self, parameters: FloatArray) -> FloatArray:
        """(raters,): the mean that each would give to all units."""
        own = self._parts(parameters)[1]
        shares = np.bincount(self.rated.system_of_unit) / len(self.rated.system_of_unit)
        return np.array([shares @ self._means(parameters, each) for each in own])

    def means_of_systems(self, parameters: FloatArray) -> FloatArray:
        """(systems,): the mean of each with a rater of average severity."""
        return self._means(parameters, float(self._parts(parameters)[1].mean()))

    def with_slopes(self, function: Callable[[FloatArray], FloatArray], parameters: FloatArray) -> Slopes:
        """The function's values, (n,), and their derivatives (n, parameters)."""
        steps = _STEP * np.eye(len(parameters))
        slopes = [(function(parameters + h) - function(parameters - h)) / (2 * _STEP) for h in steps]
        return function(parameters), np.stack(slopes, axis=1)

    def loss(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Minus the penalised log-likelihood, and its gradient."""
        log_likelihood, slopes = self._log_likelihood(parameters)
        size = len(self.rated.system_of_unit)
        _, raters, thresholds, _ = self._parts(parameters)
        penalised = np.zeros(len(parameters))
        systems = self._sizes[0]
        # The locations of systems and the standard deviation are free of the penalty.
        penalised[systems:-1] = self.penalty * parameters[systems:-1]
        # Means of severities and thresholds are no part of the data's likelihood: any pull settles them.
        for start, part in ((systems, raters), (systems + len(raters), thresholds)):
            penalised[start : start + len(part)] += size * part.mean() / len(part)
        pull = self.penalty / 2 * np.sum(parameters[systems:-1] ** 2)
        pull += size / 2 * (raters.mean() ** 2 + thresholds.mean() ** 2)
        return float(pull - log_likelihood), penalised - slopes

    def curvature(self, parameters: FloatArray) -> FloatArray:
        """(parameters, parameters): second derivatives of the loss, by differences of its gradient."""
        steps = _STEP * np.eye(len(parameters))
        found = [(self.loss(parameters + h)[1] - self.loss(parameters - h)[1]) / (2 * _STEP) for h in steps]
        # Second derivatives by differences are symmetric only up to their error.
        return np.asarray((np.array(found) + np.array(found).T) / 2)

    def scores_by_document(self, parameters: FloatArray) -> FloatArray:
        """(documents, parameters): the gradient of the log-likelihood, summed over a document's units."""
        shares, logs = self._shares(parameters)
        patterns, (systems, raters, thresholds) = self._patterns, self._sizes
        residuals, beyond = self._residuals(shares), _at_least(shares)
        sums = np.zeros((self.rated.number_of_documents, len(parameters)))
        for block in patterns.blocks:
            posterior, _ = posterior_of(block.cells @ logs + np.log(self._weights))
            row, cell = block.cells.nonzero()
            pair, rows = patterns.pair_of_cell[cell], len(posterior)
            weights = posterior[row]
            left = weights * residuals[cell]
            pull = left.sum(axis=1)
            # (patterns of the block, parameters): the gradient of one unit's log-likelihood.
            scores = np.zeros((rows, len(parameters)))
            scores[np.arange(rows), block.system_of_pattern] = np.bincount(row, pull, rows)
            scores[row, systems + patterns.rater_of_pair[pair]] = -pull
            for index in range(thresholds):
                passed = patterns.code_of_cell[cell] > index
                on_threshold = np.sum(weights * beyond[pair, :, index], axis=1) - passed
                scores[:, systems + raters + index] = np.bincount(row, on_threshold, rows)
            scores[:, -1] = np.exp(parameters[-1]) * np.bincount(row, left @ self._nodes, rows)
            sums += block.documents.T @ scores
        return sums

    def fit_of_raters(self, parameters: FloatArray) -> Slopes:
        """(raters,) infit and outfit: each value against the prediction from the other raters of its unit."""
        size = self._sizes[1]
        squares, variances, ratios, values = np.zeros((4, size))
        for block, row, rater, square, variance in self._squares(parameters):
            times = block.times[row]
            squares += np.bincount(rater, times * square, size)
            variances += np.bincount(rater, times * variance, size)
            ratios += np.bincount(rater, times * square / variance, size)
            values += np.bincount(rater, times, size)
        return squares / variances, ratios / values

    def excess_squares(self, parameters: FloatArray) -> FloatArray:
        """(documents, raters): squared residuals minus their variance, 0 on average if the model holds."""
        found = np.zeros((self.rated.number_of_documents, self._sizes[1]))
        for block, row, rater, square, variance in self._squares(parameters):
            excess = np.zeros((len(block.times), self._sizes[1]))
            excess[row, rater] = square - variance
            found += block.documents.T @ excess
        return found

    def _squares(
        self, parameters: FloatArray
    ) -> Iterator[tuple[Block, IntArray, IntArray, FloatArray, FloatArray]]:
        """Yield of each block its values: pattern, rater, squared residual and the residual's variance."""
        shares, logs = self._shares(parameters)
        patterns, points = self._patterns, self.rated.points
        expected, second = shares @ points, shares @ points**2
        for block in patterns.blocks:
            row, cell = block.cells.nonzero()
            pair = patterns.pair_of_cell[cell]
            # The unit's posterior from the other raters leaves this value's own logarithm out.
            without, _ = posterior_of((block.cells @ logs + np.log(self._weights))[row] - logs[cell])
            mean = np.sum(without * expected[pair], axis=1)
            # Over nodes and points together: E[value^2] - E[value]^2.
            variance = np.sum(without * second[pair], axis=1) - mean**2
            square = (points[patterns.code_of_cell[cell]] - mean) ** 2
            yield block, row, patterns.rater_of_pair[pair], square, variance

    def mean_residuals(self, parameters: FloatArray) -> FloatArray:
        """(documents, systems): parts of the system's mean minus its expected mean from the same raters."""
        rated = self.rated
        own = self._parts(parameters)[1]
        expected = np.stack([self._means(parameters, each) for each in own], axis=1)
        values = rated.points[rated.code] - expected[rated.system_of_unit[rated.unit], rated.rater]
        # A value's part in the system's mean: over the raters of its unit, then over the units.
        of_unit = np.bincount(rated.unit, values) / np.bincount(rated.unit)
        of_unit /= np.bincount(rated.system_of_unit)[rated.system_of_unit]
        found = np.zeros((rated.number_of_documents, len(rated.systems)))
        np.add.at(found, (rated.document_of_unit, rated.system_of_unit), of_unit)
        return found

    def _parts(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        systems, raters, thresholds = np.split(parameters[:-1], np.cumsum(self._sizes)[:-1])
        return systems, raters, thresholds, float(np.exp(parameters[-1]))

    def _means(self, parameters: FloatArray, severity: float) -> FloatArray:
        """(systems,): mean values by a rater of this severity."""
        systems, _, thresholds, spread = self._parts(parameters)
        # The nodes are units of a system, in standard deviations from the system's mean.
        located = systems[:, None] + spread * self._nodes - severity
        return np.asarray(_shares_at(located, thresholds) @ self.rated.points @ self._weights)

    def _shares(self, parameters: FloatArray) -> Slopes:
        """(pairs, nodes, points) probabilities, and (cells, nodes) logarithms of the probabilities of a
        cell's point.
        """
        systems, raters, thresholds, spread = self._parts(parameters)
        patterns = self._patterns
        located = systems[patterns.system_of_pair] - raters[patterns.rater_of_pair]
        shares = _shares_at(located[:, None] + spread * self._nodes, thresholds)
        given = shares[patterns.pair_of_cell, :, patterns.code_of_cell]
        return shares, np.log(np.maximum(given, _SMALLEST))

    def _log_likelihood(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """The log-likelihood, and its (parameters,) gradient by Fisher's identity."""
        shares, logs = self._shares(parameters)
        total, weights = 0.0, np.zeros(logs.shape)
        for block in self._patterns.blocks:
            posterior, own = posterior_of(block.cells @ logs + np.log(self._weights))
            total += float(block.times @ own)
            # The posterior weight of each node, summed over the units that have the cell's value.
            weights += block.cells.T @ (block.times[:, None] * posterior)
        patterns, (systems, raters, thresholds) = self._patterns, self._sizes
        # By the location the derivative is value minus expectation, by the severity its negative.
        left = weights * self._residuals(shares)
        pull = left.sum(axis=1)
        slopes = np.zeros(len(parameters))
        slopes[:systems] = np.bincount(patterns.system_of_pair[patterns.pair_of_cell], pull, systems)
        slopes[systems : systems + raters] = -np.bincount(
            patterns.rater_of_pair[patterns.pair_of_cell], pull, raters
        )
        # A threshold makes all points beyond it less likely: P(beyond) minus whether the value is.
        passed = patterns.code_of_cell[:, None] > np.arange(thresholds)
        beyond = _at_least(shares)[patterns.pair_of_cell]
        slopes[systems + raters : -1] = np.einsum("cn,cnt->t", weights, beyond) - weights.sum(axis=1) @ passed
        # By the logarithm of the standard deviation s: s times the derivative by s.
        slopes[-1] = np.exp(parameters[-1]) * np.sum(left @ self._nodes)
        return total, slopes

    def _residuals(self, shares: FloatArray) -> FloatArray:
        """(cells, nodes): the difference, in points, of a cell's value from its expectation."""
        expected = shares @ np.arange(shares.shape[2])
        return np.asarray(self._patterns.code_of_cell[:, None] - expected[self._patterns.pair_of_cell])


def _shares_at(located: FloatArray, thresholds: FloatArray) -> FloatArray:
    """(..., points): probabilities where units minus severities are `located`."""
    # ln P(point k) = k (unit - severity) - thresholds 1 to k, up to a constant.
    steps = np.concatenate([[0.0], np.cumsum(thresholds)])
    logs = located[..., None] * np.arange(len(steps)) - steps
    # The largest logarithm is subtracted so that no exponential overflows.
    found = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def _at_least(shares: FloatArray) -> FloatArray:
    """(pairs, nodes, thresholds): probabilities of at least each point from the second on."""
    # Sums run from the last point down; the first is excluded, as every value reaches it.
    return np.asarray(shares[:, :, ::-1].cumsum(axis=2)[:, :, -2::-1])
