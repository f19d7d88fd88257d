"""Reuse of stored answers of the project for identical calls, before any call.

The lookup proceeds in portions, in short transactions that lock the run. It covers each judgment once, and no
lease starts before its end. A worker that dies leaves the rest to the next one.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from judges.core.models import OF_PROJECT, Judge, Judgment, Run, ScoreFrom
from judges.endpoints.questions import Reply
from judges.endpoints.work import JudgmentWork
from judges.methods import METHODS
from judges.methods.base import Readable
from judges.runs.asking import call_of, read
from judges.runs.commands.endings import finish_if_done
from judges.runs.queries.work import Questions

CUT_OFF = ("length", "content_filter")  # how replies end that are not whole
_ONE_CALL = [key for key, method in METHODS.items() if not method.takes_steps]
AT_ONCE = 500  # judgments of one transaction
Status = Judgment.Status
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


def judges_that_reuse(run: Run) -> dict[int, Judge]:
    """Return the judges of a project whose calls always get the same reply, by id. One query.

    These are judges without sampling whose value depends on a single reply. Probabilities are not stored, and
    the later calls of a method with several depend on the earlier replies.
    """
    found = Judge.with_candidates.filter(
        project=run.project_id,
        endpoint__isnull=False,
        temperature=0,
        samples=1,
        score_from=ScoreFrom.TEXT,
        method__in=_ONE_CALL,
    )
    return {judge.pk: judge for judge in found}


def stored_answers(run: Run, hashes: Collection[str]) -> list[Any]:
    """Return the complete answers of the run's project to calls with these messages. One query.

    Excludes answers that a person corrected, that were cut off or declined, that were reused themselves, or
    that an endpoint gave at an earlier URL.
    """
    here = Q(judge__endpoint__moved_at__isnull=True) | Q(answered_at__gte=F("judge__endpoint__moved_at"))
    whole = Judgment.objects.filter(
        here,
        status=Status.DONE,
        messages_hash__in=hashes,
        judge__project=run.project_id,
        **OF_PROJECT,
        is_corrected=False,
        reused_from__isnull=True,
        refusal="",
        steps_done=0,
    ).exclude(finish_reason__in=CUT_OFF)
    columns = ("pk", "judge__endpoint", "messages_hash", "parameters", "dimension", "reply", "cost")
    return list(whole.exclude(reply="").values_list(*columns, named=True))


def reuse_answers(*, run: int, seconds: float) -> bool:
    """Answer a run's judgments from stored answers for up to `seconds`; return True if the lookup is
    complete.
    """
    until, questions = time.monotonic() + seconds, Questions()
    # A run without the option, or after the lookup, costs one query.
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
        _take_over(locked, works, {pk: judges[of] for pk, of in found.items()})
    # A portion that is not full was the last one; None lets workers lease.
    locked.looked_up_to = max(found) if len(found) == AT_ONCE else None
    locked.save(update_fields=["looked_up_to"])
    return locked.looked_up_to is not None


def _take_over(run: Run, works: Sequence[JudgmentWork], judges: Mapping[int, Judge]) -> None:
    """Write stored answers into the judgments of identical calls in which their judge reads a value.

    Counts what these calls would have cost.
    """
    calls = {work.judgment: call_of(work) for work in works}
    stored: dict[tuple[int | None, str], list[Any]] = {}
    # Answers are grouped by endpoint and messages: another server may run another model.
    for row in stored_answers(run, {call.messages_hash for call in calls.values()}):
        stored.setdefault((row.judge__endpoint, row.messages_hash), []).append(row)
    now, rows, costs = _for_database("answered_at", timezone.now()), [], []
    for work in works:
        call, dimension = calls[work.judgment], work.dimension.id
        # The hash covers only the messages, so the other parameters are compared here.
        same = [
            row
            for row in stored.get((judges[work.judgment].endpoint_id, call.messages_hash), ())
            if row.parameters == call.parameters
        ]
        if not same:
            continue
        # A call about several dimensions has an answer for each; of several to one call the last one counts.
        answer = max(same, key=lambda row: (row.dimension == dimension, row.pk))
        reading = read(work, Reply(answer.reply, None, None, None))
        if isinstance(reading, Readable):
            data, messages = _for_database("data", reading.data), _for_database("messages", call.messages)
            asked = _for_database("asked_dimensions", call.asked_dimensions)
            rows.append(
                (reading.value, data, reading.rationale, messages, asked, now, work.judgment, answer.pk)
            )
            costs.append(answer.cost)
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.executemany(_WRITE, rows)  # type: ignore[arg-type]
    known = [cost for cost in costs if cost is not None]
    Run.objects.filter(pk=run.pk).update(
        reused=F("reused") + len(rows),
        reused_cost=F("reused_cost") + sum(known, Decimal(0)),
        reused_cost_unknown=F("reused_cost_unknown") + len(rows) - len(known),
    )


def _for_database(name: str, value: object) -> object:
    return Judgment._meta.get_field(name).get_db_prep_save(value, connection)  # type: ignore[union-attr]
