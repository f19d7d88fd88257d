"""What is done about interchange: writes, one function for each thing that a person or a worker does."""

from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any

from django.db import transaction

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.guideline import FrozenGuideline
from annotate.core.models import DataImport, Project, System, User
from annotate.exports.restoring.archive import ExportArchive
from annotate.exports.restoring.people import actor
from annotate.exports.restoring.restored import Known, Restored
from annotate.exports.restoring.tables import MisfitError
from annotate.material.import_kinds import ImportKind
from annotate.material.queries.catalogue import BATCH, Catalogue
from annotate.material.reading.progress import OnProgress, silent
from annotate.rating.commands.rounds import freeze_guideline
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
from judges.endpoints.commands import create_template
from judges.interchange.queries.check import JudgmentCheck, KnownJudge, ResolvedJudgment
from judges.interchange.queries.export import LEFT_OUT
from judges.interchange.queries.imports import JudgmentReading, JudgmentSource, read_judgments, source_of
from judges.interchange.reading.mapping import JudgmentMapping
from judges.interchange.reading.report import JudgmentReport
from judges.methods import Method
from judges.methods.base import Readable
from judges.methods.own_scale import OwnScale

# Importing judgments made elsewhere: checked as a whole, then written in one transaction or not at all.

JUDGMENTS = "judgments"
"""The kind of imports that make judgments."""


def import_judgments(
    *,
    project: Project,
    source: JudgmentSource,
    on_progress: OnProgress | None = None,
    by: User | None = None,
    only_good: bool = False,
) -> JudgmentReport:
    """Import the file if not one line of it is refused; what is there already is not made again.

    Checks the whole file without a lock. Then locks the project, as planning a run and adding a judge do,
    makes every check again, and writes all in one transaction, whose last act is to report "written".
    only_good: leave out the lines that are refused, and import the others.
    """
    on_progress = on_progress or silent
    checked = read_judgments(project, source, on_progress, only_good=only_good)
    report = checked.report()
    if report.is_refused or not report.made.total:
        return report
    on_progress("writing", 0.0, report.lines)
    return _write(project, source, checked.skip, on_progress, by)


@transaction.atomic
def _write(
    project: Project,
    source: JudgmentSource,
    skip: frozenset[int],
    on_progress: OnProgress,
    by: User | None,
) -> JudgmentReport:
    project = lock_project(project)
    guideline = FrozenGuideline.from_json(freeze_guideline(project).content)
    importer = JudgmentImporter(project, Catalogue(project), guideline)
    reading = JudgmentReading(source, importer, skip)
    reading.take_all("writing judgments", on_progress)
    report = reading.report()
    if report.is_refused:
        # Something that was free when the file was checked is no longer so.
        transaction.set_rollback(True)
        return report
    importer.finish()
    made = {"judges": report.made.judges, "judgments": report.made.judgments}
    record(project, "judgments.imported", source.name, after=made, by=by)
    on_progress("written", 1.0, report.lines, report)
    return report


class JudgmentImporter(JudgmentCheck):
    """Takes rows one by one and writes what is new, inside the caller's transaction."""

    def __init__(self, project: Project, catalogue: Catalogue, guideline: FrozenGuideline) -> None:
        super().__init__(project, catalogue, guideline)
        self.project = project
        self._judgments: list[Judgment] = []

    def accept(self, taken: ResolvedJudgment) -> None:
        """Note a judgment and prepare it."""
        super().accept(taken)
        self._judgments.append(_judgment(taken))
        if len(self._judgments) >= BATCH:
            self._flush()

    def new_judge(self, name: str, model: str, method: Method) -> KnownJudge:
        """Note a judge and write it."""
        judge = super().new_judge(name, model, method)
        judge.pk = Judge.objects.create(
            project=self.project, name=name, model=model, method=method.key, max_tokens=method.max_tokens
        ).pk
        return judge

    def finish(self) -> None:
        """Write the rest, and how many samples the judges have."""
        self._flush()
        for judge in self.judges.values():
            if judge.given:
                assert judge.pk is not None
                Judge.objects.filter(pk=judge.pk, samples__lt=judge.samples).update(samples=judge.samples)

    def _flush(self) -> None:
        Judgment.objects.bulk_create(self._judgments)
        self._judgments = []


def _judgment(taken: ResolvedJudgment) -> Judgment:
    row, reading = taken.row, taken.reading
    readable = reading if isinstance(reading, Readable) else None
    assert taken.item.pk is not None
    assert taken.judge.pk is not None
    return Judgment(
        judge_id=taken.judge.pk,
        dimension_id=taken.dimension.id,
        item_id=taken.item.pk,
        other_id=taken.other.pk if taken.other else None,
        sample=taken.sample,
        status=Judgment.Status.DONE if readable else Judgment.Status.UNREADABLE,
        value=readable.value if readable else None,
        rationale=row.rationale or (readable.rationale if readable else ""),
        reply=row.reply or "",
        reason="" if isinstance(reading, Readable) else reading.reason,
        input_tokens=row.usage.input_tokens,
        output_tokens=row.usage.output_tokens,
        cost=row.usage.cost,
        seconds=row.usage.seconds,
    )


