"""Markdown of sources and outputs as HTML whose runs know their offsets."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from itertools import takewhile, zip_longest

from django.urls import reverse
from django.utils.translation import gettext
from markdown_it.token import Token
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, _TokenType
from pygments.util import ClassNotFound

from annotate.core.files import IMAGE_KEY
from annotate.core.rendering.parsing import formula_as_mathml, is_linked, parse_markdown
from annotate.core.rendering.runs import NOWHERE, MisplacedRunError, RunWriter

HEADINGS_SHIFT = 2  # pages have their own h1 and h2
LONGEST_HIGHLIGHTED = 20_000  # characters of code
LONGEST_NARROW = 40  # characters of a formula that fits into a phone
_OWN_IMAGE = re.compile(rf"image:({IMAGE_KEY})")
_CONTAINER = re.compile(r"\s*(?:>|[-+*](?=\s)|\d{1,9}[.)](?=\s))")  # of a table in a quote or list
_PLAIN_TAGS = {"em", "strong", "s"}  # within a block


@dataclass(frozen=True)
class Heading:
    """A heading. level: 1 for a top heading. anchor: the id of its element."""

    level: int
    text: str
    anchor: str


@dataclass
class MarkdownWriter:
    """Writes Markdown of one source.

    project: the slug of the project that stores the images. anchor: the prefix of headings' ids; without it
    they have no ids. keeps_lines: True if line breaks in a paragraph are preserved, as in chats.
    """

    writer: RunWriter
    project: str = ""
    anchor: str = ""
    keeps_lines: bool = False
    headings: list[Heading] = field(default_factory=list)
    above: list[int] = field(default_factory=list)  # the levels of the last heading and of those over it

    def nest_heading(self, level: int) -> int:
        """Return the level of a heading on the page, which must not skip one."""
        while self.above and self.above[-1] >= level:
            self.above.pop()
        self.above.append(level)
        return len(self.above)

    def write(self, text: str, offsets: Sequence[int]) -> None:
        """Write Markdown; offsets give the position of each of its characters in the source."""
        _Text(self, text, offsets).write()


class _Text:
    """A Markdown block: its lines, and the offsets of its characters in the source."""

    def __init__(self, to: MarkdownWriter, text: str, offsets: Sequence[int]) -> None:
        self.to, self.writer, self.text, self.offsets = to, to.writer, text, offsets
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.cells: Iterator[list[int]] = iter(())

    def write(self) -> None:
        tokens = parse_markdown(self.text)
        for index, token in enumerate(tokens):
            if token.type == "inline":
                self._write_inline(
                    token.children or [], token.content, self._locate(tokens[index - 1], token)
                )
            elif token.type in ("fence", "code_block"):
                self._write_code(token)
            elif token.type == "formula_block":
                start, end = token.meta["range"]
                scrolls = ' tabindex="0"' if len(token.content) > LONGEST_NARROW else ""
                self.writer.markup(f'<div class="formula-block"{scrolls}>')
                self._write_formula(token, self.offsets[start], self.offsets[end - 1], is_block=True)
                self.writer.markup("</div>\n")
            else:
                # Tokens of cells have no position, so a row is split here as the parser does.
                if token.type == "tr_open" and token.map:
                    row = takewhile(lambda each: each.type != "tr_close", tokens[index:])
                    texts = [each.content for each in row if each.type == "inline"]
                    self.cells = self._cells_of_row(token.map[0], texts)
                self._write_tag(token, tokens[index + 1] if index + 1 < len(tokens) else None)

    def _write_tag(self, token: Token, inline: Token | None) -> None:
        if token.type == "hr":
            self.writer.markup("<hr>\n")
        elif token.nesting == -1:
            after = "</div>" if token.tag == "table" else ""
            tag = self._heading_tag() if token.type == "heading_close" else token.tag
            self.writer.markup("\n" if token.hidden else f"</{tag}>{after}\n")
        elif token.hidden:
            self.writer.markup("")
        elif token.type == "heading_open":
            self.writer.markup(self._open_heading(token, inline))
        elif token.tag == "table":
            label = escape(gettext("Table"))
            self.writer.markup(
                f'<div class="scroll-x" tabindex="0" role="region" aria-label="{label}"><table dir="auto">\n'
            )
        elif token.tag in ("th", "td"):
            # The policy of pages forbids inline styles, so the alignment becomes a class.
            align = re.sub(r"\W", "", str(token.attrGet("style") or "").rpartition(":")[2])
            self.writer.markup(f'<{token.tag} class="align-{align}">' if align else f"<{token.tag}>")
        elif token.tag == "ol":
            start = token.attrGet("start")
            number = f' start="{int(start)}"' if start is not None else ""
            self.writer.markup(f"<ol{number}{_direction(token)}>\n")
        else:
            self.writer.markup(f"<{token.tag}{_direction(token)}>")

    def _heading_tag(self) -> str:
        # HTML has no heading below h6.
        return f"h{min(len(self.to.above) + HEADINGS_SHIFT, 6)}"

    def _open_heading(self, token: Token, inline: Token | None) -> str:
        level = self.to.nest_heading(int(token.tag[1]))
        if not self.to.anchor:
            return f"<{self._heading_tag()}{_direction(token)}>"
        # A number, because two headings of a source can have the same words.
        anchor = f"{self.to.anchor}-{len(self.to.headings) + 1}"
        text = "".join(each.content for each in (inline.children if inline else None) or ())
        self.to.headings.append(Heading(level, text.strip() or "–", anchor))
        return f'<{self._heading_tag()} id="{anchor}" tabindex="-1"{_direction(token)}>'

    # --- offsets of blocks -------------------------------------------------------------------------------

    def _locate(self, opening: Token, token: Token) -> Sequence[int]:
        assert token.map
        line = token.map[0]
        if opening.tag in ("th", "td"):
            return self._positions_in_source(next(self.cells, []))
        # The text of a heading can equal its marks, so the search starts after these.
        if opening.type == "heading_open" and opening.markup.startswith("#"):
            after = self.lines[line].index(opening.markup) + len(opening.markup)
            start = self.starts[line] + self.lines[line].find(token.content, after)
            return self._positions_in_source(range(start, start + len(token.content)))
        return self._positions_in_source(self._locate_lines(token.content, line))

    def _locate_lines(self, content: str, number: int) -> Sequence[int]:
        """Return the offsets of the lines of a block. In a quote, they start after `> `."""
        lines = content.split("\n")
        if len(lines) == 1:
            start = self.starts[number] + self._start_in_line(content, number)
            return range(start, start + len(content))
        found: list[int] = []
        for at, line in enumerate(lines, start=number):
            if at > number:
                found.append(self.starts[at] - 1)
            own = line if self.lines[at].rfind(line) >= 0 else line.lstrip(" ")  # of a tab that was cut
            found += [NOWHERE] * (len(line) - len(own))
            start = self.starts[at] + self._start_in_line(own, at)
            found.extend(range(start, start + len(own)))
        return found

    def _start_in_line(self, content: str, number: int) -> int:
        # Marks of quotes and lists come before the content, so the last match is the content itself.
        start = self.lines[number].rfind(content)
        if start < 0:
            raise MisplacedRunError(content)
        return start

    def _cells_of_row(self, number: int, texts: Sequence[str]) -> Iterator[list[int]]:
        line, start = self.lines[number].rstrip(), 0
        while True:
            cells = _split_row(line, start)
            shown = ["".join(line[at] for at in cell) for cell in cells]
            # The row may be within quotes or lists, whose marks are skipped until the cells match.
            if all(text == (own or "") for text, own in zip_longest(texts, shown[: len(texts)])):
                return iter([[self.starts[number] + at for at in cell] for cell in cells])
            container = _CONTAINER.match(line, start)
            if not container:
                raise MisplacedRunError(line)
            start = container.end()

    def _positions_in_source(self, found: Sequence[int]) -> Sequence[int]:
        # The range of a source without escapes starts at 0, so each position is its own offset.
        if isinstance(self.offsets, range):
            return found
        return [NOWHERE if at == NOWHERE else self.offsets[at] for at in found]

    # --- code and formulas -------------------------------------------------------------------------------

    def _write_code(self, token: Token) -> None:
        assert token.map
        number = token.map[0] + (token.type == "fence")
        content = token.content.removesuffix("\n")
        offsets: list[int] = []
        for at, line in enumerate(content.split("\n") if content else (), start=number):
            if at > number:
                offsets.append(self.starts[at] - 1)
            own = line if self.lines[at].endswith(line) else line.lstrip(" ")
            if not self.lines[at].endswith(own):
                raise MisplacedRunError(line)
            offsets += [NOWHERE] * (len(line) - len(own))
            start = self.starts[at] + len(self.lines[at]) - len(own)
            offsets.extend(range(start, start + len(own)))
        self.writer.markup('<pre dir="ltr"><code>')
        self._write_highlighted(content, self._positions_in_source(offsets), token.info.split(maxsplit=1)[:1])
        self.writer.markup("</code></pre>\n")

    def _write_highlighted(self, code: str, offsets: Sequence[int], language: Sequence[str]) -> None:
        lexer: Lexer | None = None
        if language and len(code) <= LONGEST_HIGHLIGHTED:
            with suppress(ClassNotFound, ImportError):
                lexer = get_lexer_by_name(language[0])
        pieces = list(lexer.get_tokens_unprocessed(code)) if lexer else []
        # Offsets are right only if the pieces of the lexer are the whole code.
        if "".join(value for _, _, value in pieces) != code:
            self.writer.text(code, offsets)
            return
        for at, kind, value in pieces:
            self.writer.text(value, offsets[at : at + len(value)], _style(kind))

    def _write_formula(self, token: Token, first: int, last: int, *, is_block: bool) -> None:
        end = self.writer.end_of(last)
        html = formula_as_mathml(token.content, is_block=is_block)
        if html is None:
            html, style = escape(self.writer.source[first:end]), "formula-invalid"
        else:
            style = "formula"
        self.writer.unit(html, first, end, style)

    # --- content of blocks --------------------------------------------------------------------------------

    def _write_inline(self, tokens: Sequence[Token], content: str, offsets: Sequence[int]) -> None:
        addresses: list[str] = []  # URLs of open links
        for token in tokens:
            match token.type:
                case "text" | "text_special":
                    self._write_words(token, content, offsets, is_address=bool(addresses))
                case "code_inline":
                    at, length = token.meta["at"] + len(token.markup), len(token.content)
                    if content[at : at + length].replace("\n", " ") != token.content:
                        at += 1  # a blank inside both ends is not shown
                    self.writer.markup("<code>")
                    self.writer.text(content[at : at + length], offsets[at : at + length])
                    self.writer.markup("</code>")
                case "formula":
                    first = token.meta["at"]
                    last = first + len(token.markup) - 1
                    self._write_formula(token, offsets[first], offsets[last], is_block=token.block)
                case "softbreak" if not self.to.keeps_lines:
                    self.writer.text("\n", offsets[token.meta["at"] :][:1])
                case "softbreak" | "hardbreak":
                    self.writer.markup("<br>\n")
                case "image":
                    self._write_image(token, content, offsets)
                case "link_open":
                    addresses.append(str(token.attrGet("href") or ""))
                    self.writer.markup(_open_link(addresses[-1]))
                case "link_close":
                    address = addresses.pop()
                    closing = "" if token.info == "auto" else f" {_address(address)}"
                    self.writer.markup("</a>" if is_linked(address) else closing)
                case _ if token.tag in _PLAIN_TAGS:
                    self.writer.markup(f"</{token.tag}>" if token.nesting == -1 else f"<{token.tag}>")
                case _:
                    raise MisplacedRunError(token.type)

    def _write_words(self, token: Token, content: str, offsets: Sequence[int], *, is_address: bool) -> None:
        at, length = token.meta["at"], len(token.content)
        if token.info == "entity":
            end = self.writer.end_of(offsets[at + len(token.markup) - 1])
            self.writer.unit(escape(token.content), offsets[at], end)
            return
        if token.info == "escape":
            at += len(token.markup) - length
        elif is_address and content[at : at + 1] == "<":
            at += 1  # a URL such as <https://example.org>
            if content[at : at + length] != token.content:  # decoded for reading
                last = content.index(">", at) - 1
                self.writer.unit(escape(token.content), offsets[at], self.writer.end_of(offsets[last]))
                return
        self.writer.text(token.content, offsets[at : at + length])

    def _write_image(self, token: Token, content: str, offsets: Sequence[int]) -> None:
        """Show an image of the project, and only the URL of others: their servers could track raters."""
        source, at = str(token.attrGet("src") or ""), token.meta["at"] + 2
        if self.to.project and (own := _OWN_IMAGE.fullmatch(source)):
            address = reverse("image", args=[self.to.project, own[1]])
            self.writer.markup(f'<img src="{escape(address)}" alt="{escape(token.content)}" loading="lazy">')
            return
        self.writer.markup('<span class="image-elsewhere">')
        self._write_inline(token.children or [], content[at:], offsets[at:])
        self.writer.markup(f" {_address(source)}</span>")


def _split_row(line: str, start: int) -> list[list[int]]:
    """Return the cells of a table's row, as the parser splits them: the offset of each character."""
    start += len(line[start:]) - len(line[start:].lstrip())
    cells: list[list[int]] = [[]]
    for at in range(start, len(line)):
        if line[at] != "|":
            cells[-1].append(at)
        elif at > start and line[at - 1] == "\\":
            cells[-1][-1] = at  # instead of the backslash
        else:
            cells.append([])
    # Bars at either end of a row delimit no cells.
    cells = cells[not cells[0] :]
    if cells and not cells[-1]:
        cells.pop()
    stripped = []
    for cell in cells:
        text = "".join(line[at] for at in cell)
        before = len(text) - len(text.lstrip())
        stripped.append(cell[before : before + len(text.strip())])
    return stripped


def _direction(token: Token) -> str:
    return ' dir="auto"' if token.level == 0 else ""


def _address(address: str) -> str:
    shown = escape(address)
    if is_linked(address):
        shown = f"{_open_link(address)}{shown}</a>"
    return f'<span class="not-in-source">({shown})</span>'


def _open_link(address: str) -> str:
    if not is_linked(address):
        return ""
    return f'<a href="{escape(address)}" rel="noopener noreferrer" target="_blank">'


def _style(kind: _TokenType) -> str:
    # A lexer can define its own kinds of tokens, for which the style sheet has no class.
    while kind not in STANDARD_TYPES and kind.parent:
        kind = kind.parent
    short = STANDARD_TYPES.get(kind, "")
    return f"code-{short}" if short else ""
