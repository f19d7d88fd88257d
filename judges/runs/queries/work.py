"""Leased judgments as questions to a model."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Document, Guideline
from judges.core.models import Judge, Judgment, ScoreFrom
from judges.endpoints.client import Question
from judges.endpoints.work import Earlier, Outcome, Work
from judges.methods import METHODS
from judges.methods.base import Subject


class Questions:
    """Makes questions of judgments of one run, and remembers the judges and documents that they share."""

    def __init__(self) -> None:
        self._dimensions: dict[int, FrozenDimension] = {}
        self._judges: dict[int, Judge] = {}
        self._documents: dict[int, tuple[tuple[str, str], ...]] = {}

    def work_of(self, judgments: Sequence[int]) -> list[Work]:
        """Return the questions of these judgments, in their order. At most four queries."""
        rows = Judgment.objects.filter(pk__in=judgments).order_by("pk").values_list(*_COLUMNS, named=True)
        found = list(rows)
        if found:
            self._learn(found)
        return [self._work(row) for row in found]

    def _learn(self, rows: Sequence[Any]) -> None:
        if not self._dimensions:
            frozen = FrozenGuideline.from_json(Guideline.objects.get(runs=rows[0].run).content)
            self._dimensions = {dimension.id: dimension for dimension in frozen.dimensions}
        if unknown := {row.judge for row in rows} - self._judges.keys():
            self._judges |= Judge.objects.select_related("template").in_bulk(unknown)
        wanted = {row.item__document for row in rows}
        kept = {key: parts for key, parts in self._documents.items() if key in wanted}
        new = Document.objects.filter(pk__in=wanted - kept.keys()).values_list("pk", "parts")
        self._documents = kept | {key: label_parts(parts) for key, parts in new}

    def _work(self, row: Any) -> Work:
        judge, dimension = self._judges[row.judge], self._dimensions[row.dimension]
        subject = Subject(self._documents[row.item__document], row.item__text, row.other__text)
        return Work(
            judgment=row.pk,
            question=question(judge, subject, dimension),
            method=METHODS[judge.method],
            dimension=dimension,
            structured=judge.structured,
            attempts=row.attempts,
            unreadable=_unreadable(row) if row.reason else None,
        )


_COLUMNS = (
    *("pk", "run", "judge", "dimension", "attempts", "item__document", "item__text", "other__text"),
    *("reason", "reply", "input_tokens", "output_tokens", "cost"),
)


def _unreadable(row: Any) -> Outcome:
    """Return the outcome that was put back: what is to be asked and has a reason was unreadable once."""
    known = row.input_tokens is not None and row.output_tokens is not None
    return Outcome(
        row.pk,
        Judgment.Status.UNREADABLE,
        row.attempts,
        reply=row.reply,
        reason=row.reason,
        earlier=Earlier(row.input_tokens, row.output_tokens, row.cost) if known else None,
    )


def work_of(judgments: Sequence[int]) -> list[Work]:
    """Return the questions of these judgments of one run, in their order. At most four queries."""
    return Questions().work_of(judgments)


def question(judge: Judge, subject: Subject, dimension: FrozenDimension) -> Question:
    """Return what a judge asks about a subject. The judge needs its template."""
    assert judge.template is not None
    method = METHODS[judge.method]
    return Question(
        model=judge.model,
        messages=tuple(method.messages(judge.template.text, subject, dimension)),
        temperature=judge.temperature,
        max_tokens=judge.max_tokens,
        schema=method.json_schema(dimension) if judge.structured else None,
        wants_probabilities=judge.score_from == ScoreFrom.PROBABILITIES,
    )


def label_parts(parts: Sequence[Mapping[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return a document's parts as methods take them."""
    return tuple((part["label"], part["text"]) for part in parts)
