"""A table as a file for download, on every page that offers one."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from django.http import Http404, HttpResponse
from django.utils.translation import gettext

from annotate.core.models import Project
from annotate.core.strings import is_for_spreadsheet
from annotate.results.latex import LatexChoices, latex
from annotate.results.table import Table
from annotate.results.text import comma_separated, markdown

CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
}
"""By the end of a file's name."""


def writer_of(format: str, project: Project, given: Mapping[str, Any]) -> Callable[[Table], str]:
    """Return the writer of a table in this format; `given` has settings of LaTeX (see LatexChoices), and
    with `formulas=text` a CSV for spreadsheets.
    """
    if format == "tex":
        return partial(latex, choices=LatexChoices.read(given), project=project.name)
    if format == "csv":
        return partial(comma_separated, defuses_formulas=is_for_spreadsheet(given))
    if format == "json":
        return lambda table: json.dumps(table.to_dict(), ensure_ascii=False)
    return markdown


def table_file(
    project: Project, tables: Iterable[Table], key: str, name: str, format: str, given: Mapping[str, Any]
) -> HttpResponse:
    """Return the table of this key as a file of this name; 404 without one."""
    table = next((each for each in tables if each.key == key), None)
    if table is None or format not in CONTENT_TYPES:
        raise Http404(gettext("There is no such table or format."))
    content = writer_of(format, project, given)(table)
    response = HttpResponse(content, content_type=CONTENT_TYPES[format])
    response["Content-Disposition"] = f'attachment; filename="{name}.{format}"'
    return response
