"""Reuse of stored answers of the project for identical calls, before any call.

The lookup proceeds in portions, in short transactions that lock the run. It covers each judgment once, and no
lease starts before its end. A worker that dies leaves the rest to the next one.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from judges.core.models import Judge, Judgment, Run
from judges.endpoints.replies import Reply
from judges.endpoints.work import Call, JudgmentWork
from judges.methods.base import Readable
from judges.runs.asking import call_of, read
from judges.runs.commands.leases import finish_if_done
from judges.runs.queries.reusable import StoredAnswer, judges_that_reuse, stored_answers
from judges.runs.queries.work import Questions

AT_ONCE = 500
Status = Judgment.Status


@dataclass(frozen=True)
class _Reused:
    """A judgment, its call, the stored answer, and the judge's reading of it."""

    judgment: int
    call: Call
    answer: StoredAnswer
    reading: Readable


def reuse_answers(*, run: int, seconds: float) -> bool:
    """Answer a run's judgments from stored answers for up to `seconds`; return True if the lookup is
    complete.
    """
    until, questions = time.monotonic() + seconds, Questions()
    looking_up = Run.objects.filter(pk=run, status=Run.Status.RUNNING, looked_up_to__isnull=False)
    if not looking_up.exists():
        return True
    while time.monotonic() < until:
        if not _look_up_some(run, questions):
            finish_if_done(run=run)
            return True
    return False


@transaction.atomic
def _look_up_some(run: int, questions: Questions) -> bool:
    """Look up the next judgments of a run; return True if there may be more. Locks the run.

    Its workers lock it before they lease, so that none of these is in a call at the same time. Up to nine
    queries, and the write statements, sent together.
    """
    locked = Run.objects.select_for_update().get(pk=run)
    if locked.looked_up_to is None or locked.status != Run.Status.RUNNING:
        return False
    judges = judges_that_reuse(locked)
    # A planned judgment with a reason had an unreadable reply, and needs another call.
    planned = Judgment.objects.filter(
        run=locked, status=Status.PLANNED, pk__gt=locked.looked_up_to, judge__in=list(judges), reason=""
    )
    found = dict(planned.order_by("pk").values_list("pk", "judge")[:AT_ONCE])
    if found:
        works = questions.work_of(list(found))
        _take_over(locked, _identical(locked, works, {pk: judges[of] for pk, of in found.items()}))
    locked.looked_up_to = max(found) if len(found) == AT_ONCE else None
    locked.save(update_fields=["looked_up_to"])
    return locked.looked_up_to is not None


def _identical(run: Run, works: Sequence[JudgmentWork], judges: Mapping[int, Judge]) -> list[_Reused]:
    """Return the judgments with a stored answer to the same call in which their judge reads a value."""
    calls = {work.judgment: call_of(work) for work in works}
    stored = stored_answers(run, {call.messages_hash for call in calls.values()})
    reused = []
    for work in works:
        call, endpoint = calls[work.judgment], judges[work.judgment].endpoint_id
        answer = stored.answer_to(endpoint, call.messages_hash, call.parameters, work.dimension.id)
        reading = answer and read(work, Reply(answer.reply, None, None, None))
        if answer and isinstance(reading, Readable):
            reused.append(_Reused(work.judgment, call, answer, reading))
    return reused


def _take_over(run: Run, reused: Sequence[_Reused]) -> None:
    """Write stored answers into judgments that are still planned, and count the saved cost of their calls."""
    now = _for_database("answered_at", timezone.now())
    rows = [
        (
            each.reading.value,
            _for_database("data", each.reading.data),
            each.reading.rationale,
            _for_database("messages", each.call.messages),
            _for_database("asked_dimensions", each.call.asked_dimensions),
            now,
            each.judgment,
            each.answer.judgment,
        )
        for each in reused
    ]
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.executemany(_WRITE, rows)  # type: ignore[arg-type]
    known = [each.answer.cost for each in reused if each.answer.cost is not None]
    Run.objects.filter(pk=run.pk).update(
        reused=F("reused") + len(rows),
        reused_cost=F("reused_cost") + sum(known, Decimal(0)),
        reused_cost_unknown=F("reused_cost_unknown") + len(rows) - len(known),
    )


def _for_database(name: str, value: object) -> object:
    return Judgment._meta.get_field(name).get_db_prep_save(value, connection)  # type: ignore[union-attr]


_COPIED = (
    *("reply", "parameters", "messages_hash", "finish_reason", "refusal", "returned_model"),
    *("system_fingerprint", "log_probabilities"),
)
_TABLE = Judgment._meta.db_table
# Tokens stay unknown and the cost is nothing: the call that gave the answer has them, and sums count it once.
_WRITE = (
    f"UPDATE {_TABLE} AS target SET {', '.join(f'{name} = source.{name}' for name in _COPIED)}, "
    "status = 'done', value = %s, data = %s, rationale = %s, messages = %s, asked_dimensions = %s, cost = 0, "
    f"answered_at = %s, reused_from_id = source.id FROM {_TABLE} AS source "
    "WHERE target.id = %s AND source.id = %s AND target.status = 'planned'"
)
