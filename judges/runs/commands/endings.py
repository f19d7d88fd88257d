"""How runs end: finished, stopped for a reason, or paused for unreadable replies; and the mail about it."""

from datetime import timedelta
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, override

from annotate.core.audit import record
from annotate.core.mails import mail_is_sent, mail_kind, send_mail
from annotate.core.preferences import preferences_of
from annotate.webhooks.commands import announce
from judges.core.errors import RunRefusedError, RunStateError
from judges.core.models import Endpoint, Judgment, Run
from judges.endpoints.prices import prices_of
from judges.runs.commands.outcomes import explain_stopped_judges, give_back_answers
from judges.runs.queries.runs import judges_of

RUN_FINISHED, RUN_STOPPED = "run.finished", "run.stopped"  # events of webhooks
LOOKED_AT = 200  # replies: enough to tell 5 % from 1 %, few enough to notice that a server has changed
# 5 % of them. Of the prompts as shipped next to no reply is unreadable, so one in twenty means that the model
# answers in another form than the judge reads, and the judge needs another wording or other settings.
MOST_UNREADABLE = 10
WORTH_A_MAIL = timedelta(days=1)  # a run that stopped earlier is no news
Status = Judgment.Status


def is_under_way(judgments: QuerySet[Judgment]) -> bool:
    """Return True if any of the judgments is planned or leased."""
    return judgments.filter(status=Status.PLANNED).exists() or judgments.filter(status=Status.LEASED).exists()


def end_plan(run: Run) -> None:
    """Remove the rest of a run's plan; judgments unreadable once and due for another call stay unreadable.

    Judgments that a person requested again keep their earlier answers.
    """
    planned = Judgment.objects.filter(run=run, status=Status.PLANNED)
    # These leave the plan first, so that the deletion below spares them.
    planned.filter(reason__gt="").update(status=Status.UNREADABLE)
    give_back_answers(planned)
    planned.delete()


@transaction.atomic
def finish_if_done(*, run: int) -> None:
    """Finish a running run without planned or leased judgments. Locks the run.

    A run with a judge that the server rejects stops, so that a person is notified and can resume it. Each
    worker calls this after storing its last outcome, so the last one sees all of them. Judgments returned
    from a cancelled run are not planned again.
    """
    locked = Run.objects.select_for_update().get(pk=run)
    if locked.status == Run.Status.CANCELLED:
        end_plan(locked)
    if locked.status == Run.Status.RUNNING and not is_under_way(Judgment.objects.filter(run=run)):
        # Its failed judgments can succeed after a change of the judge, so the run does not finish.
        if reason := explain_stopped_judges(locked):
            stop_run(locked, reason)
            return
        locked.status, locked.finished_at = Run.Status.FINISHED, timezone.now()
        locked.save(update_fields=["status", "finished_at"])
        announce(locked.project_id, RUN_FINISHED, {"run": locked.pk})


def finish_left_undone() -> None:
    """Finish runs whose last worker stored or returned everything and died before finishing the run.

    No other worker claims them: a running one has nothing open, and a cancelled one has ended.
    """
    judgments = Judgment.objects.filter(run=OuterRef("pk"))
    planned = judgments.filter(status=Status.PLANNED)
    leased = judgments.filter(status=Status.LEASED)
    through = Q(~Exists(planned), ~Exists(leased), status=Run.Status.RUNNING)
    given_back = Q(Exists(planned), status=Run.Status.CANCELLED)
    for run in Run.objects.filter(through | given_back).order_by("pk").values_list("pk", flat=True):
        finish_if_done(run=run)


@transaction.atomic
def stop_run(run: Run, reason: str, *, waits_for: Endpoint | None = None) -> None:
    """Stop a running run for a reason that a person must see; other runs do not change.

    waits_for: the endpoint whose next answer resumes the run, within the period set by the endpoint. Locks
    the run.
    """
    locked = Run.objects.select_for_update().filter(pk=run.pk, status=Run.Status.RUNNING).first()
    if locked is None:
        return
    now = timezone.now()
    locked.status, locked.reason, locked.finished_at = Run.Status.STOPPED, reason, now
    # With 0 hours the run never resumes by itself.
    if waits_for is not None and waits_for.resume_hours:
        locked.waits_for, locked.resumes_until = waits_for, now + timedelta(hours=waits_for.resume_hours)
    # A mail is due again, also if an earlier stop of the same run was mailed.
    locked.told_at, locked.mail_due_at, locked.mail_attempts = None, now, 0
    changed = ("status", "reason", "finished_at", "waits_for", "resumes_until")
    locked.save(update_fields=[*changed, "told_at", "mail_due_at", "mail_attempts"])
    until = locked.resumes_until and locked.resumes_until.isoformat()
    announce(locked.project_id, RUN_STOPPED, {"run": locked.pk, "resumes_until": until})


