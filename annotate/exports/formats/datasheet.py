"""A draft of a datasheet (Gebru and others 2021), with the facts that the project itself provides."""

import re
from collections.abc import Callable, Iterator, Sequence

from annotate.core.models import Project
from annotate.exports.choice import ExportChoice
from annotate.exports.citation import Datasheet, DatasheetSection
from annotate.exports.facts import Facts, facts_of
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.table import Cell

DatasheetLines = Callable[[Project], Sequence[str]]
COLLECTION_LINES: dict[str, DatasheetLines] = {}  # how other apps' data came to be, by the name of the app
TO_WRITE = "*To be written by the authors.*"
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def plain(text: str) -> str:
    """Escape a string so that nothing in it is markup, neither Markdown nor HTML; its lines remain."""
    return _MARKUP.sub(r"\\\1", text)


def plain_line(text: str) -> str:
    """Return the same in one line, as a heading needs it."""
    return plain(" ".join(text.split()))


def datasheet(project: Project, choice: ExportChoice) -> str:
    facts = facts_of(project)
    written = {
        section: plain(text) for section, text in Datasheet.from_dict(project.datasheet).sections.items()
    }
    composition, collection, distribution = (
        [written[each]] if each in written else []
        for each in (DatasheetSection.COMPOSITION, DatasheetSection.COLLECTION, DatasheetSection.DISTRIBUTION)
    )
    licence = f"{choice.licence}." if choice.licence else TO_WRITE
    sections = {
        "Motivation": [written.get(DatasheetSection.MOTIVATION) or plain(project.description) or TO_WRITE],
        "Composition": [*composition, *_composition(facts, choice)],
        "Collection process": [
            *(collection or [f"Who the raters are and what they were paid: {TO_WRITE}"]),
            *_collection(project, facts),
            *(line for lines in COLLECTION_LINES.values() for line in lines(project)),
        ],
        "Agreement": agreement(project) or ["Nothing was rated yet."],
        "Preprocessing": [written.get(DatasheetSection.PREPROCESSING, TO_WRITE)],
        "Uses": [written.get(DatasheetSection.USES, TO_WRITE)],
        "Distribution": [*distribution, f"Licence: {licence}"],
        "Maintenance": [written.get(DatasheetSection.MAINTENANCE, TO_WRITE)],
    }
    parts = [f"# Datasheet: {plain_line(project.name)}"]
    for title, paragraphs in sections.items():
        parts += [f"## {title}", *paragraphs]
    return "\n\n".join(parts) + "\n"


def _composition(facts: Facts, choice: ExportChoice) -> list[str]:
    lines = [f"{facts.items:,} texts of {facts.systems:,} systems about {facts.documents:,} documents."]
    if facts.comparisons:
        lines.append(f"{facts.comparisons:,} comparisons set several of these texts side by side.")
    if choice.left_out:
        lines.append(f"Left out of this release: {', '.join(sorted(choice.left_out))}.")
    return lines


def _collection(project: Project, facts: Facts) -> Iterator[str]:
    dimensions = project.dimensions.count()
    for found in facts.rounds:
        if not found.values:
            continue
        how = (
            f"independently, up to {project.raters_per_item} for each item, on {dimensions} dimensions"
            if found.round.is_independent
            else "after they had read each other's values and reasons, on disputed units only"
        )
        hours = found.seconds / 3600
        took = f" {hours:,.1f} hours of active time were measured." if found.seconds else ""
        yield f"{found.round}: {found.raters} raters gave {found.values:,} values {how}, {found.days}.{took}"
    if facts.plans:
        plans = (f"{label} ({count:,} places)" for label, count in facts.plans.items())
        yield f"Who rated what in Round I: {'; '.join(plans)}."
    if facts.disputed:
        yield (
            f"{facts.disputed:,} units were disputed; {facts.disputes.get('settled', 0):,} settled in "
            f"discussion and {facts.disputes.get('adjudicated', 0):,} were decided by adjudication."
        )


def agreement(project: Project) -> list[str]:
    """Return a summary and a table in Markdown with the values of the agreement page; nothing if unrated."""
    alphas = read_alphas(project)
    if not alphas:
        return []
    lines = ["| dimension | Round I reliability | Round II agreement after discussion |", "|---|---|---|"]
    lines += [f"| {name} | {first} | {second} |" for name, first, second in alphas]
    says = "Krippendorff's alpha with its 95 % interval. Only Round I ratings are independent of each other."
    return [says, "\n".join(lines)]


def read_alphas(project: Project) -> list[tuple[str, str, str]]:
    """Return each dimension's name with alpha of Round I and of Round II in words; nothing if unrated."""
    table = current_page(project=project, result=result_of(project, "agreement")).table("rounds")
    if table is None:
        return []
    keys = [column.key for column in table.columns]
    first, second = (keys.index(f"round_{number}_alpha") for number in (1, 2))
    return [
        (str(row[0].value), _format_with_interval(row[first]), _format_with_interval(row[second]))
        for row in table.rows
    ]


def _format_with_interval(alpha: Cell) -> str:
    if not isinstance(alpha.value, float):
        return alpha.reason
    if alpha.low is None or alpha.high is None:
        return f"{alpha.value:.3f}"
    return f"{alpha.value:.3f} ({alpha.low:.3f} to {alpha.high:.3f})"
