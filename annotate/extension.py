"""What an app adds to the rooms of annotate, handed over as one object when Django has loaded the models."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.functional import Promise

from annotate.additions.registry import SECTIONS, AdditionPart
from annotate.core.jobs import JOB_KINDS, JobKind
from annotate.core.models import Addition, Project, Round
from annotate.core.navigation import NewPages, add_pages
from annotate.exports.checklist import CHECKLIST_LINES, ChecklistLines
from annotate.exports.formats.datasheet import COLLECTION_LINES, DatasheetLines
from annotate.exports.paper.parts import PAPER_SECTIONS, PaperSection
from annotate.exports.registry import TABLES, ExportTable
from annotate.exports.restoring.restored import RESTORERS, Restorer
from annotate.exports.tables.benchmark import JUDGE_SCORES, ByItem
from annotate.items.registry import LEADS, MARKS, ItemLead, ItemMark
from annotate.material.commands.imports import WRITINGS, Writing
from annotate.material.import_kinds import KINDS, ImportKind
from annotate.material.queries.check import CHECKS, FileCheck
from annotate.rating.commands.rounds import FINISHERS
from annotate.results.queries.disagreements import SOURCES, DisagreementSource
from annotate.results.registry import PAGES, PARTS, UNIT_PARTS, ResultsPage
from annotate.results.reproduction.papers import PAPERS, Paper
from annotate.watching.registry import WATCHED, Watched
from annotate.webhooks.events import EVENTS


@dataclass(frozen=True)
class Extension:
    """What an app adds, each part to the room that reads it.

    app: whose it is; said again, it takes the place of what that app said before.
    import_readings: how files of ratings besides those of Round I are checked and written, by what they are.
    pages: of the navigation. results_pages, papers: of the results engine and of `manage.py reproduce`.
    unit_part: the route of what a disagreement's page loads besides. disagreements: whose the app can list.
    item_marks: by which items are found.
    item_lead: what may be done with them.
    collection_lines: of the data sheet. checklist_lines: of the reporting checklist. paper_section: of the
    report in LaTeX. judge_scores: of the table of items.
    addition_section: of the page of an addition. restorer: restores the app's export tables.
    finish_round_one: writes the app's assignments of an open Round I in steps. events: of webhooks, with the
    content of each.
    """

    app: str
    jobs: Sequence[JobKind] = ()
    pages: Sequence[NewPages] = ()
    import_kinds: Sequence[ImportKind] = ()
    import_readings: Mapping[str, tuple[type[FileCheck], type[Writing]]] = field(default_factory=dict)
    export_tables: Sequence[ExportTable] = ()
    results_pages: Sequence[ResultsPage] = ()
    results_parts: Sequence[ResultsPage] = ()
    papers: Sequence[Paper] = ()
    unit_part: str = ""
    disagreements: Sequence[DisagreementSource] = ()
    item_marks: Sequence[ItemMark] = ()
    item_lead: ItemLead | None = None
    collection_lines: DatasheetLines | None = None
    checklist_lines: ChecklistLines | None = None
    paper_section: PaperSection | None = None
    judge_scores: Callable[[Project], ByItem] | None = None
    addition_section: Callable[[Addition], AdditionPart] | None = None
    restorer: Restorer | None = None
    finish_round_one: Callable[[Round], bool] | None = None
    watched: Watched | None = None
    events: Mapping[str, str | Promise] = field(default_factory=dict)


def extend(extension: Extension) -> None:
    """Add an app's parts after those that are there."""
    app = extension.app
    JOB_KINDS.update({kind.name: kind for kind in extension.jobs})
    KINDS.update({kind.key: kind for kind in extension.import_kinds})
    CHECKS.update({what: check for what, (check, _) in extension.import_readings.items()})
    WRITINGS.update({what: writing for what, (_, writing) in extension.import_readings.items()})
    TABLES.update({table.name: table for table in extension.export_tables})
    PAGES.update({page.name: page for page in extension.results_pages})
    PARTS.update({page.name: page for page in extension.results_parts})
    PAPERS.update({paper.key: paper for paper in extension.papers})
    EVENTS.update(extension.events)
    MARKS.update({mark.name: mark for mark in extension.item_marks})
    if extension.unit_part:
        UNIT_PARTS[app] = extension.unit_part
    SOURCES.update({source.name: source for source in extension.disagreements})
    if extension.item_lead:
        LEADS[app] = extension.item_lead
    if extension.collection_lines:
        COLLECTION_LINES[app] = extension.collection_lines
    if extension.checklist_lines:
        CHECKLIST_LINES[app] = extension.checklist_lines
    if extension.paper_section:
        PAPER_SECTIONS[app] = extension.paper_section
    if extension.judge_scores:
        JUDGE_SCORES[app] = extension.judge_scores
    if extension.addition_section:
        SECTIONS[app] = extension.addition_section
    if extension.restorer:
        RESTORERS[app] = extension.restorer
    if extension.finish_round_one and extension.finish_round_one not in FINISHERS:
        FINISHERS.append(extension.finish_round_one)
    if extension.watched:
        WATCHED[app] = extension.watched
    for pages in extension.pages:
        add_pages(pages)
