"""Markdown as tokens that know their offsets, and its formulas as MathML, which needs no script."""

import re
from collections.abc import Sequence
from html import escape, unescape
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from latex2mathml import exceptions
from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType

from annotate.core.lazy_module import LazyModule

_converter = LazyModule("latex2mathml.converter")
LONGEST = 2000  # characters; pages show the source of a longer one
_ELEMENTS = {
    *("math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "ms"),
    *("mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder"),
    "munderover",
}
_ATTRIBUTES = {
    *("accent", "alttext", "columnalign", "columnlines", "depth", "display", "displaystyle", "fence"),
    *("form", "height"),
    *("largeop", "linebreak", "linethickness", "lspace", "mathvariant", "maxsize", "minsize"),
    *("movablelimits", "notation", "rowlines", "rspace", "scriptlevel", "separator", "stretchy"),
    *("symmetric", "voffset", "width"),
}
# What LaTeX that is not valid makes the converter raise; it has no common class.
_NOT_CONVERTED: tuple[type[Exception], ...] = (
    *(each for each in vars(exceptions).values() if isinstance(each, type) and issubclass(each, Exception)),
    *(AttributeError, AssertionError, LookupError, RecursionError, RuntimeError, TypeError, ValueError),
)
# The converter aligns only these rows.
_ALIGNED = re.compile(r"\\(begin|end)\{(?:aligned|gathered|gather\*?|multline\*?)\}")


def formula_as_mathml(latex: str, *, is_block: bool) -> str | None:
    """Return a formula as MathML, None if it is no valid LaTeX.

    The converter neither escapes its input nor omits `\\href` and `\\style`; only names in this
    module's lists pass.
    """
    if not latex.strip() or len(latex) > LONGEST:
        return None
    try:
        element = _converter.convert_to_element(
            _ALIGNED.sub(r"\\\1{align*}", latex), display="block" if is_block else "inline"
        )
        element.set("alttext", latex.strip())
        return _serialize(element)
    except _NOT_CONVERTED:
        return None


def _serialize(element: Element) -> str:
    # The converter writes symbols as entities. Escaping them again would show their code.
    inner = escape(unescape(element.text or "")) + "".join(
        _serialize(each) + escape(unescape(each.tail or "")) for each in element
    )
    # Unknown elements lose their tag and keep their words.
    if element.tag not in _ELEMENTS:
        return inner
    attributes = "".join(
        f' {name}="{escape(value)}"' for name, value in element.attrib.items() if name in _ATTRIBUTES
    )
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>"


LINKED = {"http", "https", "mailto"}  # other URLs make no link
MOST_LINES = 60  # of a formula
_CLOSINGS = {"$$": "$$", "\\[": "\\]"}
# `$5 and $6` holds no formula: one does not end before a digit, nor with a blank.
_FORMULA = re.compile(
    r"\$\$(?P<shown>[^$]{1,2000}?)\$\$|\$(?!\s)(?P<dollar>(?:\\.|[^$\\\n]){1,2000}?)(?<!\s)\$(?!\d)"
    r"|\\\((?P<round>.{1,2000}?)\\\)|\\\[(?P<square>.{1,2000}?)\\\]",
    re.DOTALL,
)


class _InlineState(StateInline):
    """Notes the offset of each token in its block as `meta["at"]`."""

    def __init__(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> None:
        super().__init__(src, md, env, tokens)
        self._pending_at = 0

    def append_pending(self, text: str) -> None:
        if not self.pending:
            self._pending_at = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:  # noqa: N802
        token = super().pushPending()
        token.meta["at"] = self._pending_at
        return token

    def push(self, ttype: str, tag: str, nesting: int) -> Token:
        token = super().push(ttype, tag, nesting)  # type: ignore[arg-type]
        token.meta["at"] = self.pos
        return token


class _InlineParser(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _InlineState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def _locate_delimiters(state: StateInline) -> None:
    """Correct the offsets of delimiters: the parser pushes all tokens of `**` at one position."""
    before: Token | None = None
    for token in state.tokens:
        if before and before.type == token.type == "text" and token.meta["at"] <= before.meta["at"]:
            token.meta["at"] = before.meta["at"] + len(before.content)
        before = token


def _formula(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    found = _FORMULA.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content, token.markup = found[found.lastgroup or 0], found[0]
        # Both `$$` and `\[` show a formula as a block.
        token.block = found.lastgroup in ("shown", "square")
    state.pos = found.end()
    return True


def _formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read a formula on separate lines. Without this rule `= b` would make a heading."""
    begin = state.bMarks[start] + state.tShift[start]
    closing = _CLOSINGS.get(state.src[begin : begin + 2])
    if closing is None or state.is_code_block(start):
        return False
    lines: list[str] = []
    for line in range(start, min(end, start + MOST_LINES)):
        # The line leaves the list or quote in which the formula began.
        if line > start and not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
            return False
        first = begin + 2 if line == start else state.bMarks[line] + state.tShift[line]
        text = state.src[first : state.eMarks[line]].rstrip()
        lines.append(text.removesuffix(closing))
        if text.endswith(closing):
            break
        # Words follow the closing mark, so this is a paragraph with a formula in it.
        if closing in text:
            return False
    else:
        return False
    if not "".join(lines).strip():
        return False
    if not silent:
        token = state.push("formula_block", "", 0)
        token.content = "\n".join(lines)
        token.map = [start, line + 1]
        token.meta["range"] = begin, first + len(text)
        state.line = line + 1
    return True


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802
        return True


def is_linked(address: str) -> bool:
    try:
        return urlsplit(address.strip()).scheme.lower() in LINKED
    except ValueError:
        return False


def _make_parser() -> MarkdownIt:
    parser = _Parser()
    parser.inline = _InlineParser()
    parser.configure("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"])
    # They join tokens, whose offsets would be lost.
    parser.disable(["fragments_join", "text_join"])
    parser.inline.ruler2.before("balance_pairs", "offsets", _locate_delimiters)
    parser.inline.ruler.before("escape", "formula", _formula)
    parser.block.ruler.before(
        "fence", "formula", _formula_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    parser.parse("*used*")  # compile the rules now: at first use, a second thread would find only some
    return parser


_parser = _make_parser()


def parse_markdown(text: str) -> Sequence[Token]:
    """Return the blocks of a Markdown source; HTML in it is escaped."""
    return _parser.parse(text)
