"""Reading results as a person or a program does."""

import csv
import io
from typing import Any

from django.test import Client
from django.urls import reverse

from annotate.core.models import Project
from annotate.results.commands import current_page
from annotate.results.registry import result_of

Row = dict[str, Any]  # a Cell by the key of its column; Any, as a test knows what a cell holds
Rows = list[Row]


def cells_of(project: Project, page: str, key: str, **chosen: str) -> Rows:
    """Return a table's rows, each by the keys of its columns; an error where the page has no such table."""
    table = current_page(project=project, result=result_of(project, page, chosen)).table(key)
    assert table is not None, f"{page} has no table {key}"
    return [{column.key: cell for column, cell in zip(table.columns, row, strict=True)} for row in table.rows]


def csv_of(client: Client, project: Project, page: str, key: str, **chosen: str) -> list[dict[str, str]]:
    """Return a table's rows as its CSV file has them."""
    answer = client.get(reverse("result_file", args=[project.slug, page, key, "csv"]), chosen)
    assert answer.status_code == 200, answer.content
    return list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
