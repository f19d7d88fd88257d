"""A result's table as LaTeX that fits between the margins of its page, and as a file in every format."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, TypeVar
from unicodedata import name as unicode_name

from django.http import Http404, HttpResponse
from django.utils.translation import gettext

from annotate.core.models import Project
from annotate.core.strings import is_for_spreadsheet, read_number
from annotate.results.table import ColumnKind, Table
from annotate.results.text import (
    MINUS,
    comma_separated,
    format_cell,
    interval,
    markdown,
    marks_of,
    notes_of,
    on_one_line,
)

_Choice = TypeVar("_Choice", bound=StrEnum)

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    MINUS: "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
    **{sign: rf"$\{unicode_name(sign).split()[-1].lower()}$" for sign in "αβγδεζηθικλμνξπρστυφχψω"},
}
# Of Computer Modern Roman at 10 pt, in thousandths of its size; the widest of signs that are much alike.
_WIDTHS = {
    **dict.fromkeys("0123456789aghkoqvxy/+=", 528),
    **dict.fromkeys("bdnpu", 556),
    **dict.fromkeys("cefrstz()", 444),
    **dict.fromkeys(" ijlI,.;:[]'-", 361),
    **dict.fromkeys("mwMW%", 1028),
}
_CAPITAL = 778  # and those not listed above
_WIDEST = 1028
_BOLD = 1.15  # of the same signs in medium letters
_SCRIPT = 0.8  # of 10 pt, whatever is around
_LINES_OF_A_PAGE = 38


class Intervals(StrEnum):
    """Position of intervals: next to or below their values if there is room, or omitted."""

    FIT = "fit"
    BESIDE = "beside"
    BELOW = "below"
    OFF = "off"


class Environment(StrEnum):
    """The environment of the table, by its length: a float, a float over both columns, or several pages."""

    FIT = "fit"
    TABLE = "table"
    WIDE = "table*"
    LONG = "longtable"


@dataclass(frozen=True)
class LatexChoices:
    """The typesetting of a table.

    digits: decimals of values, None as on the page. width: of a line, in points.

    A line has 345 points in `article`, 455 on a page and 219 in a column of two for the ACL.
    """

    intervals: Intervals = Intervals.FIT
    environment: Environment = Environment.FIT
    transposed: bool = False
    digits: int | None = None
    width: float = 345

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "LatexChoices":
        """Return the choices in a URL or a command line; missing or invalid ones have their defaults."""
        digits, width = (read_number(str(given.get(name, ""))) for name in ("digits", "width"))
        return cls(
            intervals=_one_of(Intervals, given.get("intervals")),
            environment=_one_of(Environment, given.get("environment")),
            transposed=bool(given.get("transposed")),
            digits=None if digits is None else min(digits, 9),
            width=cls.width if width is None else min(max(float(width), 100), 2000),
        )


@dataclass(frozen=True)
class _TableSetting:
    """A font size and its share of 10 pt, the gap at each side of a cell, and the position of intervals."""

    size: str
    part: float
    gap: float
    below: bool


_BESIDE = [_TableSetting(r"\normalsize", 1, 6, False), _TableSetting(r"\small", 0.925, 4, False)]
_BELOW = [_TableSetting(r"\small", 0.925, 4, True), _TableSetting(r"\footnotesize", 0.85, 3, True)]


class _RenderedCell(NamedTuple):
    """A cell: its value, its interval, and its position in its column."""

    value: str
    interval: str = ""
    rank: int | None = None


@dataclass(frozen=True)
class _Grid:
    """The contents of a table: its columns' names and its cells; the first `heads` name the row."""

    names: Sequence[str]
    rows: Sequence[Sequence[_RenderedCell]]
    words: Sequence[bool]
    heads: int

    def part(self, columns: Sequence[int]) -> "_Grid":
        kept = [*range(self.heads), *columns]
        return _Grid(
            [self.names[at] for at in kept],
            [[row[at] for at in kept] for row in self.rows],
            [self.words[at] for at in kept],
            self.heads,
        )


def latex(
    table: Table,
    choices: LatexChoices | None = None,
    *,
    project: str = "",
    caption: str = "",
    notes: Sequence[str] | None = None,
) -> str:
    r"""Return a table for the packages array, booktabs and longtable, in UTF-8.

    It is adjusted until it fits: smaller fonts, intervals below the values, wrapped cells, and finally
    several parts. A table longer than a page is a `longtable`. The caption names the project; `\label` is
    `tab:` and the table's key. The methods of its values follow in small print.

    caption: LaTeX that replaces the title. notes: lines that replace the small print.
    """
    choices = choices or LatexChoices()
    # Choose the setting by widths, then cut the table into parts that fit.
    grid = _grid(table, choices)
    setting = _setting(grid, choices)
    parts = list(_parts(grid, setting, choices.width))
    caption = caption or escape_latex(". ".join(each for each in (project, table.title) if each))
    notes = [escape_latex(note) for note in (notes_of(table) if notes is None else notes)]
    lines_in_all = sum(4 + len(list(_body(part, setting))) for part in parts)
    is_long = choices.environment is Environment.FIT and lines_in_all > _LINES_OF_A_PAGE
    if is_long or choices.environment is Environment.LONG:
        return _long(parts, setting, choices.width, caption, table.key, notes)
    name = Environment.WIDE if choices.environment is Environment.WIDE else Environment.TABLE
    # The parts follow each other in one float, under one caption.
    bodies: list[str] = []
    for part in parts:
        align = _align(part, setting, choices.width)
        bodies += [r"\par\medskip"] if bodies else []
        bodies += [rf"\begin{{tabular}}{{{align}}}", *_head(part, setting), *_body(part, setting)]
        bodies += [r"\bottomrule", r"\end{tabular}"]
    lines = [
        rf"\begin{{{name}}}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{table.key}}}",
        rf"{setting.size}\setlength{{\tabcolsep}}{{{setting.gap:g}pt}}",
        *bodies,
        *(rf"\par\smallskip\footnotesize\raggedright {note}" for note in notes),
        rf"\end{{{name}}}",
    ]
    return "\n".join(lines) + "\n"


