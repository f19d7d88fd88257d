"""Drift watches: start, scheduled checks, end, and restart after an alarm."""

import logging
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import DomainError, NotReadyError
from annotate.core.models import User
from judges.core.errors import invalid_field
from judges.core.models import DriftCheck, DriftWatch, Judge, Run
from judges.endpoints.archiving import refuse_archived
from judges.endpoints.commands import add_label, copy_settings
from judges.endpoints.prices import prices_of
from judges.runs.commands.runs import cancel_run, plan_run, start_run
from judges.runs.queries.drift import (
    LEAST_ITEMS,
    choose_units,
    due_watches,
    ended_checks,
    figures_of_check,
    money_spent,
    scope_of_watch,
    units_of,
)

LEAST_BUDGET = Decimal("0.0001")  # the smallest budget with four digits
State = DriftCheck.State
logger = logging.getLogger(__name__)


@transaction.atomic
def start_watch(
    *,
    judge: Judge,
    items: int,
    days: int,
    budget: Decimal | None = None,
    by: User | None,
    baseline: DriftCheck | None = None,
) -> DriftWatch:
    """Start watching a judge:

    a worker starts the first check within a minute. Safe to run twice. Locks the project.

    items: with values of the judge. baseline: the check whose values serve as the first ones. Raises
    NotReadyError if the judge cannot be called, has too few values, or has an unconfirmed alarm.
    """
    lock_project(judge.project)
    if active := DriftWatch.objects.filter(judge=judge, is_active=True).first():
        return active
    if DriftWatch.objects.filter(judge=judge, alarmed_at__isnull=False, confirmed_at=None).exists():
        raise NotReadyError(gettext("Look at the alarm first, then begin anew from the page of the judge."))
    if judge.endpoint is None or judge.asks_pairs:
        raise NotReadyError(gettext("Concord watches judges that it asks about single texts."))
    if reason := refuse_archived(judge):
        raise NotReadyError(reason)
    if budget is not None and not prices_of(judge.endpoint, judge.model).are_known:
        message = gettext("The prices of this model are unknown, so Concord cannot enforce a budget.")
        raise invalid_field("budget", message)
    # The same units as before the alarm, so that their values can be the first ones.
    units = units_of(baseline.watch) if baseline else choose_units(judge, items)
    if len({item for each in units.values() for item in each}) < LEAST_ITEMS:
        says = gettext("A watch needs {least} items with a value of this judge on a scale.")
        raise NotReadyError(says.format(least=LEAST_ITEMS))
    watch = DriftWatch.objects.create(
        judge=judge,
        units=units,
        days=days,
        budget=budget,
        baseline=baseline,
        next_at=timezone.now(),
        created_by=by,
    )
    record(judge.project, "watch.started", judge, after={"days": days, "budget": budget}, by=by)
    return watch


@transaction.atomic
def stop_watch(*, watch: DriftWatch, by: User | None) -> None:
    """End a watch and cancel the run of its check. Its checks stay. Safe to run twice. Locks its row."""
    watch = DriftWatch.objects.select_for_update().get(pk=watch.pk)
    if not watch.is_active:
        return
    watch.is_active = False
    watch.save(update_fields=["is_active"])
    for check in watch.checks.filter(state=State.ASKING).select_related("run"):
        if check.run:
            cancel_run(run=check.run)
    watch.checks.filter(state=State.ASKING).update(state=State.CANCELLED)
    record(watch.judge.project, "watch.stopped", watch.judge, by=by)


@transaction.atomic
def begin_anew(*, watch: DriftWatch, by: User | None, starts: bool = True) -> DriftWatch | None:
    """Confirm an alarm: a new watch uses the values of the last check as the first ones. Safe to run twice.

    starts: True to start a new watch; returns None if not, or if the judge cannot be watched now. The judge's
    earlier judgments stay. Certificates sampled before the alarm lapse.
    """
    watch = (
        DriftWatch.objects.select_for_update(of=("self",)).select_related("judge__project").get(pk=watch.pk)
    )
    if watch.alarmed_at is None:
        raise NotReadyError(gettext("This watch has no alarm."))
    if watch.confirmed_at is None:
        watch.confirmed_at, watch.confirmed_by = timezone.now(), by
        watch.save(update_fields=["confirmed_at", "confirmed_by"])
        record(watch.judge.project, "watch.confirmed", watch.judge, by=by)
    if not starts:
        return None
    last = watch.checks.filter(state=State.FINISHED).last()
    left = None if watch.budget is None else watch.budget - money_spent(watch)
    # A rest of zero would end the new watch at its first check, so it gets the full budget.
    if left is not None and left < LEAST_BUDGET:
        left = watch.budget
    judge = Judge.objects.select_related("endpoint", "template", "project").get(pk=watch.judge_id)
    try:
        # A rejection here does not undo the confirmation.
        return start_watch(judge=judge, items=0, days=watch.days, budget=left, by=by, baseline=last)
    except DomainError:
        return None


