"""Pause of a run with unreadable replies, before all of them are paid for."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.webhooks.commands import announce
from judges.core.models import Judgment, Run
from judges.runs.commands.leases import RUN_STOPPED, is_under_way

LOOKED_AT = 200  # replies: enough to tell 5 % from 1 %, few enough to notice that a server has changed
# 5 % of them. Of the prompts as shipped next to no reply is unreadable, so one in twenty means that the model
# answers in another form than the judge reads, and the judge needs another wording or other settings.
MOST_UNREADABLE = 10
Status = Judgment.Status


@transaction.atomic
def pause_if_unreadable(*, run: int) -> None:
    """Pause a run that has calls left when too many of its last replies are unreadable.

    With fewer replies it pauses once the same number is unreadable among them. It does not pause after a
    person has resumed the run despite this. Locks the run.
    """
    replies = Judgment.objects.filter(run=run, status__in=(Status.DONE, Status.UNREADABLE))
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
