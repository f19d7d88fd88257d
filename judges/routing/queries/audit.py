"""The audit of what stays with a judge: which units are drawn, and what their ratings say of the rest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.agreement import Interval
from annotate.rating.queries.assigned import Unit
from judges.core.models import RoutingPolicy
from judges.reliability import (
    RatedSample,
    active_probabilities,
    bounds,
    draw,
    uniform_numbers,
    weighted_estimate,
)
from judges.results.queries.scores import Material

LEAST = 0.75  # of the audit share, for every unit; with less, intervals grow (docs/reliability.md)
_STEP = 0.05  # of the audit share, so that few new judgments move no probability


def audit_drawn(
    policy: RoutingPolicy, material: Material, units: Sequence[Unit], distances: npt.NDArray[np.float64]
) -> list[tuple[int, float]]:
    """Return the index of each drawn unit and its probability, by the policy's seed and the unit alone.

    distances: (units,), |RTS - MCQ|, NaN where one of them has no value.
    """
    names = material.unit_names(units)
    drawn = draw(names, audit_probabilities(policy, units, distances), seed=policy.seed)
    places = {name: index for index, name in enumerate(names)}
    return [(places[str(each.unit)], each.probability) for each in drawn]


def audit_probabilities(
    policy: RoutingPolicy, units: Sequence[Unit], distances: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """(units,): the audit share; in an active audit that is their mean on each dimension."""
    share = policy.audit_share
    found = np.full(len(units), share)
    if policy.audit == RoutingPolicy.Audit.RANDOM:
        return found
    dimensions = np.array([dimension for _, dimension in units])
    for dimension in np.unique(dimensions):
        own = dimensions == dimension
        known = ~np.isnan(distances[own])
        usual = distances[own][known].mean() if known.any() else 0.0
        expected = np.where(known, distances[own], usual)
        chances = active_probabilities(expected, share, mix=LEAST, least=LEAST * share)
        found[own] = np.minimum(np.round(chances / share / _STEP) * _STEP * share, 1)
    return found


def drawn_in_any_case(
    policy: RoutingPolicy, material: Material, units: Sequence[Unit]
) -> npt.NDArray[np.bool_]:
    """(units,): which audited units the least probability would have drawn: a simple random audit."""
    if policy.audit == RoutingPolicy.Audit.RANDOM:
        return np.ones(len(units), dtype=bool)
    numbers = uniform_numbers(material.unit_names(units), seed=policy.seed)
    return np.asarray(numbers < LEAST * policy.audit_share)


@dataclass(frozen=True)
class Audited:
    """Audited units: the judge's losses (units,), NaN without a rating; how likely each unit was."""

    losses: npt.NDArray[np.float64]
    chances: npt.NDArray[np.float64]
    in_any_case: npt.NDArray[np.bool_]


def together(parts: Sequence[Audited]) -> Audited:
    """Return the audited units of all dimensions."""
    return Audited(
        np.concatenate([np.empty(0), *(each.losses for each in parts)]),
        np.concatenate([np.empty(0), *(each.chances for each in parts)]),
        np.concatenate([np.empty(0, dtype=bool), *(each.in_any_case for each in parts)]),
    )


def exact_share(found: Audited, confidence_level: float) -> Interval | None:
    """Return the exact interval of the share of errors in all that stays, None where no unit tells it.

    Over the units that were drawn in any case: those share one probability. Source: Clopper and Pearson 1934.
    """
    losses = found.losses[found.in_any_case & ~np.isnan(found.losses)]
    low, high = exact_interval(int(losses.sum()), len(losses), confidence_level)
    if low is None or high is None:
        return None
    return Interval(low, high, f"exact, over {len(losses)}", confidence_level)


def weighted_share(found: Audited, confidence_level: float) -> tuple[float | None, Interval | None]:
    """Return the share of errors in all that stays, each unit weighed by 1 / probability, and an interval.

    The interval is asymptotic (Hajek 1971), and there is none where all rated units agree.
    """
    sample = RatedSample(
        judge=np.zeros(len(found.losses)),
        human=found.losses,
        probabilities=found.chances,
        assigned=np.ones(len(found.losses), dtype=bool),
    )
    estimate = weighted_estimate(sample, weight=0, confidence_level=confidence_level)
    if estimate.interval is None:
        return estimate.value, None
    low, high = max(estimate.interval.low, 0.0), min(estimate.interval.high, 1.0)
    return estimate.value, Interval(low, high, "asymptotic", confidence_level)


def exact_interval(errors: int, rated: int, confidence_level: float) -> tuple[float | None, float | None]:
    """Return the two-sided interval of Clopper and Pearson 1934 for a share; two None without ratings."""
    if not rated:
        return None, None
    tail = (1 - confidence_level) / 2
    low = 1 - float(bounds.clopper_pearson_upper(rated - errors, rated, tail))
    return low, float(bounds.clopper_pearson_upper(errors, rated, tail))
