"""Sources and outputs as pages show them: plain, as Markdown or as chat."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from django.core.cache import caches
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from annotate.core.models import TextFormat
from annotate.core.rendering.chat import write_chat
from annotate.core.rendering.markdown_text import Heading, MarkdownWriter
from annotate.core.rendering.messages import read_messages
from annotate.core.rendering.runs import MisplacedRunError, RunWriter

LONGEST = 400_000  # characters; pages show longer ones as plain text
MOST_KEPT = 300_000  # characters of HTML; the cache of a process has 300 entries
FEWEST_HEADINGS = 3  # of an outline


@dataclass(frozen=True)
class RenderedText:
    """A text as HTML. is_rendered: whether it has runs, see `runs.py`; else it is the source itself."""

    html: SafeString
    is_rendered: bool = False
    headings: Sequence[Heading] = field(default_factory=tuple)

    @property
    def outline(self) -> Sequence[Heading]:
        """The headings for the outline of a long text; none if it is short."""
        return self.headings if len(self.headings) >= FEWEST_HEADINGS else ()


def render_text(text: str, format: str, *, project: str = "", anchor: str = "") -> RenderedText:
    """Return a text as HTML; it is plain if its source does not follow its format.

    project: the slug of the project whose images it may show. anchor: the prefix of headings' ids.
    """
    if format not in (TextFormat.MARKDOWN, TextFormat.CHAT) or len(text) > LONGEST:
        return RenderedText(SafeString(escape(text)))
    about = json.dumps([text, format, project, anchor, get_language()])
    key = f"rendered-text-{hashlib.sha256(about.encode()).hexdigest()}"
    kept: RenderedText | None = caches["process"].get(key)
    if kept is None:
        kept = _render(text.replace("\r\n", "\n"), format, project, anchor)
        if len(kept.html) <= MOST_KEPT:
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
    except (MisplacedRunError, IndexError):
        return RenderedText(SafeString(escape(text)))
    return RenderedText(SafeString(html), is_rendered=True, headings=tuple(headings))


def choose_format(text: str, wanted: str) -> str:
    """Return the format of an imported text: chat for a list of messages, else the format wanted.

    wanted: a TextFormat; PLAIN makes every text plain, empty every text except chats.
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
