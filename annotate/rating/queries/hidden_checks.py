"""Hidden checks of an annotator: agreement with own earlier values, and with gold values."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean

from annotate.core.models import (
    Assignment,
    AssignmentPlan,
    GoldItem,
    GoldValue,
    MeasurementLevelChoices,
    Membership,
    Project,
    Rating,
    RatingChange,
    Round,
)
from annotate.core.scale import distance, normalize
from annotate.rating.planning import Checking


@dataclass(frozen=True)
class ReferenceSide:
    """The values on one side of their reference; least, most: differences in points."""

    count: int
    least: float
    most: float


@dataclass(frozen=True)
class RaterCalibration:
    """Values compared with their references.

    `above`, `below` and `bias` are None for categories, which have no distance. Each side is also None
    without values on it. bias: mean of value minus reference, in points of the scale.
    """

    pairs: int
    same: int
    above: ReferenceSide | None
    below: ReferenceSide | None
    bias: float | None

    @property
    def others(self) -> int:
        return self.pairs - self.same

    @property
    def distance(self) -> float:
        return abs(self.bias or 0)


def calibrate(pairs: Sequence[tuple[float, float]], *, is_named: bool) -> RaterCalibration | None:
    """Return the comparison of values with their references; None without any, as a share of 0 is undefined.

    pairs: each a value and its reference, on one scale. is_named: True if the values are codes of categories.
    """
    if not pairs:
        return None
    apart = [normalize(value - reference) for value, reference in pairs]
    same = apart.count(0)
    if is_named:
        return RaterCalibration(len(pairs), same, None, None, None)
    above, below = _side(each for each in apart if each > 0), _side(-each for each in apart if each < 0)
    return RaterCalibration(len(pairs), same, above, below, fmean(apart))


def _side(distances: Iterable[float]) -> ReferenceSide | None:
    found = sorted(distances)
    return ReferenceSide(len(found), found[0], found[-1]) if found else None


Plan = Assignment.Plan
Unit = tuple[int, int, int]
"""The keys of an annotator, an item and a dimension."""


@dataclass(frozen=True)
class CheckComparison:
    """Pairs of values: their number, the number of equal pairs, and of pairs within one step.

    `near` is None for categories, which have no distance.
    """

    pairs: int
    same: int
    near: int | None


@dataclass(frozen=True)
class Checks:
    """The results of an annotator's hidden checks, by name of the dimension and in total.

    calibrations: comparisons of the values with the values of gold items.
    """

    repeats: Mapping[str, CheckComparison] = field(default_factory=dict)
    gold: Mapping[str, CheckComparison] = field(default_factory=dict)
    calibrations: Mapping[str, RaterCalibration] = field(default_factory=dict)

    @property
    def all_repeats(self) -> CheckComparison:
        return _together(self.repeats.values())

    @property
    def all_gold(self) -> CheckComparison:
        return _together(self.gold.values())


def checking_of(choice: AssignmentPlan) -> Checking:
    return Checking(choice.gold_every, choice.repeat_every)


def hidden_gold(project: Project) -> list[int]:
    """Return the keys of the items hidden in Round I: items with a gold value. One query."""
    # A hidden item without a value can check no rater.
    items = GoldItem.objects.filter(
        item__document__project=project, use=GoldItem.Use.HIDDEN, values__isnull=False
    )
    return list(items.order_by("item").distinct().values_list("item", flat=True))


def checks_of(project: Project) -> Mapping[int, Checks]:
    """Return the results of each annotator's (by key) hidden checks. Three queries."""
    repeats, golds = _check_values(project)
    # Only the units that a check has repeated are read from Round I.
    wanted = set(repeats)
    ratings = Rating.objects.filter(
        assignment__round__project=project,
        assignment__round__number=1,
        assignment__item__in={item for _, item, _ in wanted},
        value__isnull=False,
    )
    rows = ratings.values_list("assignment__annotator", "assignment__item", "dimension", "value")
    first = {
        (annotator, item, dimension): value
        for annotator, item, dimension, value in rows
        if annotator is not None and value is not None and (annotator, item, dimension) in wanted
    }
    again = [(unit, first[unit], given) for unit, given in repeats.items() if unit in first]
    right = _pair_with_reference(project, golds)
    annotators = {unit[0] for unit, _, _ in (*again, *right)}
    return {
        annotator: _checks(
            [each for each in again if each[0][0] == annotator],
            [each for each in right if each[0][0] == annotator],
        )
        for annotator in annotators
    }


