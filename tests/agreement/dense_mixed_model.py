"""The crossed model the plain way: -2 log restricted likelihood from a covariance of every two ratings."""

from collections.abc import Callable

import numpy as np

Criterion = Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]


def criterion(values: np.ndarray) -> Criterion:
    """Of variances as `fit_by_reml` orders them: the deviance, the means, and their covariance."""
    rater, document, system = np.nonzero(~np.isnan(values))
    y, design = values[rater, document, system], np.eye(values.shape[2])[system]

    def equal(*labels: np.ndarray) -> np.ndarray:
        return np.array([each[:, None] == each for each in labels]).all(axis=0).astype(float)

    parts = [
        equal(rater),
        equal(rater, system),
        equal(document),
        equal(rater, document),
        equal(document, system),
        np.eye(len(y)),
    ]

    def at(variances: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        inverse = np.linalg.inv(np.tensordot(variances, parts, 1))
        covariance = np.linalg.inv(design.T @ inverse @ design)
        means = covariance @ design.T @ inverse @ y
        left = y - design @ means
        logs = -np.linalg.slogdet(inverse)[1] - np.linalg.slogdet(covariance)[1]
        return float(logs + left @ inverse @ left), means, covariance

    return at


def simulated(
    seed: int, raters: int, documents: int, systems: int, deviations: tuple[float, ...], gaps: float
) -> np.ndarray:
    """(raters, documents, systems) of the model, standard deviations in the same order; some missing."""
    generator = np.random.default_rng(seed)
    shapes = [
        (raters, 1, 1),
        (raters, 1, systems),
        (1, documents, 1),
        (raters, documents, 1),
        (1, documents, systems),
        (raters, documents, systems),
    ]
    values = 3 + 0.3 * np.arange(systems) + np.zeros((raters, documents, systems))
    for deviation, shape in zip(deviations, shapes, strict=True):
        values += deviation * generator.normal(size=shape)
    values[generator.random(values.shape) < gaps] = np.nan
    return values
