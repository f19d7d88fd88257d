"""Removal of models' replies after the operator's retention period; parsed values stay."""

import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotate.core.audit import record
from judges.core.models import Judgment, JudgmentChange, Run

AT_ONCE = 500
WORDS: dict[str, Any] = {"reply": "", "refusal": "", "messages": None}
logger = logging.getLogger(__name__)


def remove_old_replies() -> int:
    """Remove replies and stored messages of runs that ended long ago; return the number of runs.

    Values, rationales, reasons, tokens and costs stay. Five hundred judgments at a time, each a transaction;
    safe to run twice.
    """
    if settings.REPLY_DAYS is None:
        return 0
    long_ago = timezone.now() - timedelta(days=settings.REPLY_DAYS)
    old = Run.objects.filter(status__in=Run.OVER, finished_at__lt=long_ago, replies_removed_at__isnull=True)
    runs = list(old.order_by("pk").select_related("project"))
    for run in runs:
        count = last = 0
        rows = Judgment.objects.filter(run=run).order_by("pk").only("status", "steps", "steps_done")
        while batch := list(rows.filter(pk__gt=last)[:AT_ONCE]):
            _forget_words(batch)
            count, last = count + len(batch), batch[-1].pk
        with transaction.atomic():
            ended = Run.objects.filter(pk=run.pk, replies_removed_at__isnull=True)
            if ended.update(replies_removed_at=timezone.now()):  # of two concurrent workers one logs it
                record(run.project, "run.replies_removed", run, after={"judgments": count})
        logger.info("Removed the replies of run %s, which ended before %s", run.pk, long_ago)
    return len(runs)


@transaction.atomic
def _forget_words(batch: list[Judgment]) -> None:
    Judgment.objects.filter(pk__in=[each.pk for each in batch]).update(**WORDS)
    stepped = [each for each in batch if each.steps]
    for each in stepped:
        if each.status == Judgment.Status.FAILED:  # another call restarts with the first step
            each.steps, each.steps_done = [], 0
        else:
            each.steps = _drop_replies(each.steps)
    Judgment.objects.bulk_update(stepped, ["steps", "steps_done"])
    changes = [each for each in JudgmentChange.objects.filter(judgment__in=batch) if each.answer_before]
    for change in changes:
        steps = _drop_replies(change.answer_before.get("steps", []))
        change.answer_before = {**change.answer_before, **WORDS, "steps": steps}
    JudgmentChange.objects.bulk_update(changes, ["answer_before"])


def _drop_replies(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**step, "reply": ""} for step in steps]
