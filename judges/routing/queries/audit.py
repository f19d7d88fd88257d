"""Audit of the units that stay with a judge: the sample, and the inference from its ratings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, Max, OuterRef

from agreement import Interval
from agreement.reliability import (
    LEAST_RATINGS,
    AuditFinding,
    RatedSample,
    active_probabilities,
    bounds,
    check_audit,
    draw,
    draw_at_least,
    share_to_reach,
    share_with_least,
    thin_to_one_probability,
    weighted_estimate,
)
from annotate.core.models import Rating, Round
from annotate.rating.queries.assignments import Unit
from judges.core.models import RoutedUnit, RoutingPolicy
from judges.results.queries.scores import Material

LEAST = 0.75  # of the audit share, for every unit; less widens intervals (docs/explanation/reliability.md)
_STEP = 0.05  # of the audit share, so that few new judgments move no probability


@dataclass(frozen=True)
class AuditCell:
    """One system on one dimension: the numbers of staying and audited units. share: of them on average.

    Excludes units of development documents, which are not audited.
    """

    system: str
    dimension: int
    kept: int
    audited: int
    share: float

    @property
    def too_few(self) -> bool:
        # If all of a few units are audited, there is nothing to estimate.
        return self.audited < min(LEAST_RATINGS, self.kept)


def draw_audit(
    policy: RoutingPolicy, material: Material, units: Sequence[Unit], distances: npt.NDArray[np.float64]
) -> tuple[list[tuple[int, float]], list[AuditCell]]:
    """Return the index and probability of each audited unit, by the policy's seed and the unit alone.

    At random, with at least `audit_least` units of each system on each dimension, whose cells are returned
    too. distances: (units,), |RTS - MCQ|, NaN if one of them has no value.
    """
    # By names, so that a restored project audits the same units under its new ids.
    names = material.unit_names(units)
    system_of = dict(zip(material.items.tolist(), material.systems, strict=True))
    cells: dict[tuple[str, int], list[int]] = {}
    for index, (item, dimension) in enumerate(units):
        cells.setdefault((system_of[item], dimension), []).append(index)
    if policy.audit == RoutingPolicy.Audit.ACTIVE:
        chances = audit_probabilities(policy, units, distances, cells.values())
        # A hash of seed and name decides, so the order of the units does not matter.
        drawn = draw(names, chances, seed=policy.seed)
    else:
        # Each cell is sampled by itself, since the minimum applies to every system on every dimension.
        drawn = tuple(
            each
            for cell in cells.values()
            for each in draw_at_least(
                [names[index] for index in cell],
                share=policy.audit_share,
                least=policy.audit_least,
                seed=policy.seed,
            )
        )
    positions = {name: index for index, name in enumerate(names)}
    found = {positions[str(each.unit)]: each.probability for each in drawn}
    return sorted(found.items()), [
        AuditCell(
            system=system,
            dimension=dimension,
            kept=len(cell),
            audited=sum(index in found for index in cell),
            share=audited_share(policy, len(cell)),
        )
        for (system, dimension), cell in cells.items()
    ]


def audit_probabilities(
    policy: RoutingPolicy,
    units: Sequence[Unit],
    distances: npt.NDArray[np.float64],
    cells: Iterable[list[int]],
) -> npt.NDArray[np.float64]:
    """(units,): probabilities in an active audit; their mean on each dimension is the audit share.

    If that share is unlikely to sample `audit_least` units of a system, its share is the one that does in 19
    of 20 samples. cells: the indices of each system's units on each dimension.
    """
    found = np.empty(len(units))
    dimensions = np.array([dimension for _, dimension in units])
    for dimension in np.unique(dimensions):
        own = dimensions == dimension
        found[own] = _active_chances(distances[own], policy.audit_share)
    for cell in cells:
        # The number of selected units varies: 5 % of 20 units are none in one of three samples.
        share = share_to_reach(policy.audit_least, len(cell))
        if share > policy.audit_share:
            found[cell] = _active_chances(distances[cell], share)
    return found


def _active_chances(distances: npt.NDArray[np.float64], share: float) -> npt.NDArray[np.float64]:
    known = ~np.isnan(distances)
    # A unit without a distance counts as an average one.
    usual = distances[known].mean() if known.any() else 0.0
    chances = active_probabilities(np.where(known, distances, usual), share, mix=LEAST, least=LEAST * share)
    # Rounding to a step may exceed a probability of 1.
    return np.minimum(np.round(chances / share / _STEP) * _STEP * share, 1)


def mean_share(cells: Iterable[AuditCell]) -> float | None:
    """Return the share of all units of these cells that is audited on average; None if none stays."""
    given = list(cells)
    kept = sum(each.kept for each in given)
    return sum(each.share * each.kept for each in given) / kept if kept else None


def audited_share(policy: RoutingPolicy, kept: int) -> float:
    """Return the share of a system's kept units on a dimension that is audited on average."""
    if policy.audit == RoutingPolicy.Audit.ACTIVE:
        return max(policy.audit_share, share_to_reach(policy.audit_least, kept))
    return share_with_least(kept, share=policy.audit_share, least=policy.audit_least)