def escape_latex(value: str) -> str:
    """Return a string escaped for LaTeX, on one line."""
    return "".join(_ESCAPED.get(sign, sign) for sign in on_one_line(value))


def _one_of(choices: type[_Choice], given: object) -> _Choice:
    return next((each for each in choices if each == given), next(iter(choices)))


def _grid(table: Table, choices: LatexChoices) -> _Grid:
    columns = [
        column
        if choices.digits is None or column.kind not in (ColumnKind.NUMBER, ColumnKind.P_VALUE)
        else replace(column, decimals=choices.digits)
        for column in table.columns
    ]
    marks, off = marks_of(table), choices.intervals is Intervals.OFF
    rows = [
        [
            _RenderedCell(format_cell(cell, column, marks), "" if off else interval(cell, column), cell.rank)
            for cell, column in zip(row, columns, strict=True)
        ]
        for row in table.rows
    ]
    names = [column.name for column in columns]
    if not choices.transposed or not rows:
        return _Grid(names, rows, [column.kind is ColumnKind.TEXT for column in columns], table.heads)
    # The first column becomes the line of names, and every other column a row.
    first, *others = [[_RenderedCell(name), *(row[at] for row in rows)] for at, name in enumerate(names)]
    return _Grid([cell.value for cell in first], others, [True] + [False] * len(rows), 1)


def _setting(grid: _Grid, choices: LatexChoices) -> _TableSetting:
    """Return the largest font size at which the table fits, wrapped if necessary, else the smallest."""
    tried = {
        Intervals.FIT: [*_BESIDE, *_BELOW],
        Intervals.BELOW: [replace(_BESIDE[0], below=True), *_BELOW],
    }.get(choices.intervals, [*_BESIDE, replace(_BELOW[-1], below=False)])
    fitting = (each for each in tried if sum(_narrow_widths(grid, each, choices.width)) <= choices.width)
    return next(fitting, tried[-1])


def _parts(grid: _Grid, setting: _TableSetting, width: float) -> Iterator[_Grid]:
    """Yield the table in parts that fit next to the names of the rows, each with one column or more."""
    widths = _narrow_widths(grid, setting, width)
    free = width - sum(widths[: grid.heads])
    columns: list[int] = []
    for at in range(grid.heads, len(grid.names)):
        if columns and sum(widths[each] for each in [*columns, at]) > free:
            yield grid.part(columns)
            columns = []
        columns.append(at)
    yield grid.part(columns)


def _narrow_widths(grid: _Grid, setting: _TableSetting, width: float) -> list[float]:
    """Return the columns' widths. If the table is too wide, columns of words break at a third of the line,
    or at the width that the other columns leave."""
    widths = _widths(grid, setting)
    if sum(widths) <= width:
        return widths
    narrow = []
    for at, (each, is_words) in enumerate(zip(widths, grid.words, strict=True)):
        texts = [grid.names[at], *(row[at].value for row in grid.rows)]
        longest = max(_width(word) for text in texts for word in text.split() or [""])
        least = longest * setting.part + 2 * setting.gap  # words do not break
        narrow.append(max(min(each, width / 3), least) if is_words else each)
    for at, whole in enumerate(widths):  # columns that break share the rest of the line
        # A tenth of a point stays, so that no rounding makes the parts wider than the line.
        narrow[at] += max(min(whole - narrow[at], width - sum(narrow) - 0.1), 0)
    return narrow


def _widths(grid: _Grid, setting: _TableSetting) -> list[float]:
    """Return the minimum width of each column, and the space left and right of it, in points."""
    found = []
    for at, name in enumerate(grid.names):
        cells = [row[at] for row in grid.rows]
        heads = [name] if grid.words[at] else name.split()
        below = [cell.interval for cell in cells] if setting.below else []
        widest = setting.part * max(map(_width, heads), default=0)
        widest = max([widest, *(setting.part * _width_of(cell, setting) for cell in cells)])
        widest_below = _SCRIPT * max(map(_width, below), default=0)
        found.append(max(widest, widest_below) + 2 * setting.gap)
    return found


