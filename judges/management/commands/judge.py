"""manage.py judge PROJECT --judge NAME."""

import json
import signal
import threading
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections

from annotate.core.models import Project
from annotate.management.base import ConcordCommand, project_called
from judges.core.models import Judge, Run
from judges.core.specification import Scope
from judges.endpoints.queries import usable_judges
from judges.methods import METHODS
from judges.runs.commands.collecting import collect, needs_work
from judges.runs.commands.runs import pause_run, plan_run, start_run
from judges.runs.forms import filtered_items
from judges.runs.queries.pages import moves, waits_for_worker
from judges.runs.queries.plans import RunPlan, plan_of
from judges.runs.queries.runs import RunProgress, batches_of, run_progress
from judges.runs.queries.samples import MOST_DOCUMENTS, Pair, all_pairs, neighbouring_pairs
from judges.templatetags.judging import amount, batch_state, duration, money, pace

LOOK_EVERY, FIRST_LOOK_AFTER = 1.0, 0.2  # seconds
SLICE = 60.0
BAR = 30
# Shells use 128 + 2 for a process that SIGINT ended.
PAUSED_BY_HAND = 130


class Command(ConcordCommand):
    """Plans a run of judges over a project, starts it and follows it to its end.

    The exit code is 0 when every judgment has an answer. It is 1 when some failed, are pending in another run
    or the run was stopped, and 130 when Ctrl-C paused it.
    """

    _asked_for_worker = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--judge", action="append", required=True, metavar="NAME", help="once per judge")
        parser.add_argument(
            "--dimension", action="append", metavar="KEY", help="once per dimension; else all"
        )
        parser.add_argument(
            "--documents", type=int, metavar="N", help="only a sample of N of the documents that results use"
        )
        parser.add_argument(
            "--items", metavar="FILTER", help="only items of a filter, as the list of items has it: tag=hard"
        )
        parser.add_argument("--budget", metavar="X", help="the most to spend")
        parser.add_argument(
            "--pairs", choices=["all", "neighbours"], default="all", help="for judges that compare two texts"
        )
        parser.add_argument(
            "--batch",
            action="store_true",
            help="ask through the provider's batch interface: half the price, up to 24 hours",
        )
        parser.add_argument(
            "--keep-messages",
            action="store_true",
            help="store the messages of each judgment, not only their hash",
        )
        parser.add_argument(
            "--reuse",
            action="store_true",
            help="reuse stored answers of identical calls at temperature 0",
        )
        parser.add_argument("--dry-run", action="store_true", help="show the steps and write nothing")
        parser.add_argument("--here", action="store_true", help="make the calls in this process")
        parser.add_argument("--json", action="store_true", help="print plan and result as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        judges = [_judge(project, name) for name in dict.fromkeys(options["judge"])]
        keys = list(project.dimensions.values_list("key", flat=True))
        if unknown := [key for key in options["dimension"] or () if key not in keys]:
            raise CommandError(
                f"There is no dimension {unknown[0]!r}; there are: {', '.join(keys) or 'none'}."
            )
        # The scope and its plan, before anything is written.
        documents = options["documents"]
        if documents is not None and not 1 <= documents <= MOST_DOCUMENTS:
            raise CommandError(
                f"A sample has 1 to {MOST_DOCUMENTS:,} documents; leave it out for all of them."
            )
        items = filtered_items(project, options["items"]) if options["items"] else None
        pairs = _pairs(project, judges, options["pairs"])
        scope = Scope(judges, options["dimension"] or keys, pairs, documents, items=items)
        via = Run.Via.BATCH if options["batch"] else Run.Via.CALLS
        plan = plan_of(project, scope, via)
        self._say(options, plan_as_text(plan))
        if options["dry_run"] or not plan.calls:
            self._result(options, plan, None)
            # Scripts must not take judgments without an answer for a complete run.
            if not options["dry_run"] and (plan.waiting or plan.failed):
                raise SystemExit(1)
            return
        # The run, followed to its end.
        budget = _budget(options["budget"])
        run = plan_run(
            project=project,
            scope=scope,
            by=None,
            budget=budget,
            via=via,
            keeps_messages=options["keep_messages"],
            reuses_answers=options["reuse"],
        )
        start_run(run=run)
        paused = self._follow(run, options)
        progress = run_progress(Run.objects.get(pk=run.pk))
        self._result(options, plan, progress)
        if paused:
            raise SystemExit(PAUSED_BY_HAND)
        if progress.failed or progress.run.status != Run.Status.FINISHED:
            raise SystemExit(1)

    def _follow(self, run: Run, options: dict[str, Any]) -> bool:
        """Show the run's progress until it ends; Ctrl-C pauses it, and calls in flight are finished."""
        paused, began = False, time.monotonic()
        # Python handles signals in the main thread alone, so the calls run in another one. The end of this
        # block ends after the calls in flight.
        with ThreadPoolExecutor(1) as here, interruptions() as interrupted:
            work = here.submit(_work, run.pk) if options["here"] else None
            while not self._has_ended(run, work, options):
                # Frequent looks at a new run let the command end soon after a short one.
                pause = min(LOOK_EVERY, max(FIRST_LOOK_AFTER, (time.monotonic() - began) / 20))
                # The event stays set after Ctrl-C, so waiting for it would return at once.
                if paused:
                    time.sleep(pause)
                elif interrupted.wait(pause):
                    pause_run(run=run)
                    paused = True
        return paused

    def _has_ended(self, run: Run, work: "Future[None] | None", options: dict[str, Any]) -> bool:
        progress = run_progress(Run.objects.get(pk=run.pk))
        self._show(progress, options)
        if work is None and not self._asked_for_worker and waits_for_worker(progress):
            self._asked_for_worker = True
            self.stderr.write("\nNo worker is asking. Start one: celery -A concord worker; or use --here.")
        if work is not None and work.done():
            # Raises the error that ended the calls, if any.
            work.result()
            return True
        return work is None and not moves(progress)

    def _show(self, progress: RunProgress, options: dict[str, Any]) -> None:
        if options["verbosity"] and self.stderr.isatty():
            line = "  ".join([bar(progress), *batches_as_text(progress.run)[-1:]])
            # The codes return to the start of the line and erase it.
            self.stderr.write(f"\r\x1b[K{line}", ending="")
            self.stderr.flush()

    def _say(self, options: dict[str, Any], lines: list[str]) -> None:
        if not options["json"]:
            self.stdout.write("\n".join(lines))

    def _result(self, options: dict[str, Any], plan: RunPlan, progress: RunProgress | None) -> None:
        if progress and options["verbosity"] and self.stderr.isatty():
            self.stderr.write("")
        if options["json"]:
            self.stdout.write(
                json.dumps({"plan": plan_as_dict(plan), "run": _progress_to_dict(progress)}, indent=2)
            )
        elif progress:
            self.stdout.write("\n".join(result_as_text(progress)))
        elif not plan.calls:
            self.stdout.write(explain_no_calls(plan))


@contextmanager
def interruptions() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C sets, because an exception could break the connection of a
    statement.

    A second Ctrl-C ends the process as usual.
    """
    interrupted = threading.Event()

    def interrupt(signum: int, frame: FrameType | None) -> None:
        if interrupted.is_set():
            signal.default_int_handler(signum, frame)
        interrupted.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def plan_as_text(plan: RunPlan) -> list[str]:
    judges = [
        f"{each.judge.name}: {amount(each.calls)} of {amount(each.judgments)} judgments to ask, "
        f"{amount(each.input_tokens)} tokens in, {amount(each.output_tokens)} out, cost {money(each.cost)}"
        for each in plan.judges
    ]
    failed = [f"{amount(plan.failed)} failed before; retry them on their run's page."] if plan.failed else []
    time = f"{'at most ' if plan.via == Run.Via.BATCH else ''}{duration(plan.seconds)}"
    return [*judges, *failed, f"{amount(plan.calls)} calls, cost {money(plan.cost)}, time {time}"]


def explain_no_calls(plan: RunPlan) -> str:
    """Return the reason why a plan without calls made no run."""
    if plan.waiting:
        return (
            f"No run was made: {amount(plan.waiting)} judgments wait in another run. "
            "It goes on, or is resumed on its page."
        )
    if plan.failed:
        return "No run was made: retry what failed on its run's page."
    return "Nothing is missing, so no run was made."


def plan_as_dict(plan: RunPlan) -> dict[str, Any]:
    """Return the plan for programs; unknown values are null."""
    return {
        "via": plan.via,
        "judgments": plan.judgments,
        "there": plan.there,
        "failed": plan.failed,
        "waiting": plan.waiting,
        "calls": plan.calls,
        # Amounts are text, because a JSON number is a float for most readers.
        "cost": None if plan.cost is None else str(plan.cost),
        "currency": settings.CURRENCY,
        "seconds": plan.seconds,
        "judges": [
            {
                "name": each.judge.name,
                "calls": each.calls,
                "input_tokens": each.input_tokens,
                "output_tokens": each.output_tokens,
                "cost": None if each.cost is None else str(each.cost),
            }
            for each in plan.judges
        ],
    }


def bar(progress: RunProgress) -> str:
    full = BAR * progress.ended // max(progress.total, 1)
    problems = [
        f"{count} {name}"
        for name, count in (("failed", progress.failed), ("unreadable", progress.unreadable))
        if count
    ]
    parts = [
        f"[{'#' * full}{'.' * (BAR - full)}] {progress.ended}/{progress.total}",
        *problems,
        f"{progress.in_flight} in flight",
        pace(progress.per_second),
        f"{duration(progress.seconds_left)} left",
        f"{money(progress.run.spent)} spent",
    ]
    return "  ".join(parts)


def result_as_text(progress: RunProgress) -> list[str]:
    run = progress.run
    unknown = f", and unknown for {amount(progress.cost_unknown)}" if progress.cost_unknown else ""
    counts = f"{amount(progress.done)} done, {amount(progress.unreadable)} unreadable, "
    counts += f"{amount(progress.failed)} failed of {amount(progress.total)}"
    reason = [run.reason] if run.reason else []
    return [
        f"Run {run.pk} is {run.get_status_display()}: {counts}; spent {money(run.spent)}{unknown}.",
        *reason,
        *savings_as_text(run),
        *batches_as_text(run),
    ]


def savings_as_text(run: Run) -> list[str]:
    """Return a run's savings as lines of output: by stored answers, and by the caches of servers."""
    lines = []
    if run.reused:
        unknown = f", and unknown for {amount(run.reused_cost_unknown)}" if run.reused_cost_unknown else ""
        lines.append(f"{amount(run.reused)} stored answers reused; saved {money(run.reused_cost)}{unknown}.")
    if run.cached_tokens:
        saved = run.saved_by_cache_reason or money(run.saved_by_cache)
        lines.append(f"{amount(run.cached_tokens)} tokens sent were cached; saved: {saved}.")
    return lines


def batches_as_text(run: Run) -> list[str]:
    return [
        f"batch {number}: {amount(batch.requests)} requests to {batch.model}, {batch_state(batch)}"
        + (f", {amount(batch.failed)} failed" if batch.failed else "")
        + (f": {batch.reason}" if batch.reason else "")
        for number, batch in enumerate(batches_of(run), 1)
    ]


def _progress_to_dict(progress: RunProgress | None) -> dict[str, Any] | None:
    if progress is None:
        return None
    counts = {name: value for name, value in asdict(progress).items() if name not in ("run", "per_second")}
    run = progress.run
    about = {"id": run.pk, "status": run.status, "reason": run.reason, "spent": str(run.spent)}
    about["currency"] = settings.CURRENCY
    savings = {
        "reused": run.reused,
        "reused_cost": str(run.reused_cost),
        "reused_cost_unknown": run.reused_cost_unknown,
        "cached_tokens": run.cached_tokens,
        "saved_by_cache": None if run.saved_by_cache is None else str(run.saved_by_cache),
        "saved_by_cache_reason": run.saved_by_cache_reason,
    }
    names = ("model", "status", "provider_id", "requests", "completed", "failed", "reason")
    batches = [{name: getattr(batch, name) for name in names} for batch in batches_of(run)]
    return {**about, **savings, **counts, "batches": batches}


def _work(run: int) -> None:
    """Make all possible calls of this process, in a thread with a separate connection."""
    try:
        collect(run=run, seconds=SLICE)
        while needs_work(run):
            time.sleep(LOOK_EVERY)  # other workers, or a provider, may hold the remaining judgments
            collect(run=run, seconds=SLICE)
    finally:
        # Django closes the connections of a thread only after a request.
        connections.close_all()


def _pairs(project: Project, judges: Sequence[Judge], which: str) -> list[Pair]:
    if not any(METHODS[judge.method].asks_pairs for judge in judges):
        return []
    return list(neighbouring_pairs(project) if which == "neighbours" else all_pairs(project))


def _judge(project: Project, name: str) -> Judge:
    judges = {judge.name: judge for judge in usable_judges(project)}
    if name not in judges:
        raise CommandError(f"There is no judge {name!r} to ask; there are: {', '.join(judges) or 'none'}.")
    return judges[name]


def _budget(entered: str | None) -> Decimal | None:
    if entered is None:
        return None
    try:
        budget = Decimal(entered)
    except InvalidOperation:
        raise CommandError(f"{entered!r} is no amount of money; write --budget 2.50.") from None
    # `Decimal` also reads "NaN" and "Infinity".
    if not budget.is_finite() or budget <= 0:
        raise CommandError("The budget must be above 0.")
    return budget
