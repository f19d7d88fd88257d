"""Judges, runs and judgments of an export, written back into the database."""

from decimal import Decimal
from itertools import islice
from typing import Any

from annotate.models import Project
from annotate.restoring.archive import ExportArchive
from annotate.restoring.restored import Restored
from judges.models import Endpoint, Judge, Judgment, PromptTemplate, Run

JUDGMENTS_AT_ONCE = 1000
NOWHERE = "https://not-exported.invalid/v1"
SAMPLING = ("model", "method", "temperature", "samples", "max_tokens", "score_from", "structured")
ANSWERED = (
    *("sample", "status", "value", "reason", "rationale", "reply", "attempts"),
    *("input_tokens", "output_tokens", "seconds", "answered_at"),
)

Row = dict[str, Any]


def restore_judges(restored: Restored, archive: ExportArchive) -> None:
    """Make the judges with their prompts, the runs and the judgments.

    Where judges were asked is not exported: those with a prompt get an endpoint that answers nobody. A run
    that was going on is paused.
    """
    judges = {row["judge"]: _judge(restored.project, row) for row in archive.rows("judges")}
    runs = {row["run"]: _run(restored, row) for row in archive.rows("runs")}
    rows = archive.rows("judgments")
    while batch := list(islice(rows, JUDGMENTS_AT_ONCE)):
        Judgment.objects.bulk_create(_judgment(restored, row, judges, runs) for row in batch)


def _judge(project: Project, row: Row) -> Judge:
    judge = Judge(project=project, name=row["judge"], **{name: row[name] for name in SAMPLING})
    if row["prompt"] is not None:
        judge.endpoint, _ = Endpoint.objects.get_or_create(
            project=project, name="not exported", defaults={"base_url": NOWHERE}
        )
        judge.template, _ = PromptTemplate.objects.get_or_create(
            project=project,
            name=row["prompt"],
            version=row["prompt_version"],
            defaults={"method": row["method"], "text": row["prompt_text"]},
        )
    judge.save(force_insert=True)
    return judge


def _run(restored: Restored, row: Row) -> Run:
    status = Run.Status.PAUSED if row["status"] == Run.Status.RUNNING else row["status"]
    run = Run.objects.create(
        project=restored.project,
        guideline=restored.guidelines[row["guideline_version"]],
        status=status,
        reason=row["reason"],
        via=row["via"],
        budget=_amount(row["budget"]),
        spent=Decimal(row["spent"]),
        started_at=row["started_at"],
        finished_at=row["finished_at"],
    )
    Run.objects.filter(pk=run.pk).update(created_at=row["created_at"])
    return run


def _judgment(restored: Restored, row: Row, judges: dict[str, Judge], runs: dict[int, Run]) -> Judgment:
    other = row["other_system"]
    return Judgment(
        judge=judges[row["judge"]],
        run=runs[row["run"]] if row["run"] is not None else None,
        item_id=restored.item(row),
        other_id=restored.items[row["document"], other] if other is not None else None,
        dimension=restored.dimensions[row["dimension"]],
        cost=_amount(row["cost"]),
        **{name: row[name] for name in ANSWERED},
    )


def _amount(money: str | None) -> Decimal | None:
    return None if money is None else Decimal(money)
