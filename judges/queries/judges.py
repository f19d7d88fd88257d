"""Judges as pages list them."""

from dataclasses import dataclass

from django.db.models import Count, QuerySet

from annotate.guideline import FrozenDimension
from annotate.models import Project
from judges.methods import METHODS
from judges.models import Judge, Judgment, ScoreFrom


@dataclass(frozen=True)
class JudgeLine:
    """A judge in a list: the name of its method and how many judgments it has in each status."""

    judge: Judge
    method: str
    done: int
    unreadable: int
    failed: int
    waiting: int


def judges_of(project: Project) -> list[JudgeLine]:
    """Return a project's judges by name with their counts. Two queries."""
    judges = Judge.objects.filter(project=project).select_related("endpoint", "template").order_by("name")
    counts: dict[tuple[int, str], int] = {
        (judge, status): count
        for judge, status, count in Judgment.objects.filter(judge__project=project)
        .values_list("judge", "status")
        .annotate(count=Count("pk"))
        .order_by()
    }
    return [_line(judge, counts) for judge in judges]


def usable_judges(project: Project) -> QuerySet[Judge]:
    """Return the judges that can be asked; imported ones cannot."""
    judges = Judge.objects.filter(project=project, endpoint__isnull=False)
    return judges.select_related("endpoint", "template").order_by("name")


def judgments_by_status(judge: Judge) -> list[tuple[str, int]]:
    """Return how many judgments a judge has in each status, empty where it has none. One query."""
    rows = judge.judgments.values_list("status").annotate(count=Count("pk")).order_by("status")
    return [(str(Judgment.Status(status).label), count) for status, count in rows]


def method_label(judge: Judge) -> str:
    """Return the name of a judge's method; its key where this Concord does not have the method."""
    return METHODS[judge.method].label if judge.method in METHODS else judge.method


def _line(judge: Judge, counts: dict[tuple[int, str], int]) -> JudgeLine:
    status = Judgment.Status
    of = {each: counts.get((judge.pk, each), 0) for each in status}
    return JudgeLine(
        judge=judge,
        method=method_label(judge),
        done=of[status.DONE],
        unreadable=of[status.UNREADABLE],
        failed=of[status.FAILED],
        waiting=of[status.PLANNED] + of[status.LEASED],
    )


def refusal(judge: Judge, dimension: FrozenDimension) -> str | None:
    """Return why a judge cannot judge a dimension, None where it can."""
    method = METHODS[judge.method]
    if judge.score_from == ScoreFrom.PROBABILITIES:
        return method.refuses(dimension) or method.refuses_probabilities(dimension)
    return method.refuses(dimension)
