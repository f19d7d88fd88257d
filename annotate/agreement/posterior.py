"""Bayes' rule on logarithms."""

import numpy as np

from annotate.agreement.data import FloatArray


def posterior_of(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probabilities (rows, cases) from logarithms of joint ones, and the (rows,) logarithms of their sums."""
    highest = logs.max(axis=1, keepdims=True)
    joint = np.exp(logs - highest)
    total = joint.sum(axis=1, keepdims=True)
    return joint / total, (np.log(total) + highest)[:, 0]
