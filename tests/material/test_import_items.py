"""Importing documents and items: all or nothing, and nothing twice."""

import gzip
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.core.models import Assignment, Document, Item, Membership, Project, System
from annotate.material.commands.imports import MOST_CHARACTERS, import_file
from annotate.material.queries.check import FileCheck
from annotate.material.reading.columns import ColumnMapping
from annotate.material.reading.progress import silent
from annotate.material.reading.report import ImportReport
from annotate.material.reading.values import KEY_LIMIT, RATER_LIMIT, TITLE_LIMIT
from annotate.rating.commands.rounds import close_round_one, open_round_one
from tests.material.files import empty_project, item, jsonl, released, source

pytestmark = pytest.mark.django_db


def load(project: Project, path: Path) -> ImportReport:
    return import_file(project=project, source=source(path, items=True), by=None)


def reasons(report: ImportReport) -> list[str]:
    return [refused.reason for refused in report.refused_lines]


def test_both_files_of_summeval_op_make_its_items_once() -> None:
    project = empty_project()
    named = released("summeval-op", "summeval_op/summeval-op.jsonl", items=True)
    detailed = released("summeval-op-detailed", "summeval_op/summeval-op-detailed.jsonl", items=True)
    report = import_file(project=project, source=named, by=None)
    assert (report.made.documents, report.made.systems, report.made.items) == (32, 13, 416)
    assert not report.already_there.total
    for again in (detailed, named):
        report = import_file(project=project, source=again, by=None)
        assert not report.made.total
        assert (report.already_there.documents, report.already_there.items) == (32, 416)
    assert Item.objects.count() == 416
    assert Document.objects.get(title="Product 1").parts[0]["label"] == "Review 1"


def test_summeval_is_imported_article_by_article_and_then_its_summaries() -> None:
    project = empty_project()
    articles = released("summeval-documents", "news_summeval/documents.jsonl.gz", items=True)
    summaries = released("summeval", "news_summeval/summaries.jsonl.gz", items=True)
    refused = import_file(project=project, source=summaries, by=None)
    assert refused.refused_count == 1200
    assert len(refused.refused_lines) == 1000
    assert "import the documents before" in refused.refused_lines[0].reason
    assert import_file(project=project, source=articles, by=None).made.documents == 100
    report = import_file(project=project, source=summaries, by=None)
    assert (report.made.items, report.made.systems, report.already_there.documents) == (1200, 12, 100)


def test_one_rejected_line_prevents_the_import(tmp_path: Path) -> None:
    project = empty_project()
    path = jsonl(tmp_path, item(), item("d2", text=""), item("d3"), item("d4", system=None))
    report = load(project, path)
    assert [(refused.line, refused.field) for refused in report.refused_lines] == [(2, "text"), (4, "system")]
    assert not Document.objects.exists()
    assert not System.objects.exists()


def test_file_with_a_reading_failure_is_rejected_whole(tmp_path: Path) -> None:
    path = jsonl(tmp_path, item())
    path.write_bytes(path.read_bytes() + b'{"document_id": "\xe9"}\n')
    report = load(empty_project(), path)
    assert report.refused_lines[0].line == 2
    assert "not UTF-8" in report.refused_lines[0].reason
    assert not Document.objects.exists()


def test_check_reports_the_import_result_and_writes_nothing(tmp_path: Path) -> None:
    project = empty_project()
    path = jsonl(tmp_path, item(), item(system="s2"), item("d2"))
    checked = FileCheck(project, source(path, items=True)).check(None, silent)
    assert (checked.made.documents, checked.made.systems, checked.made.items) == (2, 2, 3)
    assert not Document.objects.exists()
    assert load(project, path).made == checked.made


def test_check_of_the_first_records_reports_more_records(tmp_path: Path) -> None:
    path = jsonl(tmp_path, item(), item(system="s2"), item("d2"))
    first = FileCheck(empty_project(), source(path, items=True)).check(2, silent)
    assert (first.made.items, first.complete) == (2, False)
    whole = FileCheck(empty_project("other"), source(path, items=True)).check(3, silent)
    assert (whole.made.items, whole.complete) == (3, True)


