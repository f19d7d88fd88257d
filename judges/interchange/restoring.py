"""Judges, runs, judgments and metrics of an export, written back into the database."""

from itertools import islice
from typing import Any

from annotate.core.models import System
from annotate.exports.restoring.archive import ExportArchive, Restored, RestoredRows
from annotate.exports.restoring.ratings import actor
from judges.core.models import (
    DevelopmentDocument,
    Endpoint,
    Judge,
    Judgment,
    JudgmentChange,
    Metric,
    MetricValue,
    PromptTemplate,
    Proposal,
    Run,
)
from judges.interchange.queries.export import JUDGES, JUDGMENT_CHANGES, JUDGMENTS, LEFT_OUT, PROPOSALS, RUNS

JUDGMENTS_AT_ONCE = 1000
# Names under `.invalid` never resolve (RFC 6761), so no call of a restored judge leaves the host.
NOWHERE = "https://not-exported.invalid/v1"
Row = dict[str, Any]


def restore_judges(restored: Restored, archive: ExportArchive) -> None:
    """Create the judges with their prompts, the runs and the judgments.

    Exports contain no endpoints: judges with a prompt get one without a server. A running run is paused.
    """
    DevelopmentDocument.objects.bulk_create(
        DevelopmentDocument(
            document_id=restored.documents[row["document"]],
            part=row.get("part", DevelopmentDocument.Part.TEACH),  # earlier exports have one part
            drawn_at=row["drawn_at"],
        )
        for row in archive.rows("development_documents")
    )
    judges = RestoredRows((row["judge"], _judge(restored, row)) for row in archive.rows("judges"))
    runs = RestoredRows((row["run"], _run(restored, row)) for row in archive.rows("runs"))
    # Proposals refer to judges, also as candidates, so all judges come first.
    _restore_proposals(restored, archive, judges)
    rows = archive.rows("judgments")
    while batch := list(islice(rows, JUDGMENTS_AT_ONCE)):
        Judgment.objects.bulk_create(_restoring_judgment(restored, row, judges, runs) for row in batch)
    # In a second pass, since the judgment with the answer may come later in the file.
    reused = (row for row in archive.rows("judgments") if row["reused_from"])
    while batch := list(islice(reused, JUDGMENTS_AT_ONCE)):
        own, sources = (
            _ids_of_judgments(restored, each, judges)
            for each in (batch, [row["reused_from"] for row in batch])
        )
        Judgment.objects.bulk_update(
            [Judgment(pk=pk, reused_from_id=source) for pk, source in zip(own, sources, strict=True)],
            ["reused_from"],
        )
    changes = archive.rows("judgment_changes")
    while batch := list(islice(changes, JUDGMENTS_AT_ONCE)):
        JudgmentChange.objects.bulk_create(
            JudgmentChange(
                judgment_id=judgment,
                **JUDGMENT_CHANGES.fields(row)
                | {"actor": actor(restored, row["by"]), "answer_before": _answer(restored, row)},
            )
            for row, judgment in zip(batch, _ids_of_judgments(restored, batch, judges), strict=True)
        )
    _restore_metrics(restored, archive)


def _restore_proposals(
    restored: Restored, archive: ExportArchive, judges: "RestoredRows[str, Judge]"
) -> None:
    """Create the proposals; the draftings and searches that they belong to are not exported."""
    proposals: RestoredRows[int, Proposal] = RestoredRows()
    parts = {}
    for row in archive.rows("proposals"):
        has_text = row["text"] or row["status"] == Proposal.Status.FAILED
        proposal = Proposal.objects.create(
            judge=judges[row["judge"]],
            dimension=restored.dimensions[row["dimension"]],
            candidate=judges[row["candidate"]] if row["candidate"] else None,
            guideline=restored.guideline(row),
            **PROPOSALS.fields(row) | {"text": row["text"] if has_text else LEFT_OUT},
        )
        proposals[row["proposal"]], parts[proposal] = proposal, row["parts"]
        proposal.items.set([restored.items[document, system] for document, system in row["units"]])
    # After all proposals exist: one may be made of any others.
    for proposal, numbers in parts.items():
        proposal.parts.set([proposals[number] for number in numbers])