@transaction.atomic
def add_recorded_judge(
    *, project: Project, name: str, model: str, method: str, prompt: str, pattern: str, scale: OwnScale
) -> None:
    """Make a judge that asks nobody and whose imported replies are read by a pattern, on a scale of its own.

    Its prompt has the same name. Locks the project; a judge of that name stays as it is.
    """
    project = lock_project(project)
    if Judge.objects.filter(project=project, name=name).exists():
        return
    template = create_template(
        project=project, method=method, name=name, text=prompt, pattern=pattern, by=None
    )
    Judge.objects.create(
        project=project,
        name=name,
        model=model,
        method=method,
        template=template,
        scale_minimum=scale.minimum,
        scale_maximum=scale.maximum,
        scale_table=list(scale.table),
    )


def _import_upload(data_import: DataImport, on_progress: OnProgress) -> JudgmentReport:
    mapping = JudgmentMapping.from_json(data_import.mapping or {})
    source = source_of(data_import, mapping)
    by = data_import.created_by
    return import_judgments(
        project=data_import.project,
        source=source,
        on_progress=on_progress,
        by=by,
        only_good=data_import.only_good,
    )


JUDGMENTS_KIND = ImportKind(
    key=JUDGMENTS,
    run=_import_upload,
    read_report=JudgmentReport.from_json,
    page="judgment_import",
    pages="judgment_imports",
)


# Judges, runs and judgments of an export, written back into the database.

JUDGMENTS_AT_ONCE = 1000
NOWHERE = "https://not-exported.invalid/v1"
SAMPLING = (
    *("model", "method", "temperature", "samples", "max_tokens", "score_from", "structured"),
    *("top_p", "seed", "stop", "reasoning_effort", "system_message", "extra_body", "max_tokens_name"),
    *("scale_minimum", "scale_maximum", "scale_modifiers", "scale_thirds", "scale_table", "call_order"),
)
ANSWERED = (
    *("sample", "status", "value", "reason", "problem", "rationale", "reply", "attempts"),
    *("input_tokens", "output_tokens", "seconds", "answered_at", "parameters", "messages_hash"),
    *("messages", "finish_reason", "refusal", "returned_model", "system_fingerprint"),
    *("cached_tokens", "reasoning_tokens", "is_corrected"),
)

CHANGED = (
    *("at", "status_before", "value_before", "reason_before", "problem_before"),
    *("answer_before", "status_after", "value_after", "note"),
)

Row = dict[str, Any]


def restore_judges(restored: Restored, archive: ExportArchive) -> None:
    """Make the judges with their prompts, the runs and the judgments.

    Where judges were asked is not exported: those with a prompt get an endpoint that answers nobody. A run
    that was going on is paused.
    """
    DevelopmentDocument.objects.bulk_create(
        DevelopmentDocument(document_id=restored.documents[row["document"]], drawn_at=row["drawn_at"])
        for row in archive.rows("development_documents")
    )
    judges = Known((row["judge"], _judge(restored, row)) for row in archive.rows("judges"))
    runs = Known((row["run"], _run(restored, row)) for row in archive.rows("runs"))
    _restore_proposals(restored, archive, judges)
    rows = archive.rows("judgments")
    while batch := list(islice(rows, JUDGMENTS_AT_ONCE)):
        Judgment.objects.bulk_create(_restoring_judgment(restored, row, judges, runs) for row in batch)
    reused = (row for row in archive.rows("judgments") if row["reused_from"])
    while batch := list(islice(reused, JUDGMENTS_AT_ONCE)):
        _restore_sources(restored, batch, judges)
    changes = archive.rows("judgment_changes")
    while batch := list(islice(changes, JUDGMENTS_AT_ONCE)):
        _restore_changes(restored, batch, judges)
    _restore_metrics(restored, archive)


def _restore_proposals(restored: Restored, archive: ExportArchive, judges: "Known[str, Judge]") -> None:
    """Make the proposals; the draftings and searches that they belong to are not exported."""
    proposals: Known[int, Proposal] = Known()
    parts = {}
    for row in archive.rows("proposals"):
        proposal = _proposal(restored, row, judges)
        proposals[row["proposal"]], parts[proposal] = proposal, row["parts"]
        proposal.items.set([restored.items[document, system] for document, system in row["units"]])
    for proposal, numbers in parts.items():
        proposal.parts.set([proposals[number] for number in numbers])