@dataclass(frozen=True)
class Audited:
    """Audited units: names, the judge's losses (units,), NaN without a rating; how likely each unit was.

    documents: the document of each. times: the seconds at which it was last rated, NaN without a rating.
    seed: the policy's, by which units are left out until all that remain had one probability. complete:
    (units,), whether all raters of the unit have answered. judges: (units,), the key of the judge that
    decides each.
    """

    names: Sequence[str]
    losses: npt.NDArray[np.float64]
    chances: npt.NDArray[np.float64]
    documents: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]
    seed: int
    complete: npt.NDArray[np.bool_]
    judges: npt.NDArray[np.int64]

    def of(self, judge: int) -> "Audited":
        """Return the units that a judge decides."""
        chosen = self.judges == judge
        names = [self.names[index] for index in np.flatnonzero(chosen).tolist()]
        return replace(self, names=names, **{name: getattr(self, name)[chosen] for name in _ARRAYS})

    @property
    def of_complete_documents(self) -> "Audited":
        """Return the same without the losses of documents that have an incomplete unit.

        A document joins at its last rating, so no later rating withdraws what these losses contradict.
        """
        # A document waits until all its audited units have their ratings.
        waits = np.isin(self.documents, self.documents[~self.complete])
        last: dict[int, float] = {}
        for document, time in zip(self.documents.tolist(), self.times.tolist(), strict=True):
            # `fmax` ignores the NaN of units without a rating.
            last[document] = np.fmax(last.get(document, np.nan), time)
        times = np.array([last[each] for each in self.documents.tolist()], dtype=float)
        return replace(self, losses=np.where(waits, np.nan, self.losses), times=times)

    @cached_property
    def has_equal_probability(self) -> npt.NDArray[np.bool_]:
        """(units,): True for units that form an audit with equal probabilities."""
        return thin_to_one_probability(self.names, self.chances, seed=self.seed)

    @property
    def unequal(self) -> bool:
        return len(np.unique(self.chances)) > 1


_ARRAYS = ("losses", "chances", "documents", "times", "complete", "judges")


def together(parts: Sequence[Audited]) -> Audited:
    """Return the units of all dimensions, of which there is one or more."""
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in parts]) for name in _ARRAYS
    }
    return replace(parts[0], names=[name for each in parts for name in each.names], **arrays)


def rating_times(policy: RoutingPolicy, round: Round) -> dict[Unit, float]:
    """Return the time of each audited unit's last rating, in seconds. One query."""
    audited = RoutedUnit.objects.filter(
        policy=policy,
        why=RoutedUnit.Why.AUDIT,
        item=OuterRef("assignment__item"),
        dimension=OuterRef("dimension"),
    )
    # “Cannot rate” is an answer without a value, and shows no error of the judge.
    rated = Rating.objects.filter(Exists(audited), assignment__round=round, value__isnull=False).order_by()
    last = rated.values_list("assignment__item", "dimension").annotate(last=Max("updated_at"))
    return {(item, dimension): at.timestamp() for item, dimension, at in last}


def check_in_order(
    found: Audited, risk: float, *, units: int | None, significance_level: float
) -> AuditFinding:
    """Return the test of the audit against a risk, over units of one probability in the order of rating.

    Valid at every look, so the page may be read and people notified after each rating.
    """
    # A stable sort gives equal times one order, so each look continues the last.
    order = np.argsort(found.times, kind="stable")  # NaN last
    # The bets suppose one probability, so units with a larger one are thinned.
    order = order[found.has_equal_probability[order]]
    return check_audit(
        found.losses[order],
        risk,
        documents=found.documents[order],
        units=units,
        significance_level=significance_level,
    )


def exact_share(found: Audited, confidence_level: float) -> Interval | None:
    """Return the exact interval of the share of errors in all staying units, None without usable units.

    Uses units sampled with one probability. Source: Clopper and Pearson 1934.
    """
    losses = found.losses[found.has_equal_probability & ~np.isnan(found.losses)]
    low, high = exact_interval(int(losses.sum()), len(losses), confidence_level)
    if low is None or high is None:
        return None
    return Interval(low, high, f"exact, over {len(losses)}", confidence_level)


def weighted_share(found: Audited, confidence_level: float) -> tuple[float | None, Interval | None]:
    """Return the share of errors in all staying units, each weighed by 1 / probability, and an interval.

    The interval is asymptotic (Hajek 1971), and there is none if all rated units agree.
    """
    # The losses are the values to estimate; weight 0 leaves the judge's values out of the estimate.
    sample = RatedSample(
        judge=np.zeros(len(found.losses)),
        human=found.losses,
        probabilities=found.chances,
        assigned=np.ones(len(found.losses), dtype=bool),
    )
    estimate = weighted_estimate(sample, weight=0, confidence_level=confidence_level)
    if estimate.interval is None:
        return estimate.value, None
    # A normal interval can exceed the range of a share.
    low, high = max(estimate.interval.low, 0.0), min(estimate.interval.high, 1.0)
    return estimate.value, Interval(low, high, "asymptotic", confidence_level)


def exact_interval(errors: int, rated: int, confidence_level: float) -> tuple[float | None, float | None]:
    """Return the two-sided interval of Clopper and Pearson 1934 for a share; two None without ratings."""
    if not rated:
        return None, None
    tail = (1 - confidence_level) / 2
    # The lower limit of the errors follows from the upper limit of the units without an error.
    low = 1 - float(bounds.clopper_pearson_upper(rated - errors, rated, tail))
    return low, float(bounds.clopper_pearson_upper(errors, rated, tail))
