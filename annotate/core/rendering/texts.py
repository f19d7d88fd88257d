"""Sources and outputs as pages show them: plain, as Markdown or as chat."""

import hashlib
import json
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from django.core.cache import caches
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from annotate.core.models import TextFormat
from annotate.core.rendering.markdown_text import Heading, MarkdownWriter
from annotate.core.rendering.runs import (
    LocatedObject,
    LocatedString,
    MisplacedRunError,
    RunWriter,
    read_messages,
    read_string,
)

KNOWN_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
TOOL_ROLES = ("tool", "function")


def write_chat(source: str, *, project: str, anchor: str) -> tuple[str, list[Heading]]:
    """Return a chat as HTML, with its headings. Raises MisplacedRunError if the source is no chat."""
    messages = read_messages(source)
    if messages is None:
        raise MisplacedRunError("no list of messages")
    chat = _Chat(source, project, anchor)
    for message in messages:
        chat.write_turn(message)
    return chat.writer.html, chat.markdown.headings


class _Chat:
    def __init__(self, source: str, project: str, anchor: str) -> None:
        self.lengths: MutableMapping[int, int] = {}
        self.writer = RunWriter(source, self.lengths)
        self.markdown = MarkdownWriter(self.writer, project, anchor, keeps_lines=True)

    def write_turn(self, message: LocatedObject) -> None:
        role = str(message["role"])
        kind = role if role in KNOWN_ROLES else "other"
        if role in TOOL_ROLES:
            name = message.get("name")
            label = _name_role(role) + (f" · {name}" if isinstance(name, str) else "")
            self.writer.markup(f'<details class="turn turn-{kind}"><summary>{_label(label)}</summary>\n')
            self._write_content(message.get("content"), is_markdown=False)
            self.writer.markup("</details>\n")
            return
        self.writer.markup(f'<div class="turn turn-{kind}"><p>{_label(_name_role(role))}</p>\n')
        for key in ("content", "refusal"):
            self._write_content(message.get(key), is_markdown=True)
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            self._write_call(call)
        self.writer.markup("</div>\n")

    def _write_content(self, content: object, *, is_markdown: bool) -> None:
        if isinstance(content, LocatedString):
            self._write_string(content, is_markdown=is_markdown)
        elif isinstance(content, LocatedObject):
            self._write_object(content)
        for part in content if isinstance(content, list) else ():
            self._write_part(part, is_markdown=is_markdown)

    def _write_part(self, part: object, *, is_markdown: bool) -> None:
        if not isinstance(part, LocatedObject):
            return
        image = part.get("image_url")
        address = image.get("url") if isinstance(image, dict) else image
        if isinstance(part.get("text"), LocatedString):
            self._write_string(part["text"], is_markdown=is_markdown)
        elif isinstance(address, LocatedString):
            self.writer.markup(f"<p>{_label(gettext('Image'))} ")
            # An embedded image may be megabytes of letters.
            address_shown = address.partition(",")[0] if address.startswith("data:") else address
            self.writer.markup(f"{escape(address_shown)}</p>\n")
        else:
            self._write_object(part)

    def _write_call(self, call: object) -> None:
        if not isinstance(call, LocatedObject):
            return
        function = call.get("function")
        if not isinstance(function, LocatedObject):
            self._write_object(call)
            return
        self.writer.markup(f'<div class="tool-call"><p>{_label(gettext("Tool call"))} <code>')
        if isinstance(function.get("name"), LocatedString):
            self._write_text(function["name"])
        self.writer.markup("</code></p>\n")
        self._write_content(function.get("arguments"), is_markdown=False)
        self.writer.markup("</div>\n")

    def _write_string(self, string: LocatedString, *, is_markdown: bool) -> None:
        if is_markdown:
            found = read_string(self.writer.source, string)
            self.lengths.update(found.lengths)
            self.markdown.write(found.text, found.offsets)
            return
        self.writer.markup('<pre dir="auto">')
        self._write_text(string)
        self.writer.markup("</pre>\n")

    def _write_text(self, string: LocatedString) -> None:
        found = read_string(self.writer.source, string)
        self.lengths.update(found.lengths)
        self.writer.text(found.text, found.offsets)

    def _write_object(self, value: LocatedObject) -> None:
        source = self.writer.source[value.start : value.end]
        # JSON reads from left to right in every language.
        self.writer.markup('<pre dir="ltr">')
        self.writer.text(source, range(value.start, value.end))
        self.writer.markup("</pre>\n")