def test_equal_lines_make_one_item(tmp_path: Path) -> None:
    report = load(empty_project(), jsonl(tmp_path, item(), item(), item()))
    assert (report.made.items, report.already_there.items) == (1, 2)


def test_reused_key_with_another_value_is_rejected_with_its_first_line(tmp_path: Path) -> None:
    project = empty_project()
    report = load(project, jsonl(tmp_path, item(), item(text="Another."), item(article="Another.")))
    assert [refused.line for refused in report.refused_lines] == [2, 3]
    assert all("in line 1 of this file" in reason for reason in reasons(report))
    load(project, jsonl(tmp_path, item()))
    report = load(project, jsonl(tmp_path, item("d2"), item(text="Another.")))
    assert [refused.line for refused in report.refused_lines] == [2]
    assert "in the project" in reasons(report)[0]
    assert Item.objects.get().text == "A summary."


STRANGE = [
    "x" * 100_000,
    "<script>alert('x')</script><b>bold</b>",
    "שלום עולם \u202eabc",
    "=HYPERLINK('http://example.org')",
    "e\u0301 \U0001f600 \u2028.",
]


@pytest.mark.parametrize("text", STRANGE)
def test_values_reach_the_database_unchanged(tmp_path: Path, text: str) -> None:
    short = text[:KEY_LIMIT]
    path = jsonl(tmp_path, item(short, short, text, article=text, title=short))
    report = load(empty_project(), path)
    assert not report.is_refused
    made = Item.objects.select_related("document", "system").get()
    assert (made.text, made.document.parts[0]["text"]) == (text, text)
    assert (made.document.key, made.system.name, made.document.title) == (short, short, short)


def test_names_too_long_for_the_database_are_rejected(tmp_path: Path) -> None:
    report = load(empty_project(), jsonl(tmp_path, item("x" * 201), item("d2", "y" * 201)))
    assert [refused.field for refused in report.refused_lines] == ["document_id", "system"]


def test_name_limits_match_the_database() -> None:
    fields = (
        Document._meta.get_field("key"),
        System._meta.get_field("name"),
        Document._meta.get_field("title"),
        Membership._meta.get_field("label"),
    )
    limits = [field.max_length for field in fields]
    assert limits == [KEY_LIMIT, KEY_LIMIT, TITLE_LIMIT, RATER_LIMIT]


def test_items_imported_in_an_open_round_one_get_assignments(tmp_path: Path) -> None:
    project = empty_project()
    load(project, jsonl(tmp_path, item()))
    open_round_one(project=project, by=None)
    load(project, jsonl(tmp_path, item("d2")))
    assert Assignment.objects.filter(item__document__key="d2", annotator=None).count() == 3


def test_items_after_a_closed_round_one_are_rejected_with_a_remedy(tmp_path: Path) -> None:
    project = empty_project()
    path = jsonl(tmp_path, item())
    load(project, path)
    open_round_one(project=project, by=None)
    close_round_one(project=project, by=None)
    assert not load(project, path).is_refused
    report = load(project, jsonl(tmp_path, item("d2")))
    assert reasons(report) == [
        "Round I is closed, so new items would never be rated. Add new systems under Additions."
    ]
    assert Item.objects.count() == 1


def test_rejection_between_check_and_write_is_rolled_back(tmp_path: Path) -> None:
    project = empty_project()
    path = jsonl(tmp_path, item("d1"), item("d2"))
    other = jsonl(tmp_path, item("d2", text="Of someone else."), name="other.jsonl")

    def meanwhile(stage: str, _fraction: float, _lines: int = 0, _report: object = None) -> None:
        if stage == "writing":
            load(project, other)

    report = import_file(project=project, source=source(path, items=True), by=None, on_progress=meanwhile)
    assert report.is_refused
    assert list(Item.objects.values_list("text", flat=True)) == ["Of someone else."]


def test_documents_and_their_items_are_written_in_batches(tmp_path: Path) -> None:
    numbers = []
    for documents in (5, 50):
        path = jsonl(tmp_path, *(item(f"d{number}") for number in range(documents)))
        project = empty_project(f"of-{documents}")
        with CaptureQueriesContext(connection) as queries:
            load(project, path)
        numbers.append(len(queries))
    assert numbers[0] == numbers[1]


