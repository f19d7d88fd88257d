"""Texts that a spreadsheet would compute: defused where somebody asks for it, untouched for programs."""

import csv
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.audit import record
from annotate.exports.formats.text import comma_separated, jsonl
from annotate.exports.registry import ExportColumn, ExportTable
from annotate.results.latex import writer_of
from annotate.results.table import Cell, Column, ColumnKind, Table
from tests.factories import make_project
from tests.rating.rounds import opened, rate

HOSTILE = ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1"]


def comments(client: Client, slug: str, **asked: str) -> list[Any]:
    reply = client.get(reverse("export_one", args=[slug, "ratings", "csv"]), asked)
    text = b"".join(reply.streaming_content).decode()  # type: ignore[attr-defined]
    return [row["comment"] for row in csv.DictReader(StringIO(text, newline=""))]


@pytest.mark.django_db
def test_formulas_are_defused_where_somebody_asks_for_it(client: Client) -> None:
    cast = make_project(annotators=1, documents=3, raters_per_item=1)
    round = opened(cast)
    written = [*HOSTILE, "plain = text"]
    for item, comment in zip(cast.items, written, strict=True):
        rate(cast, round, cast.annotators[0], item, 3, comment=comment)
    client.force_login(cast.admin)
    slug = cast.project.slug
    assert sorted(comments(client, slug)) == sorted(written)
    assert sorted(comments(client, slug, formulas="text")) == sorted(
        [*(f"'{each}" for each in HOSTILE), "plain = text"]
    )
    page = client.get(reverse("exports", args=[slug])).content.decode()
    assert f"{reverse('export_one', args=[slug, 'ratings', 'csv'])}?formulas=text" in page


@pytest.mark.django_db
def test_the_audit_log_and_tables_of_results_have_them_defused_too(client: Client) -> None:
    cast = make_project(annotators=1, documents=1, raters_per_item=1)
    record(cast.project, "project.changed", "=HYPERLINK(1)", after={}, by=cast.admin)
    client.force_login(cast.admin)
    address = reverse("audit_download", args=[cast.project.slug, "csv"])
    subjects = {}
    for asked in ("", "text"):
        reply = client.get(address, {"formulas": asked})
        text = b"".join(reply.streaming_content).decode()  # type: ignore[attr-defined]
        subjects[asked] = [row["subject"] for row in csv.DictReader(StringIO(text, newline=""))]
    assert "=HYPERLINK(1)" in subjects[""]
    assert "'=HYPERLINK(1)" in subjects["text"]
    assert (
        f"{address}?formulas=text" in client.get(reverse("audit", args=[cast.project.slug])).content.decode()
    )
    column = Column("system", "System", ColumnKind.TEXT)
    table = Table("t", "T", [column], [[Cell("=1")], [Cell("first")]])
    for asked, said in (("", "=1"), ("text", "'=1")):
        written = writer_of("csv", cast.project, {"formulas": asked})(table)
        assert written.splitlines() == ["system", said, "first"]


def test_a_table_of_one_column_has_whole_values() -> None:
    rows = [{"system": "first"}, {"system": "=1"}]
    table = ExportTable("systems", "names", (ExportColumn("system"),), lambda _: rows)
    assert [table.values(row) for row in rows] == [("first",), ("=1",)]
    assert "".join(comma_separated(table, rows, defuses_formulas=True)).splitlines() == [
        "system",
        "first",
        "'=1",
    ]
    assert "".join(jsonl(table, rows)).splitlines() == ['{"system": "first"}', '{"system": "=1"}']
