"""Systems with different sampling probabilities of their units, so that a plain mean is biased."""

from collections.abc import Mapping

from annotate.core.models import AssignedUnit
from annotate.results.queries.material import ItemOrigins, RatedRound

Unequal = Mapping[str, frozenset[str]]
"""The names of such systems by the key of the dimension."""


def unequally_drawn(rated: RatedRound, items: ItemOrigins) -> Unequal:
    """Return the systems with some units certainly rated and others sampled. One query.

    Systems with a rating of every unit are not samples. Units without an assignment have a lower probability.
    """
    asked = AssignedUnit.objects.filter(
        assignment__round__project=rated.round.project_id, assignment__round__number__lte=rated.round.number
    ).values_list("dimension__key", "assignment__item", "inclusion_probability")
    chances: dict[str, dict[int, float]] = {}
    for key, item, probability in asked.order_by("pk"):
        chances.setdefault(key, {})[item] = probability
    of_system: dict[str, set[int]] = {}
    for item, system in items.systems.items():
        if item not in items.gold:
            of_system.setdefault(system, set()).add(item)
    found: dict[str, frozenset[str]] = {}
    for each in rated.dimensions:
        drawn = chances.get(each.key, {})
        given = set(rated.rated[each.key].items.tolist())
        found[each.key] = frozenset(
            system for system, own in of_system.items() if drawn and _is_unequal(own, drawn, given)
        )
    return found


def _is_unequal(own: set[int], drawn: Mapping[int, float], given: set[int]) -> bool:
    """Return True if the units of an incompletely rated system (item keys) differ in probability."""
    if own <= given:
        return False
    shares = [drawn[item] for item in own if drawn.get(item, 1.0) < 1]
    of_others = min(shares, default=0.0)
    return len({drawn.get(item, 1.0 if item in given else of_others) for item in own}) > 1
