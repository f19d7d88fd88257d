"""Commands of interchange: one function for each action of a person or a worker."""

from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from annotate.core.audit import record
from annotate.core.configuration import holding_project, lock_project
from annotate.core.database import step, write_in_steps, writes_in_steps
from annotate.core.guideline import FrozenGuideline
from annotate.core.models import DataImport, Project, User
from annotate.material.commands.holding import hold_project, keep_lease, note_written, write_when_free
from annotate.material.queries.catalogue import BATCH, Catalogue
from annotate.material.queries.imports import source_of
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.source import Source
from annotate.rating.commands.rounds import freeze_guideline
from judges.core.models import Judge, Judgment
from judges.endpoints.commands import create_template
from judges.interchange.queries.imports import (
    JudgmentCheck,
    JudgmentReading,
    Readings,
    ResolvedJudgment,
    read_judgments,
)
from judges.interchange.reading import JudgmentMapping, JudgmentReport
from judges.methods import Method
from judges.methods.base import Readable
from judges.methods.scales import OwnScale

# Importing judgments made elsewhere: checked as a whole, then written as a whole or not at all.

JUDGMENTS_PER_STEP = 300
JUDGMENTS = "judgments"
"""The kind of imports that make judgments."""


def import_judgments(
    *,
    project: Project,
    source: Source[JudgmentMapping],
    on_progress: OnProgress | None = None,
    by: User | None = None,
    only_good: bool = False,
    data_import: DataImport | None = None,
) -> JudgmentReport:
    """Import the file if all its lines are valid; existing judgments are not created again.

    Checks the whole file without a lock. Then locks the project, as planning a run and adding a judge do.
    Repeats every check under the lock and writes all in one transaction, which ends with the report
    "written". only_good: skip invalid lines, and import the others. data_import: the upload; SQLite locks its
    project, checks the file again and writes in steps, which another worker can finish.
    """
    on_progress = on_progress or silent
    continues = data_import is not None and data_import.must_be_finished
    # Rows of the file are written already, so lines that became invalid are skipped.
    only_good = only_good or continues
    checked = read_judgments(project, source, on_progress, only_good=only_good)
    report = checked.report()
    if report.is_refused or not (report.made.total or continues):
        return report
    on_progress("writing", 0.0, report.lines)
    if data_import is None or not writes_in_steps():
        return write_when_free(project, lambda locked: _write(locked, source, checked, on_progress, by))
    project = hold_project(data_import, report)
    # The first check had no lock; from here on nothing else changes the project.
    if not continues:
        readings = checked.checked.readings
        checked = read_judgments(project, source, silent, only_good=only_good, readings=readings)
        if (report := checked.report()).is_refused:
            return report
    # From this step on, a worker that finds the import must finish it.
    with holding_project(), step():
        note_written(data_import, DataImport.Written.RATINGS)
    with holding_project():
        return _write(project, source, checked, on_progress, by, data_import)


def _write(
    project: Project,
    source: Source[JudgmentMapping],
    checked: JudgmentReading,
    on_progress: OnProgress,
    by: User | None,
    data_import: DataImport | None = None,
) -> JudgmentReport:
    with step():
        guideline = FrozenGuideline.from_json(freeze_guideline(project).content)
    importer = JudgmentImporter(project, Catalogue(project), guideline, checked.checked.readings, data_import)
    reading = JudgmentReading(source, importer, checked.skip)
    reading.take_all("writing judgments", on_progress)
    report = reading.report()
    if report.is_refused and data_import is None:
        # Something that was free when the file was checked is no longer so.
        transaction.set_rollback(True)
        return report
    if data_import:  # a run stored these judgments after the check; they stay
        held = JudgmentReport.from_json(data_import.report or {})
        report = replace(report, made=held.made, already_there=held.already_there)
        report = replace(report, refused_count=0, refused=(), left_out=report.left_out + report.refused_count)
    importer.finish()
    with step():
        made = {"judges": report.made.judges, "judgments": report.made.judgments}
        record(project, "judgments.imported", source.name, after=made, by=by)
        on_progress("written", 1.0, report.lines, report)
    return report


class JudgmentImporter(JudgmentCheck):
    """Imports rows and writes new ones in steps. The caller holds the lock on the project."""

    def __init__(
        self,
        project: Project,
        catalogue: Catalogue,
        guideline: FrozenGuideline,
        readings: Readings,
        data_import: DataImport | None = None,
    ) -> None:
        super().__init__(project, catalogue, guideline, readings)
        self.data_import = data_import
        self._judgments: list[Judgment] = []

    def accept(self, taken: ResolvedJudgment) -> None:
        super().accept(taken)
        row, reading = taken.row, taken.reading
        readable = reading if isinstance(reading, Readable) else None
        assert taken.item.pk is not None
        self._judgments.append(
            Judgment(
                judge_id=taken.judge.pk,
                dimension_id=taken.dimension.id,
                item_id=taken.item.pk,
                other_id=taken.other.pk if taken.other else None,
                sample=taken.sample,
                status=Judgment.Status.DONE if readable else Judgment.Status.UNREADABLE,
                value=readable.value if readable else None,
                # The file's rationale has priority over words that the reader finds in the reply.
                rationale=row.rationale or (readable.rationale if readable else ""),
                reply=row.reply or "",
                reason="" if isinstance(reading, Readable) else reading.reason,
                input_tokens=row.input_tokens,
                output_tokens=row.output_tokens,
                cost=row.cost,
                seconds=row.seconds,
            )
        )
        # Memory holds one portion of a large file.
        if len(self._judgments) >= BATCH:
            self._flush()

    def new_judge(self, name: str, model: str, method: Method) -> Judge:
        judge = super().new_judge(name, model, method)
        with step():
            judge.save(force_insert=True)
        return judge

    def finish(self) -> None:
        """Write the remaining rows, and the judges' numbers of samples."""
        self._flush()
        with step():
            for judge in self.judges.values():
                if self.given.get(judge.name):
                    # Never fewer: an earlier file may have had more samples.
                    own = Judge.objects.filter(pk=judge.pk, samples__lt=judge.samples)
                    own.update(samples=judge.samples)

    def _flush(self) -> None:
        def write(judgments: Sequence[Judgment]) -> None:
            if self.data_import:
                # Another worker may have claimed the import, and then this step must not write.
                keep_lease(self.data_import)
            Judgment.objects.bulk_create(judgments)

        write_in_steps(self._judgments, write, most=JUDGMENTS_PER_STEP)
        self._judgments = []


@transaction.atomic
def add_recorded_judge(
    *, project: Project, name: str, model: str, method: str, prompt: str, pattern: str, scale: OwnScale
) -> None:
    """Create a judge without a model; a pattern parses its imported replies, on its own scale.

    Its prompt has the same name. Locks the project; an existing judge of that name does not change.
    """
    project = lock_project(project)
    # A second import of the same release finds its judges, and adds to their replies.
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


def import_upload(data_import: DataImport, on_progress: OnProgress) -> JudgmentReport:
    return import_judgments(
        project=data_import.project,
        source=source_of(data_import, JudgmentMapping.from_json(data_import.mapping or {})),
        on_progress=on_progress,
        by=data_import.created_by,
        only_good=data_import.only_good,
        data_import=data_import,
    )
