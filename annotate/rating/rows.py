"""The rows of the rating form as HTML; rows of an item without answers are rendered once and cached."""

import hashlib
import re

from django.core.cache import caches
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from annotate.core.models import Project
from annotate.rating.queries.work import ItemPage

INDENTED = re.compile(r">\s*\n\s*<")
ANYWHERE = 2_000_000_011  # placeholder of the position in the cached HTML


def practice_rows_as_html(project: Project, page: ItemPage, address: str) -> SafeString:
    """Return the rows of a practice item; the page sends its answers below the URL `address`."""
    round = page.assignment.round
    # Practice asks for every gold value, whatever the others are.
    context = {"project": project, "round": round, "rows": page.rows, "address": address, "practises": True}
    return render_to_string("rating/_rows.html", context)


def rows_as_html(project: Project, page: ItemPage) -> SafeString:
    """Return the rows and their explanations; rendering them takes most of the time of a page."""
    round, position = page.assignment.round, page.assignment.position
    context = {"project": project, "round": round, "rows": page.rows}
    address = reverse("rate_item", args=[project.slug, ANYWHERE])
    here = address.replace(f"/rate/{ANYWHERE}/", f"/rate/{position}/")
    if any(row.rating or row.kind.reads_item for row in page.rows):
        return render_to_string("rating/_rows.html", {**context, "address": here})
    asked = [row.dimension.key for row in page.rows]
    version = (round.guideline.version, round.guideline.digest, get_language())
    about = repr((project.slug, *version, round.status, asked))
    key = f"rating rows {hashlib.sha256(about.encode()).hexdigest()}".replace(" ", "-")
    kept = caches["process"].get(key)
    if kept is None:
        html = render_to_string("rating/_rows.html", {**context, "address": address})
        kept = INDENTED.sub(">\n<", html)  # a sixth of it is the template's indentation
        caches["process"].set(key, kept, timeout=None)
    return SafeString(kept.replace(address, here))
