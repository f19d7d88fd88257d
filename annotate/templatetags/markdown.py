"""Markdown that people wrote, made safe to show."""

from django import template
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

register = template.Library()

# Pages have their own h1 and h2; what is written in Markdown goes below them.
HEADINGS_SHIFT = 2


def adjust(state: StateCore) -> None:
    """Open links beside the page, put headings below the page's, give each block its own direction."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + HEADINGS_SHIFT, 6)}"
        if token.nesting == 1 and token.level == 0:
            token.attrSet("dir", "auto")
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
                child.attrSet("target", "_blank")


# Raw HTML is shown as text; addresses like javascript: make no link. Images would be fetched from elsewhere,
# which tells that server who rates when, so they stay links.
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
_markdown.core.ruler.push("adjust", adjust)


@register.filter
def markdown(text: str) -> SafeString:
    """Return Markdown as HTML; HTML in it is shown as text."""
    return SafeString(_markdown.render(text))