@transaction.atomic
def pause_if_unreadable(*, run: int) -> None:
    """Pause a run that has calls left when too many of its last replies are unreadable.

    With fewer replies it pauses once the same number is unreadable among them. It does not pause after a
    person has resumed the run despite this. Locks the run.
    """
    replies = Judgment.objects.filter(run=run, status__in=(Status.DONE, Status.UNREADABLE))
    # Read without the lock of the run, for which leases and other writes wait.
    last = list(replies.order_by("-answered_at").values_list("status", "reason")[:LOOKED_AT])
    reasons = [reason for status, reason in last if status == Status.UNREADABLE]
    if len(reasons) <= MOST_UNREADABLE:
        return
    running = Run.objects.filter(pk=run, status=Run.Status.RUNNING, accepts_unreadable=False)
    locked = running.select_for_update().first()
    if locked is None or not is_under_way(Judgment.objects.filter(run=run)):
        return
    locked.status, locked.told_at = Run.Status.PAUSED, None
    locked.mail_due_at, locked.mail_attempts = timezone.now(), 0
    locked.reason = gettext(
        "{count} of the last {total} replies are unreadable. The last one: {reason} "
        "Read some of them, then resume the run anyway, or cancel it and make a judge with another prompt."
    ).format(count=len(reasons), total=len(last), reason=reasons[0])
    locked.save(update_fields=["status", "reason", "told_at", "mail_due_at", "mail_attempts"])
    record(locked.project, "run.paused", locked, note=locked.reason)
    announce(locked.project_id, RUN_STOPPED, {"run": locked.pk, "resumes_until": None})


def used_up(budget: Decimal) -> str:
    """Return the message for a run that stops at its budget, with the remedy."""
    return gettext(
        "The budget of {budget:f} does not allow one more call; give the run a larger one and resume it."
    ).format(budget=budget.normalize())


@transaction.atomic
def change_budget(*, run: Run, budget: Decimal | None) -> Run:
    """Set another budget of a run that has not ended, or none.

    Locks the run's row; workers see it immediately.

    Raises RunStateError, and RunRefusedError for a budget that needs unknown prices.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    # A run that stopped at its budget may get a larger one and resume.
    if run.status in (Run.Status.CANCELLED, Run.Status.FINISHED):
        says = gettext("This run is {status}, so its budget does not matter any more.")
        raise RunStateError(says.format(status=run.get_status_display()))
    if budget is not None:
        for judge in judges_of(run):
            if judge.endpoint and not prices_of(judge.endpoint, judge.model).are_known:
                raise RunRefusedError(
                    gettext(
                        "The prices of {model} at {name} are unknown, so Concord cannot enforce a budget."
                    ).format(model=judge.model, name=judge.endpoint.name)
                )
    before, after = {"budget": run.budget}, {"budget": budget}
    record(run.project, "run.budget_changed", run, before=before, after=after)
    run.budget = budget
    run.save(update_fields=["budget"])
    return run


def _send(run: Run) -> None:
    assert run.created_by is not None
    with override(preferences_of(run.created_by).language or settings.LANGUAGE_CODE):
        subject = gettext("Run {number} of judges in {project} is {status}").format(
            number=run.pk, project=run.project, status=run.get_status_display()
        )
        if run.resumes_until:
            until = timezone.localtime(run.resumes_until)
            next_step = gettext("It resumes by itself when the server answers before {until}.").format(
                until=f"{until:%Y-%m-%d %H:%M %Z}"
            )
        else:
            next_step = gettext("Its page among the runs of judges says more, and resumes it.")
    send_mail(to=run.created_by.email, subject=subject, body=f"{run.reason}\n\n{next_step}\n")


def _needs_mail() -> Q:
    """Return the condition of a recently stopped or automatically paused run without a mail about it."""
    stopped = Q(status=Run.Status.STOPPED, finished_at__gt=timezone.now() - WORTH_A_MAIL)
    paused = Q(status=Run.Status.PAUSED, reason__gt="")
    untold = (stopped | paused) & Q(told_at=None, created_by__isnull=False)
    return untold if mail_is_sent() else Q(pk__in=[])


STOP_MAIL = mail_kind(
    "stopped_run",
    Run,
    _send,
    does="mails that a run stopped to the person who planned it",
    related=("created_by", "project"),
    mailed_at="told_at",
    condition=_needs_mail,
    is_too_old=lambda _run: False,
)
