"""HTML that records the offset of each visible piece in its source, in code points.

A run is `<span data-start="N">`: it shows the source's characters from N on, unchanged. A unit is
`<span data-start="N" data-length="L">`: it shows L characters of the source in another form, such as a
formula. Markup of the source is in neither. `static/passages.js` reads both.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from typing import Protocol

NOWHERE = -1  # the offset of a character that the source does not have
_RUN = re.compile(
    r'<span data-start="(\d+)"(?: data-length="(\d+)")?((?: class="[^"]*")?)>(.*?)</span>', re.DOTALL
)


class MisplacedRunError(Exception):
    """A run differs from the source at its offset. The page then shows the plain source."""


@dataclass
class RunWriter:
    """Collects HTML. Pieces that follow each other in the source become one run.

    lengths: the number of characters by which the source writes some of its characters, such as 2 for `\\n`
    in JSON, by their offsets.
    """

    source: str
    lengths: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._html: list[str] = []
        self._run: list[str] = []
        self._start = self._end = 0
        self._style = ""

    @property
    def html(self) -> str:
        self._close_run()
        return "".join(self._html)

    def markup(self, html: str) -> None:
        """Add HTML that is not from the source."""
        self._close_run()
        self._html.append(html)

    def text(self, text: str, offsets: Sequence[int], style: str = "") -> None:
        """Add characters of the source, each with its offset. style: a class of their runs."""
        if not text:
            return
        if not self.lengths and offsets[-1] - offsets[0] == len(text) - 1 and offsets[0] != NOWHERE:
            self._add(text, offsets[0], style)
            return
        for first, last in self._pieces(offsets):
            start, piece = offsets[first], text[first:last]
            if start == NOWHERE:
                self.markup(escape(piece))
            elif start in self.lengths:
                self.unit(escape(piece), start, start + self.lengths[start], style)
            else:
                self._add(piece, start, style)

    def unit(self, html: str, start: int, end: int, style: str = "") -> None:
        """Add HTML that shows the source from `start` to `end` and can only be marked as a whole."""
        self._close_run()
        self._html.append(
            f'<span data-start="{start}" data-length="{end - start}"{_class(style)}>{html}</span>'
        )

    def end_of(self, offset: int) -> int:
        return offset + self.lengths.get(offset, 1)

    def _pieces(self, offsets: Sequence[int]) -> Iterator[tuple[int, int]]:
        first = 0
        for at in range(1, len(offsets) + 1):
            if (
                at == len(offsets)
                or offsets[at] != offsets[at - 1] + 1
                or offsets[at] in self.lengths
                or offsets[at - 1] in self.lengths
            ):
                yield first, at
                first = at

    def _add(self, text: str, start: int, style: str) -> None:
        if self._run and (start != self._end or style != self._style):
            self._close_run()
        if not self._run:
            self._start, self._style = start, style
        self._run.append(text)
        self._end = start + len(text)

    def _close_run(self) -> None:
        if not self._run:
            return
        text = "".join(self._run)
        self._run = []
        if not self.source.startswith(text, self._start):
            raise MisplacedRunError(text)
        self._html.append(f'<span data-start="{self._start}"{_class(self._style)}>{escape(text)}</span>')


def _class(style: str) -> str:
    return f' class="{style}"' if style else ""


@dataclass(frozen=True)
class TextRun:
    """A run or unit of a rendered source."""

    start: int
    end: int
    text: str
    is_unit: bool


def runs_in(html: str) -> list[TextRun]:
    """Return the runs and units of rendered HTML in order; the content of a unit is HTML."""
    found = []
    for match in _RUN.finditer(html):
        start, is_unit = int(match[1]), match[2] is not None
        text = match[4] if is_unit else unescape(match[4])
        found.append(TextRun(start, start + (int(match[2]) if is_unit else len(text)), text, is_unit))
    return found


@dataclass(frozen=True)
class Span:
    """A part of the source from `start` to `end` (exclusive), with the names of its raters."""

    start: int
    end: int
    by: tuple[str, ...]


class PieceMarker(Protocol):
    """Returns the HTML of a piece of a span. The arguments mark the first and the last piece."""

    def __call__(self, piece: str, span: Span, *, is_first: bool, is_last: bool) -> str:
        """Return the marked piece."""


def mark_spans(html: str, spans: Sequence[Span], mark: PieceMarker) -> str:
    """Return rendered HTML with spans of its source marked.

    spans: in order, without overlaps. A unit that a span touches is marked as a whole.
    """
    runs_of: dict[Span, list[int]] = {}
    for run in runs_in(html):
        for span in spans:
            if _meets(span, run):
                runs_of.setdefault(span, []).append(run.start)

    def mark_piece(piece: str, span: Span, run: TextRun) -> str:
        starts = runs_of[span]
        return mark(piece, span, is_first=run.start == starts[0], is_last=run.start == starts[-1])

    def split(match: re.Match[str]) -> str:
        run = runs_in(match[0])[0]
        met = [span for span in spans if _meets(span, run)]
        if not met:
            return match[0]
        if run.is_unit:
            return mark_piece(match[0], met[0], run)
        found, at = [], run.start

        def piece(end: int) -> str:
            text = escape(run.text[at - run.start : end - run.start])
            return f'<span data-start="{at}"{match[3]}>{text}</span>' if text else ""

        for span in met:
            found.append(piece(max(span.start, at)))
            at = max(span.start, at)
            found.append(mark_piece(piece(min(span.end, run.end)), span, run))
            at = min(span.end, run.end)
        return "".join([*found, piece(run.end)])

    return _RUN.sub(split, html)


def _meets(span: Span, run: TextRun) -> bool:
    return span.start < run.end and run.start < span.end
