"""Markdown documents of a data set: its data card, and a draft of its datasheet (Gebru and others 2021)."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import yaml
from django.db.models import Count, Max, Min, Q, Sum

from annotate.core.models import Assignment, Dispute, Document, Item, Project, Rating, Round, System
from annotate.core.version import VERSION
from annotate.exports.choice import ExportChoice
from annotate.exports.citation import Datasheet, DatasheetSection, bibtex
from annotate.exports.manifest import Passed
from annotate.exports.registry import ExportTable
from annotate.exports.tables.ratings import time_if_known
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.table import Cell

DatasheetLines = Callable[[Project], Sequence[str]]
COLLECTION_LINES: dict[str, DatasheetLines] = {}  # how other apps' data came to be, by the name of the app
TO_WRITE = "*To be written by the authors.*"
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


@dataclass(frozen=True)
class RoundFacts:
    """The ratings of a round. first, last: None if the times are unknown.

    seconds: measured active time. without_value: answers “cannot rate” or “not applicable”. unfinished: the
    number of open assignments.
    """

    round: Round
    raters: int
    values: int
    without_value: int
    unfinished: int
    seconds: float
    first: datetime | None
    last: datetime | None

    @property
    def days(self) -> str:
        if self.first is None or self.last is None:
            return "recorded elsewhere, on days that are not known"
        return write_days(self.first, self.last)


@dataclass(frozen=True)
class Facts:
    """Counts of a project; items are outputs.

    disputes: by status. plans: assignments of Round I by label of their plan.
    """

    documents: int
    systems: int
    items: int
    comparisons: int
    rounds: list[RoundFacts]
    plans: Mapping[str, int]
    disputes: Mapping[str, int]

    @cached_property
    def disputed(self) -> int:
        return sum(self.disputes.values())


def facts_of(project: Project) -> Facts:
    """Return the facts. Six queries, and two for each round."""
    assignments = Assignment.objects.filter(round__project=project, round__number=1)
    plans = assignments.order_by("plan").values_list("plan").annotate(count=Count("pk"))
    disputes = Dispute.objects.filter(round__project=project).order_by("status").values_list("status")
    rounds = Round.objects.filter(project=project).select_related("guideline").order_by("number")
    kinds = Item.objects.filter(document__project=project).order_by("kind").values_list("kind")
    items = dict(kinds.annotate(count=Count("pk")))
    return Facts(
        documents=Document.objects.filter(project=project).count(),
        systems=System.objects.filter(project=project, compares=False).count(),
        items=items.get(Item.Kind.OUTPUT, 0),
        comparisons=sum(count for kind, count in items.items() if kind != Item.Kind.OUTPUT),
        rounds=[_facts_of_round(round) for round in rounds],
        plans={str(Assignment.Plan(plan).label): count for plan, count in plans},
        disputes=dict(disputes.annotate(count=Count("pk"))),
    )


def _facts_of_round(round: Round) -> RoundFacts:
    has_value = Q(value__isnull=False)
    found = Rating.objects.filter(assignment__round=round).aggregate(
        values=Count("pk", filter=has_value),
        without_value=Count("pk", filter=Q(cannot_rate=True) | Q(not_applicable=True)),
        raters=Count("assignment__annotator", filter=has_value, distinct=True),
        seconds=Sum("active_seconds", filter=has_value),
        first=Min(time_if_known("created_at"), filter=has_value),
        last=Max(time_if_known("updated_at", revision=1), filter=has_value),
    )
    unfinished = Assignment.objects.filter(round=round, completed_at__isnull=True).count()
    return RoundFacts(round, unfinished=unfinished, **{**found, "seconds": found["seconds"] or 0})


def write_day(at: datetime) -> str:
    """Return the day in UTC as 5 March 2026."""
    return f"{at.day} {at:%B %Y}"


def write_days(first: datetime, last: datetime) -> str:
    """Return “on” one day, or “from” one day “to” another."""
    one, other = write_day(first), write_day(last)
    return f"on {one}" if one == other else f"from {one} to {other}"


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
    # Sections to which Concord adds facts; the others are the authors' alone.
    composition, collection, distribution = (
        [written[each]] if each in written else []
        for each in (DatasheetSection.COMPOSITION, DatasheetSection.COLLECTION, DatasheetSection.DISTRIBUTION)
    )
    licence = f"{choice.licence}." if choice.licence else TO_WRITE
    compared = f"{facts.comparisons:,} comparisons set several of these texts side by side."
    left_out = ", ".join(sorted(choice.left_out))
    sections = {
        "Motivation": [written.get(DatasheetSection.MOTIVATION) or plain(project.description) or TO_WRITE],
        "Composition": [
            *composition,
            f"{facts.items:,} texts of {facts.systems:,} systems about {facts.documents:,} documents.",
            *([compared] if facts.comparisons else []),
            *([f"Left out of this release: {left_out}."] if left_out else []),
        ],
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
    says = "Krippendorff's alpha with its 95 % interval. Only Round I ratings are independent of each other."
    return [
        says,
        markdown_table("dimension | Round I reliability | Round II agreement after discussion", alphas),
    ]


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
    # An undefined alpha has its reason instead of a value.
    if not isinstance(alpha.value, float):
        return alpha.reason
    if alpha.low is None or alpha.high is None:
        return f"{alpha.value:.3f}"
    return f"{alpha.value:.3f} ({alpha.low:.3f} to {alpha.high:.3f})"


DEFAULT = "benchmark"
_KEYS = (
    "`document`, `system` and `dimension` together are a unit and join the tables. Only ratings of round 1 "
    "are independent of each other. People appear under pseudonyms. Lists are lists in `benchmark`; "
    "elsewhere lists and objects are JSON in a text."
)
_MOST_SIGNS = 300  # Maximum length of a string in the example row.


def data_card(project: Project, choice: ExportChoice, tables: Sequence[ExportTable], passed: Passed) -> str:
    """Return the card as Markdown below its YAML, which assigns files to configurations."""
    # The Hub reads the YAML head of a card to find the files of each configuration.
    head = yaml.safe_dump(_head(project, choice, tables, passed), sort_keys=False, allow_unicode=True)
    configurations = ((f"`{each.name}`", f"{passed.rows[each.name]:,}", each.says) for each in tables)
    measured, cited = agreement(project), cite(project, choice, passed)
    sections = [
        f"# {plain_line(project.name)}",
        plain(project.description),
        markdown_table("configuration | rows | what it holds", configurations),
        _KEYS,
        *(["## Agreement", *measured] if measured else []),
        *_loading(project, choice, tables),
        *_licences(choice),
        *(["## Citing it", f"```bibtex\n{cited}\n```"] if cited else []),
        "How it was made: [DATASHEET.md](DATASHEET.md) and [CHECKLIST.md](CHECKLIST.md). Exported by Concord "
        f"{VERSION}; `manifest.json` has the content hash.",
        "## Columns",
        *(
            f"### {table.name}\n\n"
            + markdown_table(
                "column | meaning", ((f"`{column.name}`", column.meaning) for column in table.columns)
            )
            for table in tables
        ),
    ]
    return f"---\n{head}---\n\n" + "\n\n".join(filter(None, sections)) + "\n"


def cite(project: Project, choice: ExportChoice, passed: Passed) -> str:
    return bibtex(project.slug, project.name, choice.card, passed.latest)


def _head(
    project: Project, choice: ExportChoice, tables: Sequence[ExportTable], passed: Passed
) -> dict[str, Any]:
    written = Datasheet.from_dict(project.datasheet)
    return {
        **({"language": list(written.languages)} if written.languages else {}),
        **({"task_categories": list(written.task_categories)} if written.task_categories else {}),
        "size_categories": [size_category(passed.rows.get(DEFAULT, 0))],
        **({"license": choice.licence} if choice.licence else {}),
        "pretty_name": project.name,
        "annotations_creators": ["expert-generated"],
        "tags": ["human-evaluation", "inter-annotator-agreement", "croissant"],
        "configs": [
            {
                "config_name": table.name,
                "data_files": [{"split": choice.card.split.value, "path": f"data/{table.name}/*.parquet"}],
                **({"default": True} if table.name == DEFAULT else {}),
            }
            for table in tables
        ],
    }


def size_category(rows: int) -> str:
    """Return the Hub's name for data sets of this size."""
    ends = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")
    # The ends are powers of ten from a thousand.
    index = next((index for index in range(len(ends)) if rows < 10 ** (index + 3)), len(ends))
    if index == 0:
        return f"n<{ends[0]}"
    return f"{ends[index - 1]}<n<{ends[index]}" if index < len(ends) else f"n>{ends[-1]}"