def _proposal(restored: Restored, row: Row, judges: "Known[str, Judge]") -> Proposal:
    has_text = row["text"] or row["status"] == Proposal.Status.FAILED
    return Proposal.objects.create(
        judge=judges[row["judge"]],
        dimension=restored.dimensions[row["dimension"]],
        text=(row["text"] or "") if has_text else LEFT_OUT,
        cost=_amount(row["cost"]),
        candidate=judges[row["candidate"]] if row["candidate"] else None,
        guideline=restored.guideline(row),
        **{
            name: row[name]
            for name in (
                "kind",
                "status",
                "about",
                "problem",
                "drafted_by",
                "is_chosen",
                "created_at",
                "decided_at",
            )
        },
    )


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
    together = _ids(restored, row["asked_together"])
    sampling = {name: row[name] for name in SAMPLING}
    judge = Judge(project=project, name=row["judge"], asked_together=together, **sampling)
    judge.reference = System.objects.filter(project=project, name=row["reference"] or "").first()
    if row["prompt"]:
        judge.endpoint, _ = Endpoint.objects.get_or_create(
            project=project, name="not exported", defaults={"base_url": NOWHERE}
        )
        judge.template, _ = PromptTemplate.objects.get_or_create(
            project=project,
            name=row["prompt"],
            version=row["prompt_version"],
            defaults={
                "method": row["method"],
                "text": row["prompt_text"],
                "wordings": _wordings(restored, row["prompt_wordings"]),
                "pattern": row["prompt_pattern"],
            },
        )
    judge.save(force_insert=True)
    return judge


def _wordings(restored: Restored, by_key: dict[str, str]) -> dict[str, str]:
    return {str(restored.dimensions[key].pk): text for key, text in by_key.items()}


def _ids(restored: Restored, keys: list[str]) -> list[int]:
    return [restored.dimensions[key].pk for key in keys]


def _run(restored: Restored, row: Row) -> Run:
    status = Run.Status.PAUSED if row["status"] == Run.Status.RUNNING else row["status"]
    run = Run.objects.create(
        project=restored.project,
        guideline=restored.guidelines[row["guideline_version"]],
        status=status,
        reason=row["reason"],
        via=row["via"],
        keeps_messages=row["keeps_messages"],
        reuses_answers=row["reuses_answers"],
        budget=_amount(row["budget"]),
        spent=_amount(row["spent"]) or Decimal(0),
        reused=row["reused"],
        reused_cost=_amount(row["reused_cost"]) or Decimal(0),
        reused_cost_unknown=row["reused_cost_unknown"],
        cached_tokens=row["cached_tokens"],
        cached_tokens_unpriced=row["cached_tokens_unpriced"],
        cache_savings=_amount(row["cache_savings"]) or Decimal(0),
        started_at=row["started_at"],
        finished_at=row["finished_at"],
    )
    Run.objects.filter(pk=run.pk).update(created_at=row["created_at"])
    return run


def _restoring_judgment(
    restored: Restored, row: Row, judges: dict[str, Judge], runs: dict[int, Run]
) -> Judgment:
    other = row["other_system"]
    return Judgment(
        judge=judges[row["judge"]],
        run=runs[row["run"]] if row["run"] is not None else None,
        item_id=restored.item(row),
        other_id=restored.items[row["document"], other] if other else None,
        dimension=restored.dimensions[row["dimension"]],
        cost=_amount(row["cost"]),
        asked_dimensions=_ids(restored, row["asked_dimensions"]),
        steps=row["steps"],
        steps_done=len(row["steps"]),
        **{name: row[name] for name in ANSWERED},
    )


def _restore_sources(restored: Restored, rows: list[Row], judges: dict[str, Judge]) -> None:
    """Let judgments name again the one whose answer they took over."""
    own, sources = (
        _ids_of_judgments(restored, each, judges) for each in (rows, [row["reused_from"] for row in rows])
    )
    Judgment.objects.bulk_update(
        [Judgment(pk=pk, reused_from_id=source) for pk, source in zip(own, sources, strict=True)],
        ["reused_from"],
    )


def _restore_changes(restored: Restored, rows: list[Row], judges: dict[str, Judge]) -> None:
    JudgmentChange.objects.bulk_create(
        JudgmentChange(
            judgment_id=judgment,
            kind=row["change"],
            actor=actor(restored, row["by"]),
            **{**{name: row[name] for name in CHANGED}, "answer_before": _answer(restored, row)},
        )
        for row, judgment in zip(rows, _ids_of_judgments(restored, rows, judges), strict=True)
    )


def _ids_of_judgments(restored: Restored, rows: list[Row], judges: dict[str, Judge]) -> list[int]:
    """Return the judgments that rows name, in their order. One query."""
    keys = [_key_of_judgment(restored, row, judges) for row in rows]
    own = Judgment.objects.filter(judge__in={key[0] for key in keys}, item__in={key[1] for key in keys})
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


def _amount(money: str | None) -> Decimal | None:
    if not money:  # CSV has one cell for no value and an empty text
        return None
    try:
        return Decimal(money)
    except InvalidOperation as error:
        raise MisfitError(f"{money!r:.40} is no amount") from error