def _restore_metrics(restored: Restored, archive: ExportArchive) -> None:
    metrics: dict[str, Metric] = {}
    rows = archive.rows("metrics")
    while batch := list(islice(rows, JUDGMENTS_AT_ONCE)):
        for row in batch:
            if row["metric"] not in metrics:
                metrics[row["metric"]] = Metric.objects.create(
                    project=restored.project, name=row["metric"], source=row["source"]
                )
        MetricValue.objects.bulk_create(
            MetricValue(metric=metrics[row["metric"]], item_id=restored.item(row), value=row["value"])
            for row in batch
        )


def _judge(restored: Restored, row: Row) -> Judge:
    project = restored.project
    settings = JUDGES.fields(row)
    settings["asked_together"] = _ids(restored, row["asked_together"])
    settings["reference"] = System.objects.filter(project=project, name=row["reference"] or "").first()
    judge = Judge(project=project, **settings)
    if row["prompt"]:
        judge.endpoint, _ = Endpoint.objects.get_or_create(
            project=project, name="not exported", defaults={"base_url": NOWHERE}
        )
        # Judges may share a version, and each of their rows repeats it.
        judge.template, _ = PromptTemplate.objects.get_or_create(
            project=project,
            name=row["prompt"],
            version=row["prompt_version"],
            defaults={
                "method": row["method"],
                "text": row["prompt_text"],
                "wordings": {
                    str(restored.dimensions[key].pk): text for key, text in row["prompt_wordings"].items()
                },
                "pattern": row["prompt_pattern"],
            },
        )
    judge.save(force_insert=True)
    return judge


def _ids(restored: Restored, keys: list[str]) -> list[int]:
    return [restored.dimensions[key].pk for key in keys]


def _run(restored: Restored, row: Row) -> Run:
    # A running run would call its endpoint, which is not exported.
    status = Run.Status.PAUSED if row["status"] == Run.Status.RUNNING else row["status"]
    run = Run.objects.create(
        project=restored.project,
        guideline=restored.guidelines[row["guideline_version"]],
        **RUNS.fields(row) | {"status": status},
    )
    # By an update, because a new row gets the present time (`auto_now_add`).
    Run.objects.filter(pk=run.pk).update(created_at=row["created_at"])
    return run


def _restoring_judgment(
    restored: Restored, row: Row, judges: dict[str, Judge], runs: dict[int, Run]
) -> Judgment:
    other = row["other_system"]
    missing = {"data": None, "log_probabilities": None}  # in exports of earlier versions
    fields = JUDGMENTS.fields({**missing, **row}) | {
        "run": runs[row["run"]] if row["run"] is not None else None,
        "asked_dimensions": _ids(restored, row["asked_dimensions"]),
    }
    return Judgment(
        judge=judges[row["judge"]],
        item_id=restored.item(row),
        other_id=restored.items[row["document"], other] if other else None,
        dimension=restored.dimensions[row["dimension"]],
        steps_done=len(row["steps"]),
        **fields,
    )


def _ids_of_judgments(restored: Restored, rows: list[Row], judges: dict[str, Judge]) -> list[int]:
    """Return the judgments for rows, in order. One query."""
    keys = [_key_of_judgment(restored, row, judges) for row in rows]
    own = Judgment.objects.filter(judge__in={key[0] for key in keys}, item__in={key[1] for key in keys})
    # The filters match more rows than wanted; the keys pick the right ones.
    found = {(*key,): pk for *key, pk in own.values_list(*_KEY, "pk")}
    return [found[key] for key in keys]


def _answer(restored: Restored, row: Row) -> Row:
    before: Row = row["answer_before"]
    return {**before, "asked_dimensions": _ids(restored, before["asked_dimensions"])} if before else before


_KEY = ("judge", "item", "other", "dimension", "sample")


def _key_of_judgment(restored: Restored, row: Row, judges: dict[str, Judge]) -> tuple[int | None, ...]:
    other = row["other_system"]
    return (
        judges[row["judge"]].pk,
        restored.item(row),
        restored.items[row["document"], other] if other else None,
        restored.dimensions[row["dimension"]].pk,
        row["sample"],
    )
