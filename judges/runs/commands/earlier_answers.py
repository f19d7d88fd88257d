"""Earlier answers of judgments requested again: stored in the history, restored if no new answer comes."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotate.core.models import User
from judges.core.models import Judgment, JudgmentChange

AT_ONCE = 500
Kind, Status = JudgmentChange.Kind, Judgment.Status
PLAIN: dict[str, Any] = {
    "reply": "",
    "rationale": "",
    "data": None,
    "parameters": {},
    "messages_hash": "",
    "messages": None,
    "asked_dimensions": [],
    "steps": [],
    "steps_done": 0,
    "log_probabilities": None,
    "finish_reason": "",
    "refusal": "",
    "returned_model": "",
    "system_fingerprint": "",
    "input_tokens": None,
    "output_tokens": None,
    "cached_tokens": None,
    "reasoning_tokens": None,
    "seconds": None,
    "reused_from_id": None,
    "attempts": 0,  # counted for each asking: its first calls that fail must not be its last
    "is_corrected": False,
}
EMPTY: dict[str, Any] = {
    **PLAIN,
    "cost": None,
    "answered_at": None,
    "value": None,
    "reason": "",
    "problem": "",
}
"""What a judgment holds that is to be asked anew."""


def keep_answers(judgments: Sequence[Judgment], *, by: User | None) -> None:
    """Store the answers of judgments in the history, before they are requested again."""
    now = timezone.now()
    JudgmentChange.objects.bulk_create(
        JudgmentChange(
            judgment=judgment,
            at=now,
            actor=by,
            kind=Kind.ASKED_AGAIN,
            status_before=judgment.status,
            value_before=judgment.value,
            reason_before=judgment.reason,
            problem_before=judgment.problem,
            status_after=Status.PLANNED,
            answer_before=_answer(judgment),
        )
        for judgment in judgments
    )


def give_back_answers(unanswered: QuerySet[Judgment]) -> None:
    """Restore the earlier answers of judgments requested again without a new answer.

    unanswered: planned or failed ones, including some without an earlier answer. Five hundred at a time.
    """
    asked = JudgmentChange.objects.filter(judgment=OuterRef("pk"), kind=Kind.ASKED_AGAIN)
    rows, last = unanswered.filter(Exists(asked)).order_by("pk"), 0
    while batch := list(rows.filter(pk__gt=last)[:AT_ONCE]):
        _give_back(batch)
        last = batch[-1].pk


def _give_back(batch: Sequence[Judgment]) -> None:
    asked = JudgmentChange.objects.filter(judgment__in=batch, kind=Kind.ASKED_AGAIN).order_by("pk")
    last = {change.judgment_id: change for change in asked}
    now = timezone.now()
    changes = []
    for judgment in batch:
        change = last[judgment.pk]
        before = {**EMPTY, **change.answer_before}
        restored = JudgmentChange(
            judgment=judgment,
            at=now,
            kind=Kind.GIVEN_BACK,
            status_before=judgment.status,
            reason_before=judgment.reason,
            problem_before=judgment.problem,
            status_after=change.status_before,
            value_after=change.value_before,
        )
        changes.append(restored)
        for name in PLAIN:
            setattr(judgment, name, before[name])
        judgment.status, judgment.value = change.status_before, change.value_before
        judgment.reason, judgment.problem = change.reason_before, change.problem_before
        judgment.cost = None if before["cost"] is None else Decimal(before["cost"])
        at = before["answered_at"]
        judgment.answered_at = None if at is None else datetime.fromisoformat(at)
    JudgmentChange.objects.bulk_create(changes)
    Judgment.objects.bulk_update(batch, ["status", *EMPTY])


def _answer(judgment: Judgment) -> dict[str, Any]:
    at, cost = judgment.answered_at, judgment.cost
    return {
        **{name: getattr(judgment, name) for name in PLAIN},
        "cost": None if cost is None else f"{cost:f}",
        "answered_at": None if at is None else at.isoformat(),
    }