def _width_of(cell: _RenderedCell, setting: _TableSetting) -> float:
    """Return the width of the first line of a cell at 10 pt; the best value is bold."""
    value = _width(cell.value) * (_BOLD if cell.rank == 1 else 1)
    return value if setting.below or not cell.interval else value + _width(f" {cell.interval}")


def _lines_of(cell: _RenderedCell, setting: _TableSetting) -> tuple[str, str]:
    value, bounds = escape_latex(cell.value), escape_latex(cell.interval)
    if cell.rank:
        value = rf"\textbf{{{value}}}" if cell.rank == 1 else rf"\underline{{{value}}}"
    return (value, bounds) if setting.below else (f"{value} {bounds}".strip(), "")


def _width(text: str) -> float:
    # Thousandths of 10 points; signs beyond Latin-1 have unknown widths and count as the widest.
    return sum(_WIDTHS.get(sign, _WIDEST if ord(sign) > 255 else _CAPITAL) for sign in text) / 100


def _align(grid: _Grid, setting: _TableSetting, width: float) -> str:
    natural, narrow = _widths(grid, setting), _narrow_widths(grid, setting, width)
    return "".join(
        # LaTeX adds the gaps to the width that a `p` column names.
        (rf">{{\raggedright\arraybackslash}}p{{{less - 2 * setting.gap:.1f}pt}}" if less < whole else "l")
        if words
        else "r"
        for whole, less, words in zip(natural, narrow, grid.words, strict=True)
    )


def _head(grid: _Grid, setting: _TableSetting) -> list[str]:
    """Return the line of names; a name over numbers breaks if it is wider than its column."""
    names = []
    for name, words, width in zip(grid.names, grid.words, _widths(grid, setting), strict=True):
        room = (width - 2 * setting.gap) / setting.part
        lines = [name] if words else _break_name(name, room)
        set_lines = r"\\".join(map(escape_latex, lines))
        names.append(set_lines if len(lines) == 1 else rf"\shortstack[r]{{{set_lines}}}")
    return [r"\toprule", " & ".join(names) + r" \\", r"\midrule"]


def _break_name(name: str, room: float) -> list[str]:
    lines: list[str] = []
    for word in name.split():
        if lines and _width(longer := f"{lines[-1]} {word}") <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines or [name]


def _body(grid: _Grid, setting: _TableSetting) -> Iterator[str]:
    for row in grid.rows:
        lines = [_lines_of(cell, setting) for cell in row]
        has_second = any(second for _, second in lines)
        line = " & ".join(first for first, _ in lines)
        # LaTeX would read a bracket or a star here as belonging to the line break before.
        guard = "{}" if line.startswith(("[", "*")) else ""
        yield guard + line + (r" \\*" if has_second else r" \\")
        if has_second:
            yield " & ".join(rf"\scriptsize {second}" if second else "" for _, second in lines) + r" \\"


def _long(
    parts: Sequence[_Grid], setting: _TableSetting, width: float, caption: str, key: str, notes: Sequence[str]
) -> str:
    lines = [rf"{{{setting.size}\setlength{{\tabcolsep}}{{{setting.gap:g}pt}}"]
    for number, part in enumerate(parts):
        continued = r"\caption[]{(continued)}\\"
        first = rf"\caption{{{caption}}}\label{{tab:{key}}}\\" if number == 0 else continued
        head = _head(part, setting)
        lines += [
            *([r"\addtocounter{table}{-1}"] if number else []),  # all parts have one number
            rf"\begin{{longtable}}{{{_align(part, setting, width)}}}",
            *(first, *head, r"\endfirsthead"),
            *(continued, *head, r"\endhead"),
            r"\bottomrule",
            r"\endfoot",
            *_body(part, setting),
            r"\end{longtable}",
        ]
    lines += [*(rf"{{\footnotesize\raggedright {note}\par}}" for note in notes), "}"]
    return "\n".join(lines) + "\n"


CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
}
"""By the end of a file's name."""


def writer_of(format: str, project: Project, given: Mapping[str, Any]) -> Callable[[Table], str]:
    """Return the writer of a table in this format.

    given: settings of LaTeX (see LatexChoices); with `formulas=text` a CSV is for spreadsheets.
    """
    if format == "tex":
        return partial(latex, choices=LatexChoices.read(given), project=project.name)
    if format == "csv":
        return partial(comma_separated, defuses_formulas=is_for_spreadsheet(given))
    if format == "json":
        return lambda table: json.dumps(table.to_dict(), ensure_ascii=False)
    return markdown


def table_file(
    project: Project, tables: Iterable[Table], key: str, name: str, format: str, given: Mapping[str, Any]
) -> HttpResponse:
    """Return the table of this key as a file of this name; 404 without one."""
    table = next((each for each in tables if each.key == key), None)
    if table is None or format not in CONTENT_TYPES:
        raise Http404(gettext("There is no such table or format."))
    content = writer_of(format, project, given)(table)
    response = HttpResponse(content, content_type=CONTENT_TYPES[format])
    response["Content-Disposition"] = f'attachment; filename="{name}.{format}"'
    return response