def start_due_checks() -> None:
    """Start the due checks. Workers on all hosts may do so at the same time.

    An error is logged, and does not prevent other checks.
    """
    for watch in due_watches().order_by("next_at", "pk"):
        try:
            start_check(watch=watch)
        except Exception:
            logger.exception("A check of watch %d could not be started.", watch.pk)


@transaction.atomic
def start_check(*, watch: DriftWatch, is_due: bool = True) -> DriftCheck | None:
    """Judge the units of a watch again; None if no check is due. Locks the watch's row.

    is_due: True to respect the day of the next check. All is written in one transaction, so a killed worker
    leaves nothing, or a run that others continue. A rejection ends the watch with its reason.
    """
    # A worker skips a watch that another one checks now; a person's request waits for it.
    locked = DriftWatch.objects.select_for_update(skip_locked=is_due).filter(pk=watch.pk, is_active=True)
    found = locked.first()
    if found is None or (is_due and found.next_at > timezone.now()):
        return None
    if asking := found.checks.filter(state=State.ASKING).first():
        return None if is_due else asking
    found.next_at = timezone.now() + timedelta(days=found.days)
    try:
        # A savepoint: a rejection leaves no copy of the judge, and the watch can still be written.
        with transaction.atomic():
            check = _ask(found)
    except DomainError as error:
        # A person sees the rejection, and the watch stays active.
        if not is_due:
            raise
        found.is_active, found.reason = False, error.message
        check = None
    found.save(update_fields=["next_at", "is_active", "reason"])
    return check


def _ask(watch: DriftWatch) -> DriftCheck:
    left = None if watch.budget is None else watch.budget - money_spent(watch)
    if left is not None and left < LEAST_BUDGET:
        says = gettext("The budget of {budget} is spent. Watch the judge anew with another one.")
        raise NotReadyError(says.format(budget=f"{watch.budget:f}"))
    judge = Judge.objects.select_related("endpoint", "template", "project").get(pk=watch.judge_id)
    if reason := refuse_archived(judge):
        raise NotReadyError(reason)
    last = watch.checks.last()
    number = last.number + 1 if last else 1
    check = DriftCheck.objects.create(watch=watch, number=number, at=timezone.now())
    copy = Judge.with_candidates.create(
        **copy_settings(judge),
        # No judge of the project has this name, now or later.
        name=add_label(judge.name, f"check {number} #{uuid4().hex[:8]}"),
        template=judge.template,
        rechecks=check,
    )
    scope = scope_of_watch(copy, units_of(watch))
    run = plan_run(project=judge.project, scope=scope, by=watch.created_by, budget=left)
    check.run = start_run(run=run)
    check.save(update_fields=["run"])
    return check


def finish_ended_checks() -> None:
    """Compare the values of the checks whose runs have ended with the first ones."""
    for check in ended_checks().select_related("run", "watch__judge__project").order_by("pk"):
        try:
            finish_check(check=check)
        except Exception:
            logger.exception("Check %d could not be compared.", check.pk)


def finish_check(*, check: DriftCheck) -> None:
    """Store the result of a check, and end its watch at an alarm.

    Safe to run twice. Locks the watch's row.
    """
    assert check.run is not None
    is_complete = check.run.status == Run.Status.FINISHED
    # Computed before the lock, which the next check of the watch needs.
    figures = figures_of_check(check.watch, check) if is_complete else {}
    with transaction.atomic():
        watch = DriftWatch.objects.select_for_update().get(pk=check.watch_id)
        state = State.FINISHED if is_complete else State.CANCELLED
        asking = DriftCheck.objects.filter(pk=check.pk, state=State.ASKING)
        # Another worker has stored this result already.
        if not asking.update(state=state, figures=figures):
            return
        if any(each["is_alarm"] for each in figures.values()):
            watch.is_active, watch.alarmed_at = False, timezone.now()
            watch.save(update_fields=["is_active", "alarmed_at"])
            record(check.watch.judge.project, "watch.alarmed", check.watch.judge, by=None)
