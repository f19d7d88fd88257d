"""Sources and outputs in their format, with the passages that raters marked."""

from collections.abc import Iterable
from html import escape

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from annotate.core.rendering.runs import Span, mark_spans
from annotate.core.rendering.texts import RenderedText, render_text
from annotate.disputes.queries.page import Segment

register = template.Library()


@register.simple_tag
def show_text(text: str, format: str, project: str, anchor: object = "") -> RenderedText:
    """Return a source or an output for a page, see `render_text`. anchor: the number of its part."""
    return render_text(text, format, project=project, anchor=f"part-{anchor}" if anchor else "")


@register.simple_tag
def mark_text(shown: RenderedText, segments: Iterable[Segment], mine: str) -> SafeString:
    """Return a rendered source or output with raters' marks. mine: the reader's name as a rater."""
    spans, at = [], 0
    colours: dict[int, str] = {}
    for segment in segments:
        if segment.by:
            colour = f" span-of-{segment.colour}" if segment.colour else ""
            spans.append(Span(at, at + len(segment.text), tuple(segment.by)))
            colours[at] = colour
        at += len(segment.text)
    says = escape(gettext("marked by"))

    def mark(piece: str, span: Span, *, is_first: bool, is_last: bool) -> str:
        names = escape(" ".join(span.by))
        style = "marked marked-mine" if mine in span.by else "marked"
        # A span may consist of several pieces, and each end names its raters once.
        by = f' data-by="{names}"' if is_first else ""
        note = f'<sup><span class="visually-hidden">{says}</span> {names}</sup>' if is_last else ""
        style += colours[span.start]
        return f'<mark class="{style}"{by}>{piece}{note}</mark>'

    return SafeString(mark_spans(shown.html, spans, mark))
