"""Hidden checks of an annotator: how often values are repeated, and how often gold values are met."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from annotate.core.models import (
    Assignment,
    AssignmentPlan,
    GoldItem,
    GoldValue,
    MeasurementLevel,
    Project,
    Rating,
    Round,
)
from annotate.rating.calibration import Calibration, calibrate
from annotate.rating.planning.checks import Checking

Plan = Assignment.Plan
Unit = tuple[int, int, int]
"""The keys of an annotator, an item and a dimension."""


@dataclass(frozen=True)
class CheckComparison:
    """Pairs of values: how many there are, are equal, and differ by one step at most.

    `near` is None where the values are names, which have no distance.
    """

    pairs: int
    same: int
    near: int | None


@dataclass(frozen=True)
class Checks:
    """What an annotator's hidden checks came to, by name of the dimension and in all.

    calibrations: how the values lie to those of gold items.
    """

    repeats: Mapping[str, CheckComparison] = field(default_factory=dict)
    gold: Mapping[str, CheckComparison] = field(default_factory=dict)
    calibrations: Mapping[str, Calibration] = field(default_factory=dict)

    @property
    def all_repeats(self) -> CheckComparison:
        """Repeated values of all dimensions."""
        return _together(self.repeats.values())

    @property
    def all_gold(self) -> CheckComparison:
        """Values on gold items of all dimensions."""
        return _together(self.gold.values())


def checking_of(choice: AssignmentPlan) -> Checking:
    """Return how often checks come in a project."""
    return Checking(choice.gold_every, choice.repeat_every)


def hidden_gold(project: Project) -> list[int]:
    """Return the keys of the items that are hidden in Round I: those with a gold value. One query."""
    items = GoldItem.objects.filter(
        item__document__project=project, use=GoldItem.Use.HIDDEN, values__isnull=False
    )
    return list(items.order_by("item").distinct().values_list("item", flat=True))


def checks_of(project: Project) -> Mapping[int, Checks]:
    """Return what the hidden checks of each annotator (by key) came to. Three queries."""
    repeats, golds = _check_values(project)
    first = _first_values(project, repeats)
    gold = {
        (item, dimension): value
        for item, dimension, value in GoldValue.objects.filter(
            gold__item__document__project=project, gold__use=GoldItem.Use.HIDDEN
        ).values_list("gold__item", "dimension", "value")
    }
    again = [(unit, first[unit], given) for unit, given in repeats.items() if unit in first]
    right = [(unit, gold[unit[1:]], given) for unit, given in golds.items() if unit[1:] in gold]
    annotators = {unit[0] for unit, _, _ in (*again, *right)}
    return {
        annotator: Checks(
            _by_dimension(each for each in again if each[0][0] == annotator),
            _by_dimension(each for each in right if each[0][0] == annotator),
            _calibrations(each for each in right if each[0][0] == annotator),
        )
        for annotator in annotators
    }


@dataclass(frozen=True)
class _Given:
    value: int
    dimension: str
    is_named: bool


def _check_values(project: Project) -> tuple[dict[Unit, _Given], dict[Unit, _Given]]:
    ratings = Rating.objects.filter(
        assignment__round__project=project, assignment__round__number=Round.CHECKS, value__isnull=False
    ).order_by("dimension__position", "dimension")
    columns = (
        "assignment__plan",
        "assignment__annotator",
        "assignment__item",
        "dimension",
        "value",
        "dimension__name",
        "dimension__measurement_level",
    )
    found: dict[str, dict[Unit, _Given]] = {Plan.REPEAT: {}, Plan.GOLD: {}}
    for plan, annotator, item, dimension, value, name, level in ratings.values_list(*columns):
        given = _Given(value or 0, name, level == MeasurementLevel.NOMINAL)
        found[plan][annotator or 0, item, dimension] = given
    return found[Plan.REPEAT], found[Plan.GOLD]


def _first_values(project: Project, repeats: Iterable[Unit]) -> dict[Unit, int]:
    wanted = set(repeats)
    ratings = Rating.objects.filter(
        assignment__round__project=project,
        assignment__round__number=1,
        assignment__item__in={item for _, item, _ in wanted},
        value__isnull=False,
    )
    rows = ratings.values_list("assignment__annotator", "assignment__item", "dimension", "value")
    return {
        (annotator, item, dimension): value
        for annotator, item, dimension, value in rows
        if annotator is not None and value is not None and (annotator, item, dimension) in wanted
    }


def _by_dimension(pairs: Iterable[tuple[Unit, int, _Given]]) -> dict[str, CheckComparison]:
    return {name: _compare_pairs(group) for name, group in _grouped(pairs).items()}


def _calibrations(pairs: Iterable[tuple[Unit, int, _Given]]) -> dict[str, Calibration]:
    found = {
        name: calibrate([(given.value, right) for right, given in group], is_named=group[0][1].is_named)
        for name, group in _grouped(pairs).items()
    }
    return {name: each for name, each in found.items() if each}


def _grouped(pairs: Iterable[tuple[Unit, int, _Given]]) -> dict[str, list[tuple[int, _Given]]]:
    groups: dict[str, list[tuple[int, _Given]]] = defaultdict(list)
    for _, expected, given in pairs:
        groups[given.dimension].append((expected, given))
    return groups


def _compare_pairs(pairs: list[tuple[int, _Given]]) -> CheckComparison:
    apart = [abs(expected - given.value) for expected, given in pairs]
    near = None if pairs[0][1].is_named else sum(distance <= 1 for distance in apart)
    return CheckComparison(len(pairs), apart.count(0), near)


def _together(parts: Iterable[CheckComparison]) -> CheckComparison:
    parts = list(parts)
    near = None if any(each.near is None for each in parts) else sum(each.near or 0 for each in parts)
    return CheckComparison(sum(each.pairs for each in parts), sum(each.same for each in parts), near)