def checks_after_blocks(annotator: Membership, ends: Mapping[int, datetime]) -> Checks | None:
    """Return the results of an annotator's hidden checks in complete blocks, None without checks.

    ends: for each assignment of these blocks (by key), the end time of its block. Values are the ones of that
    time. A later change has no effect on the result, and so cannot reveal the checks. Four queries.
    """
    # The checks among the assignments of complete blocks, and the first assignments of their items.
    met = Assignment.objects.filter(pk__in=ends, round__number=Round.CHECKS).order_by()
    checks = {item: (key, plan) for key, item, plan in met.values_list("pk", "item", "plan")}
    own = Assignment.objects.filter(
        round__project=annotator.project_id, round__number=1, annotator=annotator, item__in=checks
    )
    first = {item: key for key, item in own.values_list("pk", "item")}
    then = {key: ends[key] for key, _ in checks.values()}
    # First values are also read at the end of the block with the repeat.
    then.update({key: ends[checks[item][0]] for item, key in first.items()})
    held = _values_at(then)
    again, golds = [], {}
    for item, (key, plan) in checks.items():
        for dimension, given in held.get(key, {}).items():
            unit = (annotator.pk, item, dimension)
            before = held.get(first.get(item, 0), {}).get(dimension)
            if plan == Plan.GOLD:
                golds[unit] = given
            elif before is not None:
                again.append((unit, before.value, given))
    right = _pair_with_reference(annotator.project, golds)
    return _checks(again, right) if again or right else None


def _values_at(times: Mapping[int, datetime]) -> dict[int, dict[int, "_CheckValue"]]:
    changes = RatingChange.objects.filter(rating__assignment__in=times)
    dimension = "rating__dimension"
    # By revision, so that the last value before the end of the block remains.
    rows = changes.order_by(f"{dimension}__position", dimension, "rating", "revision").values_list(
        *("rating__assignment", dimension, "at", "value_after"),
        *(f"{dimension}__name", f"{dimension}__measurement_level"),
    )
    found: dict[int, dict[int, _CheckValue]] = defaultdict(dict)
    for assignment, key, at, value, name, level in rows:
        if assignment is not None and at <= times[assignment]:
            # A later change without a value removes the earlier value.
            found[assignment].pop(key, None)
            if value is not None:
                found[assignment][key] = _CheckValue(value, name, level == MeasurementLevelChoices.NOMINAL)
    return found


def _pair_with_reference(project: Project, golds: Mapping[Unit, "_CheckValue"]) -> "list[_Pair]":
    reference = {
        (item, dimension): value
        for item, dimension, value in GoldValue.objects.filter(
            gold__item__document__project=project,
            gold__use=GoldItem.Use.HIDDEN,
            gold__bridging__isnull=True,  # other raters' means: differences are severity, not errors
        ).values_list("gold__item", "dimension", "value")
    }
    return [(unit, reference[unit[1:]], given) for unit, given in golds.items() if unit[1:] in reference]


def _checks(again: "Sequence[_Pair]", right: "Sequence[_Pair]") -> Checks:
    repeats, golds = _group_by_dimension(again), _group_by_dimension(right)
    calibrations = {
        name: calibrate([(given.value, right) for right, given in group], is_named=group[0][1].is_named)
        for name, group in golds.items()
    }
    return Checks(
        {name: _compare_pairs(group) for name, group in repeats.items()},
        {name: _compare_pairs(group) for name, group in golds.items()},
        {name: each for name, each in calibrations.items() if each},
    )


@dataclass(frozen=True)
class _CheckValue:
    value: float
    dimension: str
    is_named: bool


_Pair = tuple[Unit, float, _CheckValue]
"""A unit with the value that is expected and the one that was given."""


def _check_values(project: Project) -> tuple[dict[Unit, _CheckValue], dict[Unit, _CheckValue]]:
    ratings = Rating.objects.filter(
        assignment__round__project=project, assignment__round__number=Round.CHECKS, value__isnull=False
    ).order_by("dimension__position", "dimension")
    columns = (
        *("assignment__plan", "assignment__annotator", "assignment__item"),
        *("dimension", "value", "dimension__name", "dimension__measurement_level"),
    )
    found: dict[str, dict[Unit, _CheckValue]] = {Plan.REPEAT: {}, Plan.GOLD: {}}
    for plan, annotator, item, dimension, value, name, level in ratings.values_list(*columns):
        given = _CheckValue(value or 0, name, level == MeasurementLevelChoices.NOMINAL)
        found[plan][annotator or 0, item, dimension] = given
    return found[Plan.REPEAT], found[Plan.GOLD]


def _group_by_dimension(pairs: Iterable[_Pair]) -> dict[str, list[tuple[float, _CheckValue]]]:
    groups: dict[str, list[tuple[float, _CheckValue]]] = defaultdict(list)
    for _, expected, given in pairs:
        groups[given.dimension].append((expected, given))
    return groups


def _compare_pairs(pairs: list[tuple[float, _CheckValue]]) -> CheckComparison:
    apart = [distance(expected, given.value) for expected, given in pairs]
    near = None if pairs[0][1].is_named else sum(each <= 1 for each in apart)
    return CheckComparison(len(pairs), apart.count(0), near)


def _together(parts: Iterable[CheckComparison]) -> CheckComparison:
    parts = list(parts)
    near = None if any(each.near is None for each in parts) else sum(each.near or 0 for each in parts)
    return CheckComparison(sum(each.pairs for each in parts), sum(each.same for each in parts), near)
