"""Importing a file: checked as a whole first, then written in one transaction or not at all."""

import json
from dataclasses import asdict
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.models import DataImport, Project, Round, User
from annotate.core.rounds import round_one
from annotate.material.commands.items import ItemImporter
from annotate.material.commands.ratings import RatingImporter
from annotate.material.queries.catalogue import Catalogue
from annotate.material.queries.check import FileCheck, refuse_items_after_round_one
from annotate.material.reading.mapping_json import mapping_to_json
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.readers import size_of
from annotate.material.reading.report import ImportReport
from annotate.material.reading.source import Source
from annotate.rating.commands.rounds import add_places, open_round_one

What = DataImport.What


class RefusedWhileWritingError(Exception):
    """Something that was free when the file was checked is no longer so."""


def import_file(
    *,
    project: Project,
    source: Source,
    by: User | None,
    on_progress: OnProgress = silent,
    data_import: DataImport | None = None,
    only_good: bool = False,
    refused_to: Path | None = None,
    checking: type[FileCheck] = FileCheck,
    writing: "type[Writing] | None" = None,
) -> ImportReport:
    """Import the file if not one line of it is refused; what is there already is not made again.

    Checks the whole file without a lock. Then locks the project, its annotators' places and, for ratings,
    the places of Round I, and writes everything in one transaction. Ratings open Round I if it is not open.
    The transaction's last act is to report "written": the callback may still raise, and nothing is written.

    only_good: leave out the lines with something refused, and what needs them. refused_to: a file for them.
    data_import: what brings it; without, one is made with what is written, so that it can be undone.
    checking, writing: how the file is read in both passes where its ratings are not those of Round I.
    """
    check = checking(project, source, refused_to=refused_to)
    report = check.check(None, on_progress)
    while only_good and check.refused_lines and not check.stopped:
        skip = check.skip | check.refused_lines
        check = checking(project, source, skip=skip, refused_to=refused_to)
        report = check.check(None, on_progress)
    if report.is_refused or not report.made.total:
        return report
    on_progress("writing", 0.0, report.lines)
    written = (writing or Writing)(project, source, skip=check.skip)
    try:
        return written.write(report, data_import, by, on_progress)
    except RefusedWhileWritingError:
        return written.report(opens_round_one=False)


class Writing(FileCheck):
    """A reading of the file that makes every check again, and writes."""

    ratings_are = What.RATINGS

    @transaction.atomic
    def write(
        self, checked: ImportReport, data_import: DataImport | None, by: User | None, on_progress: OnProgress
    ) -> ImportReport:
        """Write what the first reading found to be new; RefusedWhileWritingError where it no longer is."""
        self.project = lock_project(self.project)
        self.data_import = data_import or _import_without_upload(
            self.project, self.source, self.ratings_are, by
        )
        round = round_one(self.project)
        catalogue = Catalogue(self.project)
        if self.source.items:
            self._write_items(catalogue, round, on_progress)
        if self.source.ratings and checked.made.ratings:
            self.write_ratings(catalogue, by, on_progress)
        report = self.report(opens_round_one=checked.opens_round_one)
        if report.is_refused:
            raise RefusedWhileWritingError
        if data_import is None:
            self.data_import.report, self.data_import.lines = report.to_json(), report.lines
            self.data_import.save(update_fields=["report", "lines"])
        made = {name: count for name, count in asdict(report.made).items() if count}
        record(self.project, "import.made", self.data_import, after={"part": self.source.part, **made}, by=by)
        on_progress("written", 1.0, report.lines, report)
        return report

    def _write_items(self, catalogue: Catalogue, round: Round | None, on_progress: OnProgress) -> None:
        self.items = importer = ItemImporter(self.project, catalogue, self.data_import)
        self.refuse_on_error(lambda: self.take_all("writing items", on_progress, ratings=False))
        importer.flush()
        self.refuse_on_error(lambda: refuse_items_after_round_one(round, importer))
        if round and round.is_open and round.every_item and importer.new_items:
            add_places(round=round, items=importer.new_items)

    def write_ratings(self, catalogue: Catalogue, by: User | None, on_progress: OnProgress) -> None:
        """Write what is new of the file's ratings, and nothing if one line of it is refused now."""
        if self.refusals.count:
            raise RefusedWhileWritingError
        round = round_one(self.project) or open_round_one(project=self.project, by=by, as_planned=False)
        self.ratings = importer = RatingImporter(self.project, catalogue, round, by)
        self.refuse_on_error(lambda: self.take_all("writing ratings", on_progress, items=False))
        importer.finish()


def _import_without_upload(
    project: Project, source: Source, ratings_are: What, by: User | None
) -> DataImport:
    what = (What.BOTH if source.items else ratings_are) if source.ratings else What.ITEMS
    return DataImport.objects.create(
        project=project,
        name=source.name[-255:],
        size=size_of(source.path),
        mapping=json.loads(mapping_to_json(source.mapping)),
        part=source.part,
        what=what,
        status=DataImport.Status.IMPORTED,
        progress=1.0,
        created_by=by,
        touched_at=timezone.now(),
    )


WRITINGS: dict[str, type[Writing]] = {}
"""How files are written whose ratings are not those of Round I, by what they are imported as."""
