import re
from collections.abc import Sequence

from django.utils.translation import gettext, gettext_lazy

from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenGuideline
from annotate.core.metadata import metadata_names
from annotate.core.models import Project
from annotate.core.rounds import last_round
from annotate.leaderboard.queries import finished_additions, leaderboard_of
from annotate.leaderboard.standings import ALL, JUDGED, Board, Leaderboard, ListedSystem
from annotate.results.answers import column_of
from annotate.results.queries.kept import ratings_of, version_of_ratings
from annotate.results.registry import Arrangement, Chart, Chosen, Parameter, ResultsPage, Tables
from annotate.results.table import Cell, Column, ColumnKind, Section, Table, text
from annotate.results.text import MINUS

HOW = gettext_lazy(
    "Mean over documents of the raters’ mean (function compare_panels); t interval with n - 1 degrees of "
    "freedom; pairs by document, Holm; sources: Student 1908; Piepho 2004; Chatzi and others 2024."
)
SAYS = gettext_lazy(
    "Intervals of means are about documents like these, by these raters. Systems that share a letter do not "
    "surely differ (Holm, over all pairs; raters and documents are samples where the crossed model can be "
    "fitted). Ranks are valid together with 95 % confidence."
)
SAYS_ADDITIONS = gettext_lazy(
    "Systems of additions have other raters. A correction for the severity of these raters is added to their "
    "means, and their intervals include its uncertainty."
)
SAYS_JUDGED = gettext_lazy(
    "A judge rated a part of the outputs of some systems. People rated a random sample of that part, which "
    "corrects these means (Horvitz and Thompson 1952; Zrnic and Candès 2024)."
)


def explain(board: Board) -> str:
    parts = [SAYS]
    if any(each.addition for each in board.systems):
        parts.append(SAYS_ADDITIONS)
    if any(each.is_judged for each in board.systems):
        parts.append(SAYS_JUDGED)
    return " ".join(str(each) for each in parts)


def _dimensions(project: Project) -> Sequence[tuple[str, str]]:
    round = last_round(project)
    if round is None:
        raise NotReadyError(gettext("A leaderboard needs ratings. Open Round I and collect some."))
    scales = FrozenGuideline.from_json(round.guideline.content).scales
    found = [(each.key, each.name) for each in scales if not each.is_named]
    ends = {(each.scale_minimum, each.scale_maximum) for each in scales if not each.is_named}
    return [*([(ALL, gettext("all dimensions"))] if len(found) > 1 and len(ends) == 1 else []), *found]


def _metadata(project: Project) -> Sequence[tuple[str, str]]:
    names = metadata_names(project, of_items=False)
    return [("", gettext("all documents together")), *((name, name) for name in names)] if names else []


BOARD = Parameter("dimension", gettext_lazy("Dimension"), _dimensions)
VALUES = Parameter("metadata", gettext_lazy("Means by"), _metadata)


def leaderboard_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return the chosen board, its means by the chosen metadata, and the hours and money."""
    found = leaderboard_of(project)
    board = found.board(chosen.get(BOARD.name, ""))
    if board is None:
        return [Section(gettext("Hours and money"), " ".join(found.notes), [_parts_table(found)])]
    tables = [board_table(board), _parts_table(found)]
    notes = " ".join(found.notes)
    if name := chosen.get(VALUES.name, ""):
        if name in board.values:
            tables.insert(0, values_table(board, name))
        else:
            few = gettext("There are no means by {name}: it has one value on all documents, or very many.")
            notes = f"{notes} {few.format(name=name)}".strip()
    section = Section(board.name, explain(board), tables)
    return [section, *([Section(gettext("What is missing"), notes, [])] if notes else [])]


def board_table(board: Board) -> Table:
    """Return a board as a table, the highest mean first."""
    columns = [
        Column("system", gettext("System"), ColumnKind.TEXT),
        Column("mean", gettext("mean"), decimals=2),
        Column("groups", gettext("groups"), ColumnKind.TEXT),
        Column("ranks", gettext("possible ranks"), ColumnKind.TEXT),
        Column("documents", gettext("documents"), ColumnKind.COUNT),
        Column("ratings", gettext("ratings"), ColumnKind.COUNT),
        Column("source", gettext("source"), ColumnKind.TEXT),
        Column("addition", gettext("addition"), ColumnKind.COUNT),
        Column("severity_correction", gettext("correction for severity, added to the mean"), decimals=2),
    ]
    # The reasons for empty cells.
    own = gettext("The system belongs to the benchmark itself.")
    alone = gettext("No pair was compared.")
    rows = [
        [
            text(each.system),
            mean_cell(each),
            text(each.letters) if each.letters else Cell(reason=alone),
            text(ranks_of(each)) if each.best else Cell(reason=alone),
            Cell(each.documents),
            Cell(each.ratings),
            text(each.source),
            Cell(reason=own) if each.addition is None else Cell(each.addition),
            Cell(reason=own if each.addition is None else each.reason or "–")
            if each.severity_correction is None
            else Cell(each.severity_correction),
        ]
        for each in board.systems
    ]
    title = gettext("Systems by mean: {name}").format(name=board.name)
    return Table("standings", title, columns, rows, plot="intervals")


def ranks_of(each: ListedSystem) -> str:
    """Return the ranks that a system may have, such as 1–3."""
    return f"{each.best}–{each.worst}" if each.best < each.worst else f"{each.best}"


def mean_cell(each: ListedSystem) -> Cell:
    if each.mean is None:
        return Cell(reason=each.reason)
    return Cell(
        each.mean,
        each.low,
        each.high,
        interval_reason=each.reason if each.low is None else "",
        count=each.documents,
        how=str(HOW),
    )


def values_table(board: Board, name: str) -> Table:
    """Return the means of a board's systems on the documents with each value of this metadata."""
    by_value = board.values[name]
    means = {value: {each.system: each for each in own} for value, own in by_value.items()}
    columns = [
        Column("system", gettext("System"), ColumnKind.TEXT),
        *(Column(f"value_{position}", value, decimals=2) for position, value in enumerate(by_value, start=1)),
    ]
    rows = [
        [text(each.system), *(mean_cell(own[each.system]) for own in means.values())]
        for each in board.systems
    ]
    title = gettext("Means by {name}: {board}").format(name=name, board=board.name)
    return Table("by-value", title, columns, rows, plot="intervals")


