"""Extensions: the parts that an app adds to annotate, registered as one object once Django has loaded the
models.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise

from annotate.additions.registry import SECTIONS, AdditionPart
from annotate.core.jobs import JOB_KINDS, JobKind
from annotate.core.models import Addition, Project, Round
from annotate.core.page import NewPages, add_pages
from annotate.exports.checklist import CHECKLIST_LINES, ChecklistLines
from annotate.exports.formats.datasheet import COLLECTION_LINES, DatasheetLines
from annotate.exports.paper.parts import PAPER_SECTIONS, PaperSection
from annotate.exports.registry import TABLES, ExportTable
from annotate.exports.restoring.archive import RESTORERS, Restorer
from annotate.exports.tables.outcomes import JUDGE_SCORES, ByItem
from annotate.items.registry import LEADS, MARKS, ItemLead, ItemMark
from annotate.leaderboard.standings import JUDGED, JudgedScores
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
    """An app's additions to annotate, each for the package that reads it.

    app: the app's name; registering it again replaces its earlier additions. import_readings: the checks and
    writers of rating files other than Round I's, by kind. pages: for the navigation. results_pages, papers:
    for the results engine and for `manage.py reproduce`. unit_part: the route of an additional part of a
    disagreement's page. disagreements: further lists of disagreements. item_marks: filters for items.
    item_lead: actions on items. collection_lines: for the data sheet. checklist_lines: for the reporting
    checklist. paper_section: for the report in LaTeX. judge_scores: for the table of items. judged: the
    judges' part of leaderboards. addition_section: for the page of an addition. restorer: restores the app's
    export tables. finish_round_one: writes the app's assignments of an open Round I in steps. events: webhook
    events, with the content of each.
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
    judged: JudgedScores | None = None
    addition_section: Callable[[Addition], AdditionPart] | None = None
    restorer: Restorer | None = None
    finish_round_one: Callable[[Round], bool] | None = None
    watched: Watched | None = None
    events: Mapping[str, str | Promise] = field(default_factory=dict)


def extend(extension: Extension) -> None:
    """Add an app's parts after the existing ones."""
    app = extension.app
    # Dictionaries preserve the order of registration, so an app's parts follow annotate's parts.
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
    one_of_each: Sequence[tuple[dict[str, Any], Any]] = (
        (LEADS, extension.item_lead),
        (COLLECTION_LINES, extension.collection_lines),
        (CHECKLIST_LINES, extension.checklist_lines),
        (PAPER_SECTIONS, extension.paper_section),
        (JUDGE_SCORES, extension.judge_scores),
        (JUDGED, extension.judged),
        (SECTIONS, extension.addition_section),
        (RESTORERS, extension.restorer),
        (WATCHED, extension.watched),
    )
    for registry, part in one_of_each:
        if part:
            registry[app] = part
    # A list has no keys, so this check makes a second registration harmless.
    if extension.finish_round_one and extension.finish_round_one not in FINISHERS:
        FINISHERS.append(extension.finish_round_one)
    for pages in extension.pages:
        add_pages(pages)
