"""Importing judgments made elsewhere: checked as a whole, then written in one transaction or not at all."""

from django.db import transaction

from annotate.commands.audit import record
from annotate.commands.configuration import lock_project
from annotate.commands.rounds import freeze_guideline
from annotate.guideline import FrozenGuideline
from annotate.import_kinds import ImportKind
from annotate.importing.progress import Tell, silent
from annotate.models import DataImport, Project, User
from annotate.queries.catalogue import BATCH, Catalogue
from judges.importing.mapping import JudgmentMapping
from judges.importing.report import JudgmentReport
from judges.methods import Method
from judges.methods.base import Readable
from judges.models import Judge, Judgment
from judges.queries.judgment_check import JudgmentCheck, KnownJudge, Taken
from judges.queries.judgment_imports import JudgmentReading, JudgmentSource, check_judgments, source_of

JUDGMENTS = "judgments"
"""The kind of imports that make judgments."""


class _RefusedWhileWritingError(Exception):
    """Something that was free when the file was checked is no longer so."""

    def __init__(self, report: JudgmentReport) -> None:
        super().__init__()
        self.report = report


def import_judgments(
    *, project: Project, source: JudgmentSource, tell: Tell | None = None, by: User | None = None
) -> JudgmentReport:
    """Import the file if not one line of it is refused; what is there already is not made again.

    Checks the whole file without a lock. Then locks the project, as planning a run and adding a judge do,
    makes every check again, and writes all in one transaction, whose last act is to tell "written".
    """
    tell = tell or silent
    report = check_judgments(project=project, source=source, tell=tell)
    if report.is_refused or not report.made.total:
        return report
    tell("writing", 0.0, report.lines)
    try:
        return _write(project, source, tell, by)
    except _RefusedWhileWritingError as error:
        return error.report


@transaction.atomic
def _write(project: Project, source: JudgmentSource, tell: Tell, by: User | None) -> JudgmentReport:
    project = lock_project(project)
    guideline = FrozenGuideline.from_json(freeze_guideline(project).content)
    importer = JudgmentImporter(project, Catalogue(project), guideline)
    reading = JudgmentReading(source, importer)
    reading.take_all("writing judgments", tell)
    report = reading.report()
    if report.is_refused:
        raise _RefusedWhileWritingError(report)
    importer.finish()
    made = {"judges": report.made.judges, "judgments": report.made.judgments}
    record(project, "judgments.imported", source.name, after=made, by=by)
    tell("written", 1.0, report.lines)
    return report


class JudgmentImporter(JudgmentCheck):
    """Takes rows one by one and writes what is new, inside the caller's transaction."""

    def __init__(self, project: Project, catalogue: Catalogue, guideline: FrozenGuideline) -> None:
        super().__init__(project, catalogue, guideline)
        self.project = project
        self._judgments: list[Judgment] = []

    def accept(self, taken: Taken) -> None:
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


def _judgment(taken: Taken) -> Judgment:
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


def _import_upload(data_import: DataImport, tell: Tell) -> JudgmentReport:
    mapping = JudgmentMapping.from_json(data_import.mapping or {})
    source = source_of(data_import, mapping)
    by = data_import.created_by
    return import_judgments(project=data_import.project, source=source, tell=tell, by=by)


JUDGMENTS_KIND = ImportKind(
    key=JUDGMENTS,
    run=_import_upload,
    read_report=JudgmentReport.from_json,
    page="judgment_import",
    pages="judgment_imports",
)
