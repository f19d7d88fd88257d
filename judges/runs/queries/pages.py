"""Data of the pages of runs, except the counts."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotate.core.models import Project
from judges.core.models import Batch, Endpoint, Judge, Judgment, Run
from judges.runs.queries.batches import batches_of
from judges.runs.queries.runs import (
    JudgeStatusCount,
    RunProgress,
    count_by_judge,
    progress_from_counts,
    runs_of,
)
from judges.runs.queries.watching import runs_without_worker

MOST_REASONS = 5
LISTED_RUNS = 50
Status = Judgment.Status


@dataclass(frozen=True)
class JudgeCounts:
    name: str
    total: int
    done: int
    unreadable: int
    failed: int


@dataclass(frozen=True)
class Reason:
    """The reason for judgments without a value, and their number; `problem`: the kind of reason."""

    status: str
    problem: str
    reason: str
    count: int


@dataclass(frozen=True)
class RunLine:
    progress: RunProgress
    judges: Sequence[str]


@dataclass(frozen=True)
class RunState:
    """A run in the form of its page.

    resting: endpoints with a requested pause. silent: endpoints without an answer for some seconds.
    """

    progress: RunProgress
    judges: Sequence[JudgeCounts]
    reasons: Sequence[Reason]
    resting: Sequence[Endpoint]
    silent: Sequence[Endpoint]
    waits_for_worker: bool
    batches: Sequence[Batch]

    @property
    def run(self) -> Run:
        return self.progress.run

    @property
    def moves(self) -> bool:
        """Return True if the page must reload automatically."""
        return moves(self.progress)


def moves(progress: RunProgress) -> bool:
    """Return True if counts may change without a person's action.

    Calls in flight of a paused run still return, but not batches, which remain uncollected. A run that awaits
    an answer may resume.
    """
    run = progress.run
    if run.via == Run.Via.BATCH and run.status != Run.Status.CANCELLED:
        return run.status == Run.Status.RUNNING
    return run.status == Run.Status.RUNNING or progress.in_flight > 0 or run.resumes_until is not None


def run_lines(project: Project) -> list[RunLine]:
    """Return a project's last runs with their counts and judges, the newest first.

    Five queries, or two more while judgments are leased.
    """
    runs = list(runs_of(project.pk)[:LISTED_RUNS])
    counts = count_by_judge([run.pk for run in runs])
    names = dict(Judge.with_candidates.filter(project=project).values_list("pk", "name"))
    asked: defaultdict[int, set[str]] = defaultdict(set)
    for each in counts:
        asked[each.run].add(names[each.judge])
    return [
        RunLine(progress, sorted(asked[progress.run.pk])) for progress in progress_from_counts(runs, counts)
    ]


def run_state(run: Run) -> RunState:
    """Return the state of a run. Eight queries, or two more while judgments are leased."""
    counts = count_by_judge([run.pk])
    (progress,) = progress_from_counts([run], counts)
    judgments = Judgment.objects.filter(run=run)
    resting, silent = _pending_since(run, judgments)
    return RunState(
        progress=progress,
        judges=_judges(counts),
        reasons=_reasons(judgments),
        resting=resting,
        silent=silent,
        waits_for_worker=waits_for_worker(progress),
        batches=batches_of(run),
    )


def _pending_since(run: Run, judgments: QuerySet[Judgment]) -> tuple[list[Endpoint], list[Endpoint]]:
    """Return the paused and the silent endpoints that a run needs. One query."""
    now = timezone.now()
    if run.status != Run.Status.RUNNING and not run.resumes_until:
        return [], []
    of_run = Endpoint.objects.filter(Exists(judgments.filter(judge__endpoint=OuterRef("pk"))))
    held_up = list(of_run.filter(Q(resting_until__gt=now) | Q(next_probe_at__isnull=False)).order_by("name"))
    silent = [each for each in held_up if each.next_probe_at]
    return [each for each in held_up if each not in silent], silent


def waits_for_worker(progress: RunProgress) -> bool:
    """Return True if a running run has had no caller for some time. Maximum one query."""
    run = progress.run
    return run.status == Run.Status.RUNNING and runs_without_worker().filter(pk=run.pk).exists()


def listed_judgments(judgments: QuerySet[Judgment], status: str) -> QuerySet[Judgment]:
    """Return the judgments in a status, with all columns of their list."""
    return load_related(judgments.filter(status=status))


def load_related(judgments: QuerySet[Judgment]) -> QuerySet[Judgment]:
    """Return judgments in order, with all columns of their list."""
    related = ("judge", "dimension", "item__document", "item__system", "other__system")
    return judgments.select_related(*related).order_by("pk")


def _judges(counts: Sequence[JudgeStatusCount]) -> list[JudgeCounts]:
    by_judge: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for each in counts:
        by_judge[each.judge][each.status] += each.count
    names = Judge.with_candidates.filter(pk__in=by_judge).order_by("name").values_list("pk", "name")
    return [
        JudgeCounts(
            name,
            by_judge[pk].total(),
            *(by_judge[pk][status] for status in (Status.DONE, Status.UNREADABLE, Status.FAILED)),
        )
        for pk, name in names
    ]


def _reasons(judgments: QuerySet[Judgment]) -> list[Reason]:
    without = judgments.filter(status__in=(Status.UNREADABLE, Status.FAILED))
    rows = without.values_list("status", "problem", "reason").annotate(count=Count("pk"))
    named = dict(Judgment.Problem.choices)
    return [
        Reason(status, str(named.get(problem, "")), reason, count)
        for status, problem, reason, count in rows.order_by("-count", "reason")[:MOST_REASONS]
    ]
