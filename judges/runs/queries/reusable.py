"""Stored answers of the project that identical calls may reuse."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import F, Q

from judges.core.models import OF_PROJECT, Judge, Judgment, Run, ScoreFrom
from judges.methods import METHODS

CUT_OFF = ("length", "content_filter")  # how replies end that are not whole
_ONE_CALL = [key for key, method in METHODS.items() if not method.takes_steps]


@dataclass(frozen=True)
class StoredAnswer:
    """A stored answer: its judgment, the reply, and the cost of its call (None: unknown)."""

    judgment: int
    reply: str
    cost: Decimal | None


Key = tuple[int | None, str]
"""Endpoint and hash of the messages."""


class StoredAnswers:
    """The answers that some calls may reuse; of several to one call the last one counts."""

    def __init__(self, rows: Collection[Any]) -> None:
        self._by_key: dict[Key, list[Any]] = {}
        for row in rows:
            self._by_key.setdefault((row.judge__endpoint, row.messages_hash), []).append(row)

    def answer_to(
        self, endpoint: int | None, messages_hash: str, parameters: Mapping[str, Any], dimension: int
    ) -> StoredAnswer | None:
        """Return the answer to a call, of the same dimension if its call gave several."""
        rows = [
            each for each in self._by_key.get((endpoint, messages_hash), ()) if each.parameters == parameters
        ]
        if not rows:
            return None
        row = max(rows, key=lambda each: (each.dimension == dimension, each.pk))
        return StoredAnswer(row.pk, row.reply, row.cost)


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


def stored_answers(run: Run, hashes: Collection[str]) -> StoredAnswers:
    """Return the complete answers of the run's project to calls with these messages. One query.

    Excludes answers that a person corrected, that were cut off or declined, that were reused themselves, or
    that an endpoint gave at an earlier URL.
    """
    here = Q(judge__endpoint__moved_at__isnull=True) | Q(answered_at__gte=F("judge__endpoint__moved_at"))
    whole = Judgment.objects.filter(
        here,
        status=Judgment.Status.DONE,
        messages_hash__in=hashes,
        judge__project=run.project_id,
        **OF_PROJECT,
        is_corrected=False,
        reused_from__isnull=True,
        refusal="",
        steps_done=0,
    ).exclude(finish_reason__in=CUT_OFF)
    columns = ("pk", "judge__endpoint", "messages_hash", "parameters", "dimension", "reply", "cost")
    return StoredAnswers(list(whole.exclude(reply="").values_list(*columns, named=True)))
