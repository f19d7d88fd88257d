"""The judges of a calibration, in calling order."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from judges.core.access import OF_JUDGES
from judges.core.models import Calibration, Judge, Judgment

Unit = tuple[int, int]
"""The ids of an item and a dimension."""


# These problems come from the text itself, so another call ends the same way.
ABOUT_THE_TEXT = (
    Judgment.Problem.REFUSED,
    Judgment.Problem.FILTERED,
    Judgment.Problem.TRUNCATED,
    Judgment.Problem.TOO_LONG,
)
"""Why a judgment failed that would fail again."""


@dataclass(frozen=True)
class JudgeStage:
    """A judge of a calibration, and the judge that it is compared with, if its confidence needs one."""

    position: int
    judge: Judge
    other: Judge | None = None

    @property
    def judges(self) -> list[Judge]:
        return [self.judge] if self.other is None else [self.judge, self.other]

    @property
    def names(self) -> tuple[str, str]:
        """Return the names of both judges within the bound settings of a certificate."""
        return (
            # The first stage has no number, because certificates bind the only judge under these names.
            ("judge", "other") if self.position == 1 else (f"judge {self.position}", f"other {self.position}")
        )


def stages_of(calibration: Calibration) -> list[JudgeStage]:
    """Return the stages of a stored calibration, the first included. Maximum one query."""
    further = calibration.stages.all()
    # `select_related` would ignore stages that are loaded already, and query again.
    if "stages" not in getattr(calibration, "_prefetched_objects_cache", {}):
        further = further.select_related(*OF_JUDGES)
    first = JudgeStage(1, calibration.judge, calibration.other)
    return [first, *(JudgeStage(each.position, each.judge, each.other) for each in further)]


def number_stages(
    judge: Judge, other: Judge | None, further: Iterable[tuple[Judge, Judge | None]]
) -> list[JudgeStage]:
    return [JudgeStage(number, *each) for number, each in enumerate([(judge, other), *further], start=1)]


def units_to_ask(judge: Judge, units: Collection[Unit]) -> set[Unit]:
    """Return the units without all answers of a judge. One query.

    An unreadable answer counts as an answer: the judge has no value there. An output that its model never
    accepts counts too. A lost connection or a rejected judge does not count.
    """
    ended = (Judgment.Status.DONE, Judgment.Status.UNREADABLE, Judgment.Status.EXCLUDED)
    # A head-to-head judgment has a second item, and is no answer about a single unit.
    own = Judgment.objects.filter(judge=judge, other__isnull=True)
    rows = own.order_by().values_list("item", "dimension", "status", "problem").distinct()
    found: dict[Unit, bool] = {}
    # Portions bound the memory: a judge can have a million judgments.
    for item, dimension, status, problem in rows.iterator(5_000):
        has_ended = status in ended or (status == Judgment.Status.FAILED and problem in ABOUT_THE_TEXT)
        # A unit has all answers only if each of its samples has ended.
        found[item, dimension] = found.get((item, dimension), True) and has_ended
    return {unit for unit in units if not found.get(unit, False)}


@dataclass(frozen=True)
class JudgeToAsk:
    """A judge that must answer for some units before a decision."""

    judge: Judge
    units: Sequence[Unit]

    @property
    def items_by_dimension(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        # The order is fixed, so that equal units always give the same scope.
        for item, dimension in sorted(self.units):
            found.setdefault(dimension, []).append(item)
        return found


def judges_to_ask(stages: Iterable[JudgeStage], units: Collection[Unit]) -> list[JudgeToAsk]:
    """Return the judges of some stages that lack answers about the units. One query for each judge."""
    # A judge that several stages share is asked once.
    judges = {judge.pk: judge for stage in stages for judge in stage.judges}
    found = [(judge, units_to_ask(judge, units)) for judge in judges.values()]
    return [JudgeToAsk(judge, sorted(missing)) for judge, missing in found if missing]