def _name_role(role: str) -> str:
    names = {
        "system": gettext("System"),
        "developer": gettext("Developer"),
        "user": gettext("User"),
        "assistant": gettext("Assistant"),
        "tool": gettext("Tool result"),
        "function": gettext("Tool result"),
    }
    return names.get(role, role)


def _label(text: str) -> str:
    """Return words of the page that passages and searches skip."""
    return f'<span class="not-in-source">{escape(text)}</span>'


LONGEST = 400_000  # Characters; pages show longer sources without formatting.
MOST_KEPT = 300_000  # characters of HTML; the cache of a process has 300 entries
FEWEST_HEADINGS = 3  # of an outline


@dataclass(frozen=True)
class RenderedText:
    """An output or source as HTML.

    is_rendered: True if it has runs, see `runs.py`; else it is the source itself.
    """

    html: SafeString
    is_rendered: bool = False
    headings: Sequence[Heading] = field(default_factory=tuple)

    @property
    def outline(self) -> Sequence[Heading]:
        """Return the headings for the outline of a long source; none if it is short."""
        return self.headings if len(self.headings) >= FEWEST_HEADINGS else ()


def render_text(text: str, format: str, *, project: str = "", anchor: str = "") -> RenderedText:
    """Return a source as HTML; it is plain if it does not follow its format.

    project: the slug of the project whose images it may show. anchor: the prefix of headings' ids.
    """
    if format not in (TextFormat.MARKDOWN, TextFormat.CHAT) or len(text) > LONGEST:
        return RenderedText(SafeString(escape(text)))
    # The language counts because labels of turns and tables are words of the page.
    about = json.dumps([text, format, project, anchor, get_language()])
    key = f"rendered-text-{hashlib.sha256(about.encode()).hexdigest()}"
    kept: RenderedText | None = caches["process"].get(key)
    if kept is None:
        kept = _render(text.replace("\r\n", "\n"), format, project, anchor)
        # The cache limits its entries and not their length.
        if len(kept.html) <= MOST_KEPT:
            # The key contains everything that the HTML depends on, so an entry never becomes outdated.
            caches["process"].set(key, kept, timeout=None)
    return kept


def _render(text: str, format: str, project: str, anchor: str) -> RenderedText:
    try:
        if format == TextFormat.CHAT:
            html, headings = write_chat(text, project=project, anchor=anchor)
        else:
            markdown = MarkdownWriter(RunWriter(text), project, anchor)
            markdown.write(text, range(len(text)))
            html, headings = markdown.writer.html, markdown.headings
    # Wrong offsets would mark wrong words, so the page then shows the plain source.
    except (MisplacedRunError, IndexError):
        return RenderedText(SafeString(escape(text)))
    return RenderedText(SafeString(html), is_rendered=True, headings=tuple(headings))


def choose_format(text: str, wanted: str) -> str:
    """Return the format of an imported source: chat for a list of messages, else `wanted`.

    wanted: a TextFormat. PLAIN makes every source plain, an empty value every source except chats.
    """
    if wanted == TextFormat.PLAIN:
        return wanted
    if read_messages(text) is not None:
        return TextFormat.CHAT
    return TextFormat.MARKDOWN if wanted == TextFormat.MARKDOWN else TextFormat.PLAIN


def part_as_json(label: str, text: str, wanted: str) -> dict[str, Any]:
    """Return a document's part in its stored form; without a format it is plain."""
    format = choose_format(text, wanted)
    part = {"label": label, "text": text}
    return part if format == TextFormat.PLAIN else {**part, "format": str(format)}