def _parts_table(found: Leaderboard) -> Table:
    columns = [
        Column("part", gettext("Part"), ColumnKind.TEXT),
        Column("systems", gettext("systems"), ColumnKind.COUNT),
        Column("raters", gettext("raters"), ColumnKind.COUNT),
        Column("hours", gettext("hours of people"), decimals=1),
        Column("money", gettext("spent on judges"), decimals=2),
    ]
    rows = [
        [
            text(
                gettext("Benchmark")
                if each.addition is None
                else gettext("Addition {number}").format(number=each.addition)
            ),
            Cell(len(each.systems)),
            Cell(each.raters),
            Cell(each.hours),
            Cell(float(each.money)),
        ]
        for each in found.parts
    ]
    return Table("effort", gettext("Hours and money"), columns, rows)


def answer_leaderboard(tables: Tables) -> str:
    """Return the system with the highest mean, and the systems without a clear difference from it."""
    board = tables.get("standings")
    # Systems without a mean come last, so the first row has none only if all rows have none.
    if board is None or not board.rows or board.rows[0][1].value is None:
        return gettext("No system has a mean yet.")
    names, letters = column_of(board, "system"), column_of(board, "groups")
    # Letters may have numbers, such as a1; a system without letters has no compared pair.
    groups = {
        str(name.value): set(re.findall(r"[a-z]\d*", str(own.value)))
        for name, own in zip(names, letters, strict=True)
        if own.value is not None
    }
    first = str(names[0].value)
    mean = f"{board.rows[0][1].value:.2f}".replace("-", MINUS)
    found = gettext("{system} has the highest mean, {mean}.").format(system=first, mean=mean)
    if len(groups) < 2 or first not in groups:
        return found
    # Systems that share a letter do not surely differ.
    shared = [name for name in groups if name != first and groups[name] & groups[first]]
    is_whole = len(groups) == len(names)
    if shared and (len(shared) < len(groups) - 1 or not is_whole):
        same = gettext("These do not surely differ from it: {names}.").format(names=", ".join(shared))
    elif shared:
        same = gettext("No other system surely differs from it.")
    elif is_whole:
        same = gettext("It surely differs from every other system.")
    else:
        same = gettext("It surely differs from every system that is compared with it.")
    return f"{found} {same}"


def _version(project: Project) -> Sequence[object]:
    projects = [project, *(each.project for each in finished_additions(project))]
    return [
        [*version_of_ratings(each), *(judged.version(each) for judged in JUDGED.values())]
        for each in projects
    ]


_STANDINGS = Chart("standings", columns=("mean",))
LEADERBOARD_PAGE = ResultsPage(
    "leaderboard",
    gettext_lazy("Leaderboard"),
    gettext_lazy("Systems with their means, groups, hours and money, by dimension and by metadata."),
    leaderboard_sections,
    _version,
    ratings_of,
    [BOARD, VALUES],
    arrangement=Arrangement(
        tabs={
            "standings": gettext_lazy("Systems"),
            "by-value": gettext_lazy("By metadata"),
            "effort": gettext_lazy("Hours and money"),
        },
        chart=_STANDINGS,
        charts={"effort": "standings"},
        columns={"standings": ("system", "mean", "groups", "ranks", "documents", "ratings", "source")},
        answer=answer_leaderboard,
    ),
)
