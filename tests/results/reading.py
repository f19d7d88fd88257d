"""Reading results as a person or a program does."""

import csv
import io
from typing import Any

from django.test import Client
from django.urls import reverse

from annotate.core.models import Project
from annotate.results.commands import current_page
from annotate.results.queries.kept import plain_result
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


def expect_in_files_and_api(
    client: Client, project: Project, page: str, left_out: dict[str, list[str]]
) -> None:
    """Assert that the page shows none of these columns by key of their tables, and that files and API do.

    No column means the whole table.
    """
    result = result_of(project, page)
    kept = current_page(project=project, result=result)
    api = plain_result(result, kept)
    tables = {table["key"]: table for part in api["sections"] for table in part["tables"]}
    for key, columns in left_out.items():
        html = client.get(reverse("results_page", args=[project.slug, page]), {"table": key}).content.decode()
        table = tables[key]
        names = {column["key"]: column["name"] for column in table["columns"]}
        if columns:
            body = html[html.index('<table class="sortable">') : html.index("</table>")]
            assert [key for key in columns if f">{names[key]}<" in body] == []
        else:
            assert f'<section class="result" id="{key}"' not in html
        wanted = columns or [each for each in names if each != "pair"]
        rows = csv_of(client, project, page, key)
        assert len(rows) == len(table["rows"]) > 0, key
        for column in wanted:
            index = list(names).index(column)
            values = [row[index].get("value", "") for row in table["rows"]]
            assert [row[column] for row in rows] == [str(value) for value in values], (key, column)
