"""Pairs of systems for head to head: all, neighbours in human rank, or selected ones."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from django.utils.translation import gettext

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Project, Round, System
from annotate.results.queries.reliability_data import rated_items
from judges.core.errors import RunRefusedError
from judges.core.material import outputs_of

Pair = tuple[int, int]


@dataclass(frozen=True)
class NamedPair:
    pair: Pair
    name: str


def all_pairs(project: Project) -> list[NamedPair]:
    """Return every pair of a project's systems that have items, by name. One query."""
    systems = (
        System.objects.filter(project=project, compares=False, items__isnull=False)
        .distinct()
        .order_by("name")
    )
    return [_name_pair(first, second) for first, second in combinations(systems, 2)]


def neighbouring_pairs(project: Project) -> list[NamedPair]:
    """Return the pairs of systems that are neighbours in rank of human mean scores. Five queries.

    A system's score is the mean over all dimensions but named categories, each on its scale from 0 to 1, of
    its items' mean ratings, after discussion if there was one. Raises RunRefusedError.
    """
    scores = _mean_scores(project)
    if len(scores) < 2:
        raise RunRefusedError(
            gettext(
                "Neighbours in rank need ratings by people of at least two systems, and there are none yet; "
                "choose all pairs or choose them yourself."
            )
        )
    systems = System.objects.in_bulk(scores)
    ranked = sorted(systems.values(), key=lambda system: (-scores[system.pk], system.name))
    return [_name_pair(first, second) for first, second in pairwise(ranked)]


def _mean_scores(project: Project) -> dict[int, float]:
    rounds = Round.objects.select_related("guideline").filter(project=project)
    last = rounds.order_by("-number").first()
    if last is None:
        return {}
    scales = FrozenGuideline.from_json(last.guideline.content)
    system_of = dict(outputs_of(project).values_list("pk", "system"))
    means: dict[int, list[float]] = defaultdict(list)
    for key, rated in rated_items(last).items():
        dimension = scales.dimension(key)
        if dimension is None or not dimension.is_scale or dimension.is_named or not rated.items.size:
            continue
        extent = dimension.scale_maximum - dimension.scale_minimum
        shares = (np.nanmean(rated.data.values, axis=0) - dimension.scale_minimum) / extent
        for system, mean in _shares_by_system(rated.items.tolist(), shares.tolist(), system_of).items():
            means[system].append(mean)
    return {system: sum(values) / len(values) for system, values in means.items()}


def _shares_by_system(
    items: Sequence[int], shares: Sequence[float], system_of: dict[int, int]
) -> dict[int, float]:
    of: dict[int, list[float]] = defaultdict(list)
    for item, share in zip(items, shares, strict=True):
        of[system_of[item]].append(share)
    return {system: sum(values) / len(values) for system, values in of.items()}


def _name_pair(first: System, second: System) -> NamedPair:
    return NamedPair((first.pk, second.pk), f"{first.name} and {second.name}")