def _loading(project: Project, choice: ExportChoice, tables: Sequence[ExportTable]) -> Iterator[str]:
    default = next((table for table in tables if table.name == DEFAULT), None)
    if default is None:  # there are no items
        return
    name, split = DEFAULT, choice.card.split
    yield "## Loading it"
    loaded = f'load_dataset("{project.slug}", split="{split}")'
    yield "Its name is that of this folder, or `name/data-set` on the Hub:"
    yield f"```python\nfrom datasets import load_dataset\n\n{name} = {loaded}\n```"
    # One row shows the reader what to expect; the rows are a generator, so no others are read.
    row = next(iter(default.rows(project)))
    first = {column: _shorten(row[column]) for column in default.names}
    yield f"A row of `{name}`:"
    yield f"```json\n{json.dumps(first, ensure_ascii=False, indent=1, default=str)}\n```"


def _shorten(value: Any) -> Any:
    if isinstance(value, list):
        return [_shorten(each) for each in value]
    if isinstance(value, dict):
        return {name: _shorten(each) for name, each in value.items()}
    return f"{value[:_MOST_SIGNS]}…" if isinstance(value, str) and len(value) > _MOST_SIGNS else value


def _licences(choice: ExportChoice) -> Iterator[str]:
    sources = choice.card.text_licences
    rows = [("ratings and all else that is not named here", choice.licence)] if choice.licence else []
    if rows or sources:
        yield "## Licences"
        yield markdown_table("of | licence", (map(plain_line, each) for each in [*sources, *rows]))


def markdown_table(heads: str, rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown. heads: with bars between them."""
    rule = "|---" * (heads.count("|") + 1)
    return "\n".join([f"| {heads} |", f"{rule}|", *(f"| {' | '.join(cells)} |" for cells in rows)])
