"""A table as a file to take away, on every page that offers one."""

from collections.abc import Iterable

from django.http import Http404, HttpResponse
from django.utils.translation import gettext

from annotate.results.table import Table
from annotate.results.text import FORMATS


def table_file(tables: Iterable[Table], key: str, name: str, format: str) -> HttpResponse:
    """Give the table of this key as CSV, Markdown or LaTeX, in a file of this name; 404 without one."""
    table = next((each for each in tables if each.key == key), None)
    if table is None or format not in FORMATS:
        raise Http404(gettext("There is no such table or format."))
    write, content_type = FORMATS[format]
    response = HttpResponse(write(table), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}.{format}"'
    return response
