"""A draft of a datasheet (Gebru and others 2021), filled in with what the project itself can tell."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from django.db.models import Count, Max, Min, Q, Sum

from annotate.core.models import Assignment, Dispute, Document, Item, Project, Rating, Round, System
from annotate.exports.choice import ExportChoice
from annotate.exports.citation import Datasheet, DatasheetSection
from annotate.exports.formats.cards import plain, plain_line
from annotate.exports.tables.ratings import time_if_known
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.table import Cell

DatasheetLines = Callable[[Project], Sequence[str]]
COLLECTION_LINES: dict[str, DatasheetLines] = {}  # how other apps' data came to be, by the name of the app
TO_WRITE = "*To be written by the authors.*"


def datasheet(project: Project, choice: ExportChoice) -> str:
    """Return the draft as Markdown."""
    written = {
        section: plain(text) for section, text in Datasheet.from_dict(project.datasheet).sections.items()
    }
    composition, collection, distribution = (
        [written[each]] if each in written else []
        for each in (DatasheetSection.COMPOSITION, DatasheetSection.COLLECTION, DatasheetSection.DISTRIBUTION)
    )
    sections = {
        "Motivation": [written.get(DatasheetSection.MOTIVATION) or plain(project.description) or TO_WRITE],
        "Composition": [*composition, *_composition(project, choice)],
        "Collection process": [
            *(collection or [f"Who the raters are and what they were paid: {TO_WRITE}"]),
            *_collection(project),
            *(line for lines in COLLECTION_LINES.values() for line in lines(project)),
        ],
        "Agreement": agreement(project) or ["Nothing was rated yet."],
        "Preprocessing": [written.get(DatasheetSection.PREPROCESSING, TO_WRITE)],
        "Uses": [written.get(DatasheetSection.USES, TO_WRITE)],
        "Distribution": [*distribution, _licence(choice)],
        "Maintenance": [written.get(DatasheetSection.MAINTENANCE, TO_WRITE)],
    }
    parts = [f"# Datasheet: {plain_line(project.name)}"]
    for title, paragraphs in sections.items():
        parts += [f"## {title}", *paragraphs]
    return "\n\n".join(parts) + "\n"


def _composition(project: Project, choice: ExportChoice) -> list[str]:
    documents = Document.objects.filter(project=project).count()
    systems = System.objects.filter(project=project).count()
    items = Item.objects.filter(document__project=project).count()
    lines = [f"{items:,} texts of {systems:,} systems about {documents:,} documents."]
    if choice.left_out:
        lines.append(f"Left out of this release: {', '.join(sorted(choice.left_out))}.")
    return lines


def _collection(project: Project) -> Iterator[str]:
    dimensions = project.dimensions.count()
    rounds = Round.objects.filter(project=project).order_by("number")
    for round in rounds:
        ratings = Rating.objects.filter(assignment__round=round, value__isnull=False)
        found = ratings.aggregate(
            ratings=Count("pk"),
            raters=Count("assignment__annotator", distinct=True),
            seconds=Sum("active_seconds"),
            first=Min(time_if_known("created_at")),
            last=Max(time_if_known("updated_at", revision=1)),
        )
        if not found["ratings"]:
            continue
        how = (
            f"independently, up to {project.raters_per_item} for each item, on {dimensions} dimensions"
            if round.is_independent
            else "after they had read each other's values and reasons, on disputed units only"
        )
        measured = found["seconds"] or 0
        took = f" {measured / 3600:,.1f} hours of active time were measured." if measured else ""
        yield (
            f"{round}: {found['raters']} raters gave {found['ratings']:,} values {how}, "
            f"{_days(found['first'], found['last'])}.{took}"
        )
    yield from _plans(project)
    yield from _disputes(project)


def _days(first: datetime | None, last: datetime | None) -> str:
    if first is None or last is None:
        return "recorded elsewhere, on days that are not known"
    return f"from {first:%d %B %Y} to {last:%d %B %Y}"


def _plans(project: Project) -> Iterator[str]:
    places = Assignment.objects.filter(round__project=project, round__number=1)
    plans = places.order_by("plan").values_list("plan").annotate(count=Count("pk"))
    labels = [f"{Assignment.Plan(plan).label} ({count:,} places)" for plan, count in plans]
    if labels:
        yield f"Who rated what in Round I: {'; '.join(labels)}."


def _disputes(project: Project) -> Iterator[str]:
    status = Dispute.Status
    found = Dispute.objects.filter(round__project=project).aggregate(
        total=Count("pk"),
        settled=Count("pk", filter=Q(status=status.SETTLED)),
        adjudicated=Count("pk", filter=Q(status=status.ADJUDICATED)),
    )
    if found["total"]:
        yield (
            f"{found['total']:,} units were disputed; {found['settled']:,} settled in discussion and "
            f"{found['adjudicated']:,} were decided by adjudication."
        )


def agreement(project: Project) -> list[str]:
    """Return a sentence and a table in Markdown with the values of the agreement page; nothing if unrated."""
    table = current_page(project=project, result=result_of(project, "agreement")).table("rounds")
    if table is None:
        return []
    lines = ["| dimension | Round I reliability | Round II agreement after discussion |", "|---|---|---|"]
    keys = [column.key for column in table.columns]
    for row in table.rows:
        first, second = (row[keys.index(f"round_{number}_alpha")] for number in (1, 2))
        lines.append(f"| {row[0].value} | {_with_interval(first)} | {_with_interval(second)} |")
    says = "Krippendorff's alpha with its 95 % interval. Only Round I ratings are independent of each other."
    return [says, "\n".join(lines)]


def _with_interval(alpha: Cell) -> str:
    if not isinstance(alpha.value, float):
        return alpha.reason
    if alpha.low is None or alpha.high is None:
        return f"{alpha.value:.3f}"
    return f"{alpha.value:.3f} ({alpha.low:.3f} to {alpha.high:.3f})"


def _licence(choice: ExportChoice) -> str:
    return f"Licence: {choice.licence}." if choice.licence else f"Licence: {TO_WRITE}"
