"""HTML that records the offset of each visible piece in its source, in code points.

A run is `<span data-start="N">`: it shows the source's characters from N on, unchanged. A unit is
`<span data-start="N" data-length="L">`: it shows L characters of the source in another form, such as a
formula. Markup of the source is in neither. `static/passages.js` reads both.
"""

import json
import json.decoder
import json.scanner
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from typing import Any, Protocol

# A pair of surrogates is one character.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
_UNPAIRED = re.compile("[\0\ud800-\udfff]")
MOST_MESSAGES = 2000
_reading: Any = json.decoder  # The types of the library do not list the parts of a decoder.
_scanning: Any = json.scanner


class LocatedString(str):
    """A string in JSON, from `start` to `end` between its quotes."""

    start: int
    end: int


class LocatedObject(dict[str, Any]):
    """An object in JSON, from `start` to `end` with its braces."""

    start: int
    end: int


@dataclass(frozen=True)
class JsonString:
    """A string with the offset of each character in the JSON source, and the lengths of its escapes."""

    text: str
    offsets: Sequence[int]
    lengths: Mapping[int, int]


def read_messages(text: str) -> list[LocatedObject] | None:
    """Return the messages of a chat, each an object with a role; None for any other source."""
    # Most sources are no chats, and this avoids parsing them.
    if not text.lstrip().startswith("["):
        return None
    try:
        found = _make_decoder().decode(text)
    except (ValueError, RecursionError):
        return None
    return found if is_chat(found) else None


def is_chat(value: object) -> bool:
    """Return True for a list of messages: objects with a role and a content or calls of tools."""
    return (
        isinstance(value, list)
        and 0 < len(value) <= MOST_MESSAGES
        and all(
            isinstance(each, dict)
            and isinstance(each.get("role"), str)
            and ("content" in each or "tool_calls" in each)
            for each in value
        )
    )


def read_string(source: str, string: LocatedString) -> JsonString:
    offsets: list[int] = []
    lengths: dict[int, int] = {}
    at = string.start
    # An escape such as \n is one character of the text and several of the source.
    for match in _ESCAPE.finditer(source, string.start, string.end):
        offsets.extend(range(at, match.start()))
        offsets.append(match.start())
        lengths[match.start()] = len(match[0])
        at = match.end()
    offsets.extend(range(at, string.end))
    # Of equal length: Markdown would join the two characters of such an end of a line.
    text = _UNPAIRED.sub("\ufffd", str(string)).replace("\r\n", " \n").replace("\r", "\n")
    return JsonString(text, offsets, lengths)


def _make_decoder() -> json.JSONDecoder:
    # Strings of a chat may contain raw line ends and tabs, which strict JSON rejects.
    decoder: Any = json.JSONDecoder(strict=False)
    parse_object: Callable[..., tuple[dict[str, Any], int]] = decoder.parse_object

    def parse_located_string(text: str, start: int, strict: bool) -> tuple[str, int]:
        value, end = _reading.scanstring(text, start, strict)
        located = LocatedString(value)
        # `scanstring` returns the position after the closing quote.
        located.start, located.end = start, end - 1
        return located, end

    def parse_located_object(begin: tuple[str, int], *rest: Any) -> tuple[dict[str, Any], int]:
        value, end = parse_object(begin, *rest)
        located = LocatedObject(value)
        # The scanner passes the position after the opening brace.
        located.start, located.end = begin[1] - 1, end
        return located, end

    decoder.parse_string = parse_located_string
    decoder.parse_object = parse_located_object
    decoder.scan_once = _scanning.py_make_scanner(decoder)  # the one in C does not give offsets
    made: json.JSONDecoder = decoder
    return made


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
        # The usual case without escapes: all characters follow each other.
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
        # A wrong offset would attach marked passages to other words.
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
    # This first pass finds the pieces of each span, because a mark depends on which piece is the last.
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
            # A unit cannot be split, so the first of several spans marks all of it.
            return mark_piece(match[0], met[0], run)
        found, at = [], run.start

        def piece(end: int) -> str:
            text = escape(run.text[at - run.start : end - run.start])
            return f'<span data-start="{at}"{match[3]}>{text}</span>' if text else ""

        # The pieces before, within and after each span are separate runs with their own offsets.
        for span in met:
            found.append(piece(max(span.start, at)))
            at = max(span.start, at)
            found.append(mark_piece(piece(min(span.end, run.end)), span, run))
            at = min(span.end, run.end)
        return "".join([*found, piece(run.end)])

    return _RUN.sub(split, html)


def _meets(span: Span, run: TextRun) -> bool:
    return span.start < run.end and run.start < span.end