ARTICLE = "A long article. " * 6000


def peak_of_import(folder: Path, *, documents: int) -> int:
    """The bytes that are held at most while a file of so many long articles is imported."""
    path = folder / f"{documents}.jsonl.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        for number in range(documents):
            file.write(json.dumps(item(f"d{number}", article=f"{number} {ARTICLE}")) + "\n")
    project = empty_project(f"of-{documents}")
    tracemalloc.start()
    report = load(project, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.made.items == documents
    return peak


def test_large_file_is_imported_in_constant_memory(tmp_path: Path) -> None:
    batch = MOST_CHARACTERS // len(ARTICLE) + 1
    few, many = 2 * batch, 5 * batch
    grown = peak_of_import(tmp_path, documents=many) - peak_of_import(tmp_path, documents=few)
    assert grown / (many - few) < len(ARTICLE) / 50  # for keys and digests


def test_document_with_another_source_is_rejected_naming_the_part(tmp_path: Path) -> None:
    project = empty_project()
    load(project, jsonl(tmp_path, item(source=["Great boots.", "They pinch.", "Warm."])))
    other = item(system="s2", source=["Great boots.", "They do not pinch.", "Warm."])
    (said,) = reasons(load(project, jsonl(tmp_path, other)))
    assert "in the project: part 3 (“Source 2”) differs; give this one another key." in said
    fewer = item("d2", source=["Great boots.", "Warm."]), item("d2", "s2", source=["Great boots."])
    (said,) = reasons(load(project, jsonl(tmp_path, *fewer)))
    assert "in line 1 of this file: 3 parts there and 2 here" in said


def test_report_of_the_previous_version_lists_its_rejected_lines() -> None:
    kept = {"line": 2, "field": "text", "reason": "The field “text” is empty."}
    counts = {"documents": 0, "systems": 0, "items": 0, "raters": 0, "ratings": 0}
    report = ImportReport.from_json(
        {
            **{"made": counts, "already_there": counts, "opens_round_one": False, "lines": 2},
            **{"complete": True, "refused_count": 1, "refused": [kept]},
        }
    )
    assert [(each.line, each.field) for each in report.refused_lines] == [(2, "text")]
    assert ImportReport.from_json(report.to_json()) == report


MESSAGES = [{"role": "user", "content": "Are they good? Tell me in one short sentence, please."}]


def test_message_list_becomes_a_chat_and_other_values_stay_plain(tmp_path: Path) -> None:
    record = {"model": "s1", "source": MESSAGES, "response": "Yes, **all**."}
    path = jsonl(tmp_path, *({"id": f"d{n}", **record} for n in (1, 2)))
    found = source(path, items=True)
    assert isinstance(found.mapping, ColumnMapping)
    assert [part.column for part in found.mapping.parts] == ["source"]
    assert not load(empty_project(), path).refused_count
    part = Document.objects.get(key="d1").parts[0]
    assert (json.loads(part["text"]), part["format"]) == (MESSAGES, "chat")
    assert set(Item.objects.values_list("text", "format")) == {("Yes, **all**.", "plain")}


def test_items_are_stored_in_the_mapped_format(tmp_path: Path) -> None:
    path = jsonl(tmp_path, item(text="A *summary*."), item("d2", article=MESSAGES))
    found = source(path, items=True)
    assert isinstance(found.mapping, ColumnMapping)
    markdown = replace(found, mapping=replace(found.mapping, format="markdown"))
    assert not import_file(project=empty_project(), source=markdown, by=None).refused_count
    formats = Document.objects.order_by("key").values_list("parts__0__format", "items__format")
    assert list(formats) == [("markdown", "markdown"), ("chat", "markdown")]


def test_same_content_in_another_format_already_exists(tmp_path: Path) -> None:
    project, path = empty_project(), jsonl(tmp_path, item())
    load(project, path)
    found = source(path, items=True)
    assert isinstance(found.mapping, ColumnMapping)
    again = replace(found, mapping=replace(found.mapping, format="markdown"))
    report = import_file(project=project, source=again, by=None)
    assert (report.made.total, report.already_there.items) == (0, 1)
    assert Item.objects.get().format == "plain"
