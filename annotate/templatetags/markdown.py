"""Safe rendering of Markdown."""

import re
from functools import lru_cache

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType

from annotate.core.files import IMAGE_KEY

register = template.Library()

# Pages have their own h1 and h2; Markdown headings come below them.
HEADINGS_SHIFT = 2


def adjust(state: StateCore) -> None:
    """Open links in a new tab, shift headings below the page's, give each block its own direction."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + HEADINGS_SHIFT, 6)}"
        if token.nesting == 1 and token.level == 0:
            token.attrSet("dir", "auto")
        if token.children:
            token.children = [kept for child in token.children for kept in _pictures(child, state.env)]
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
                child.attrSet("target", "_blank")


def _pictures(token: Token, env: EnvType) -> list[Token]:
    """Show the project's own images.

    External ones would inform their server of each rater's visit: they become links.
    """
    if token.type != "image":
        return [token]
    source = str(token.attrGet("src") or "")
    if "project" in env and (own := OWN_PICTURE.fullmatch(source)):
        token.attrSet("src", reverse("image", args=[env["project"], own[1]]))
        token.attrSet("loading", "lazy")
        return [token]
    text = Token("text", "", 0, content=token.content or source)
    return [Token("link_open", "a", 1, attrs={"href": source}), text, Token("link_close", "a", -1)]


OWN_PICTURE = re.compile(rf"image:({IMAGE_KEY})")

# Raw HTML is escaped; URLs with schemes like javascript: become no links.
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
_markdown.core.ruler.push("adjust", adjust)
# It compiles its rules on first use; another thread at that moment would find only some of them.
_markdown.render("*used*")


@register.filter
@lru_cache(maxsize=256)  # guidelines appear with every item
def markdown(text: str, project: str | None = None) -> SafeString:
    """Return Markdown as HTML; HTML in it is escaped. The project's slug enables its images."""
    return SafeString(_markdown.render(text, {"project": project} if project else {}))
