"""Importing in the browser."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.core.jobs import run_job
from annotate.core.models import DataImport, Item, Project, Rating, RecordedName, Role, Round
from annotate.people.commands import add_member
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.rounds import open_round_one
from concord.celery import app
from tests.factories import make_member, make_user
from tests.material.files import empty_project, item, rating, read_uploads
from tests.reference import reference_data

pytestmark = pytest.mark.django_db(transaction=True)
Status = DataImport.Status
HTMX = {"HX-Request": "true"}


@pytest.fixture
def project(client: Client) -> Project:
    """A project with one dimension whose admin is signed in."""
    project = empty_project(dimensions=("fluency",))
    admin = make_user()
    add_member(project=project, role=Role.ADMIN, user=admin)
    client.force_login(admin)
    return project


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that runs a task where it is sent."""
    monkeypatch.setitem(app.conf, "task_always_eager", True)


@pytest.fixture
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody who takes tasks."""
    monkeypatch.setattr(run_job, "delay", lambda *_: None)


def upload(client: Client, content: bytes | list[dict[str, Any]], name: str = "file.jsonl") -> str:
    """Upload a file and return the address of its page."""
    if isinstance(content, list):
        content = "".join(json.dumps(record) + "\n" for record in content).encode()
    response = client.post("/projects/empty/imports/", {"file": SimpleUploadedFile(name, content)})
    assert response.status_code == 302, response.content.decode()
    read_uploads()
    return str(response["Location"])


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def without_tokens(shown: str) -> str:
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", shown)


CHOICES = {
    "mapping_name": "",
    "what": "items",
    "meaning_0": "document_key",
    "meaning_1": "part",
    "label_1": "Article",
    "meaning_2": "system",
    "meaning_3": "text",
}


def test_summeval_op_is_imported_in_the_browser(client: Client, worker: None) -> None:
    project = empty_project()
    add_member(project=project, role=Role.ADMIN, user=(admin := make_user()))
    client.force_login(admin)
    path = reference_data() / "summeval_op/summeval-op-detailed.jsonl"
    page = upload(client, path.read_bytes(), path.name)
    shown = text(client.get(page))
    assert 'value="summeval-op-detailed" selected' in shown
    assert "New: <strong>32 documents, 13 systems, 416 items, 3 raters, 8,736 ratings</strong>" in shown
    assert "Recorded ratings open Round I" in shown
    client.post(page, {"mapping_name": "summeval-op-detailed", "what": "both"})
    shown = text(client.get(page))
    assert "Imported 32 documents, 13 systems, 416 items, 3 raters, 8,736 ratings." in shown
    assert "The import opens Round I" in shown
    assert Rating.objects.count() == 8736


def test_guess_appears_with_the_first_rows_and_their_result(client: Client, project: Project) -> None:
    page = upload(client, [item(text=f"Text {n}.", system=f"s{n}") for n in range(9)])
    shown = text(client.get(page))
    assert '<option value="document_key" selected>' in shown
    assert shown.count("Text 2.") == 2  # in the file's first rows and in the items that they make
    assert "Text 3." not in shown
    assert "New: <strong>1 document, 9 systems, 9 items</strong>" in shown
    assert not Item.objects.exists()


def test_items_get_the_chosen_format(client: Client, project: Project, worker: None) -> None:
    page = upload(client, [item(text="A *summary*.")])
    assert '<option value="" selected>Plain text; lists of messages as chats' in text(client.get(page))
    columns = {"meaning_0": "document_key", "meaning_1": "part", "meaning_2": "system", "meaning_3": "text"}
    client.post(page, {**columns, "what": "items", "format": "markdown"})
    made = Item.objects.get()
    assert (made.format, made.document.parts[0]["format"]) == ("markdown", "markdown")


def test_a_german_table_needs_no_choice_and_lists_metadata(client: Client, project: Project) -> None:
    rows = [f"{n};Ein Artikel {n}.;{ki};Kurz {n}.;ja" for n in (1, 2) for ki in ("GPT-4", "Llama")]
    table = "\n".join(["Textnr.;Artikel (voll);KI;Kurzfassung;geprüft", *rows])
    shown = text(client.get(upload(client, table.encode(), "texte.csv")))
    assert "New: <strong>2 documents, 2 systems, 4 items</strong>" in shown
    assert "Metadata of documents: geprüft." in shown


def test_equal_rejections_are_one_line_with_the_first_values(client: Client, project: Project) -> None:
    rows = [{"document_id": f"d{n}{'x' * 90}", "system": "s", "text": "Text."} for n in range(100)]
    shown = text(client.get(upload(client, rows)))
    assert "100 invalid lines" in shown
    assert shown.count('class="reason"') == 1
    assert "The project has no document “…”; import the documents before their texts." in shown
    assert "1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 90 more" in shown
    assert "d0" + "x" * 78 + "…, d1" in shown


def test_round_two_ratings_read_as_items_get_a_message(client: Client, project: Project) -> None:
    page = upload(client, [rating(round=2)])
    assert '<input type="radio" name="what" value="answers"' in text(client.get(page))
    shown = text(client.post(page, {"show": "1", "what": "items", "meaning_0": "document_key"}))
    assert "Choose “Recorded ratings of Round II” under" in shown


def test_judgments_among_items_lead_to_their_importer(client: Client, project: Project) -> None:
    judgment = {"model": "m", "method": "rts", "document": "d", "system": "s", "dimension": "f", "reply": "4"}
    shown = text(client.get(upload(client, [judgment])))
    assert "This file seems to hold judgments made elsewhere." in shown
    assert 'href="/projects/empty/judges/import/"' in shown


def test_a_long_file_is_previewed_by_its_first_lines(client: Client, project: Project) -> None:
    page = upload(client, [item(f"d{n}") for n in range(101)])
    shown = text(client.get(page))
    assert "New in the first 100 lines: <strong>100 documents, 1 system, 100 items</strong>" in shown


def test_column_choice_shows_its_result_and_imports_nothing(client: Client, project: Project) -> None:
    page = upload(client, [{"a": "d1", "b": "An article.", "c": "s1", "d": "A text."}])
    assert "Choose the columns" in text(client.get(page))
    response = client.post(page, CHOICES | {"show": "1"}, headers=HTMX)
    assert "New: <strong>1 document, 1 system, 1 item</strong>" in text(response)
    assert "<html" not in text(response)
    whole = text(client.post(page, CHOICES | {"show": "1"}))
    assert text(response).split('<section id="preview"')[1].split("</section>")[0] in whole
    assert not Item.objects.exists()


def test_chosen_columns_are_imported(client: Client, project: Project, worker: None) -> None:
    page = upload(client, b"a,b,c,d\nd1,An article.,s1,A text.\n", "items.csv")
    response = client.post(page, CHOICES)
    assert (response.status_code, response["Location"]) == (302, page)
    assert "Imported 1 document, 1 system, 1 item." in text(client.get(page))
    assert Item.objects.get().document.parts == [{"label": "Article", "text": "An article."}]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"meaning_1": "document_key"}, "“a” and “b” cannot both be the document_key"),
        ({"meaning_0": "", "meaning_1": ""}, "For items, choose the columns"),
        ({"what": "ratings"}, "For ratings, choose the columns"),
        ({"what": ""}, "This field is required"),
        ({"meaning_0": "colour"}, "Select a valid choice"),
        ({"mapping_name": "summeval-op"}, "This file has no reviews, no summaries, which this mapping needs"),
        ({"mapping_name": "summeval-op", "meaning_1": "document_key"}, "This file has no reviews, no"),
    ],
)
def test_unimportable_choices_are_rejected_with_the_missing_part(
    client: Client, project: Project, changes: dict[str, str], sentence: str
) -> None:
    page = upload(client, [{"a": "d1", "b": "An article.", "c": "s1", "d": "A text."}])
    response = client.post(page, CHOICES | changes)
    assert response.status_code == 422
    assert sentence in text(response)
    assert DataImport.objects.get().status == Status.UPLOADED


def test_values_of_a_dimension_can_be_chosen_for_a_column(
    client: Client, project: Project, worker: None
) -> None:
    client.post(upload(client, [item()]), CHOICES)
    page = upload(client, b"document_id,system,rater,Fluency\nd1,s1,A1,4\n", "wide.csv")
    shown = text(client.get(page))
    assert '<option value="values of Fluency" selected>' in shown
    assert '<td dir="auto">A1</td> <td dir="auto">Fluency</td> <td class="number">4</td>' in shown
    assert "New: <strong>1 rater, 1 rating</strong>" in shown


def test_rejected_lines_are_listed_and_the_mapping_is_editable(
    client: Client, project: Project, worker: None
) -> None:
    page = upload(client, [item(), item("d2", text="")])
    client.post(page, CHOICES)
    shown = text(client.get(page))
    assert "Nothing was imported" in shown
    assert "The field “text” is empty" in shown
    assert "Check and import" in shown
    assert f'href="{page}refused.csv">CSV' in shown
    assert f'href="{page}refused.jsonl">JSONL' in shown
    assert not Item.objects.exists()


def test_file_content_appears_as_plain_characters(client: Client, project: Project, worker: None) -> None:
    evil = "<script>alert(1)</script>"
    record = {evil: f"{evil}d1", "b": evil, "c": f"{evil}\u202eשלום", "d": evil}
    page = upload(client, [record, record | {"d": ""}], f"{evil}.jsonl".replace("/", ""))
    pages = [text(client.get(page)), text(client.post(page, CHOICES | {"show": "1"}))]
    client.post(page, CHOICES)
    pages += [text(client.get(page)), text(client.get("/projects/empty/imports/"))]
    assert all("<script>alert" not in shown and "&lt;script&gt;" in shown for shown in pages)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.pdf", b"%PDF", "of no known format; upload JSONL, CSV, TSV, XLSX, Parquet"),
        ("a.jsonl", b"", "The submitted file is empty"),
    ],
)
def test_files_that_cannot_be_imported_are_not_kept(
    client: Client, project: Project, name: str, content: bytes, sentence: str
) -> None:
    response = client.post("/projects/empty/imports/", {"file": SimpleUploadedFile(name, content)})
    assert response.status_code == 422
    assert sentence in text(response)
    assert not DataImport.objects.exists()


def test_too_large_file_is_rejected(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotate.material.forms.LARGEST_UPLOAD", 1024**2)
    file = SimpleUploadedFile("a.jsonl", b" " * (1024**2 + 1))
    response = client.post("/projects/empty/imports/", {"file": file})
    assert "larger than 1 MB" in text(response)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", "id,text\n1,é\n".encode("latin-1"), "Line 2: This line is not UTF-8"),
        ("a.xlsx", b"PK\x03\x04 no workbook", "cannot be read"),
        ("a.jsonl", b"\n\n", "The file is empty"),
        ("a.jsonl", b"{broken\n", "not JSON"),
    ],
)
def test_unreadable_file_has_a_reason_and_can_be_discarded(
    client: Client, project: Project, name: str, content: bytes, sentence: str
) -> None:
    page = upload(client, content, name)
    shown = text(client.get(page))
    assert sentence in shown
    assert "Check and import" not in shown
    response = client.post(f"{page}discard/")
    assert response["Location"] == "/projects/empty/imports/"
    assert not DataImport.objects.exists()


def test_progress_is_polled_as_a_part_of_the_page(client: Client, project: Project, no_worker: None) -> None:
    page = upload(client, [item()])
    client.post(page, CHOICES)
    DataImport.objects.update(status=Status.CHECKING, progress=0.42)
    part = text(client.get(page, headers=HTMX))
    assert "42 %" in part
    assert 'hx-trigger="every 1s"' in part
    assert "<html" not in part
    assert without_tokens(part).strip() in without_tokens(text(client.get(page)))


def test_the_poll_that_finds_the_end_loads_the_page(client: Client, project: Project, worker: None) -> None:
    page = upload(client, [item(text="")])
    client.post(page, CHOICES)
    assert client.get(page, headers=HTMX)["HX-Refresh"] == "true"


def test_page_without_a_worker_reports_it_with_a_remedy(
    client: Client, project: Project, no_worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = upload(client, [item()])
    client.post(page, CHOICES)
    assert "Waiting for a worker" in text(client.get(page))
    DataImport.objects.update(touched_at=timezone.now() - timedelta(seconds=11))
    shown = text(client.get(page, headers=HTMX))
    assert "No worker has taken this import yet" in shown
    assert "celery -A concord worker" in shown
    monkeypatch.undo()
    monkeypatch.setitem(app.conf, "task_always_eager", True)
    client.post(f"{page}again/")
    assert Item.objects.count() == 1


def test_a_broker_that_cannot_be_reached_loses_nothing(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(run_job, "delay", fail)
    page = upload(client, [item()])
    assert client.post(page, CHOICES).status_code == 302
    assert DataImport.objects.get().status == Status.WAITING


def test_stopped_worker_is_reported_and_the_import_restarted(
    client: Client, project: Project, worker: None
) -> None:
    page = upload(client, [item()])
    DataImport.objects.update(
        status=Status.CHECKING,
        touched_at=timezone.now() - timedelta(minutes=2),
        mapping={"document_key": "document_id", "system": "system", "text": "text", "parts": []},
        what="items",
    )
    shown = text(client.get(page))
    assert "has stopped" in shown
    client.post(f"{page}again/")
    assert "import the documents before" in text(client.get(page))


def test_unconfigured_import_cannot_be_requeued(client: Client, project: Project) -> None:
    page = upload(client, [item()])
    assert client.post(f"{page}again/").status_code == 302
    assert DataImport.objects.get().status == Status.UPLOADED


def test_importing_twice_makes_nothing_twice(client: Client, project: Project, worker: None) -> None:
    for _ in range(2):
        page = upload(client, [item()])
        client.post(page, CHOICES)
    assert "Everything in this file was imported before" in text(client.get(page))
    assert Item.objects.count() == 1


def test_ratings_into_a_closed_round_are_rejected_with_a_message(
    client: Client, project: Project, worker: None
) -> None:
    client.post(upload(client, [item()]), CHOICES)
    path = upload(client, [rating()])
    ratings = {"mapping_name": "", "what": "ratings"} | {
        f"meaning_{n}": name
        for n, name in enumerate(("document_key", "system", "rater", "dimension", "value"))
    }
    client.post(path, ratings)
    Round.objects.update(status="closed", closed_at=timezone.now())
    page = upload(client, [rating("A2")])
    client.post(page, ratings)
    assert "Round I is closed and takes no more ratings" in text(client.get(page))
    assert Rating.objects.count() == 1


def test_only_admins_of_the_project_see_imports(client: Client, project: Project) -> None:
    page = upload(client, [item()])
    annotator = make_member(project).user
    outsider = make_user()
    other = empty_project("other")
    add_member(project=other, role=Role.ADMIN, user=outsider)
    for user in (annotator, outsider):
        assert user is not None
        client.force_login(user)
        for address in ("/projects/empty/imports/", page):
            assert client.get(address).status_code == 404
        for address in (page, f"{page}again/", f"{page}discard/"):
            assert client.post(address).status_code == 404
    assert client.get(page.replace("empty", "other")).status_code == 404
    client.logout()
    assert "/accounts/login/" in client.get(page)["Location"]
    assert DataImport.objects.exists()


def queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        client.get(address)
    return len(captured)


def test_the_number_of_queries_does_not_grow(client: Client, project: Project) -> None:
    page = upload(client, [item()])
    few = queries(client, "/projects/empty/imports/"), queries(client, page)
    pages = [upload(client, [item(f"d{n}", f"s{n}") for n in range(40)]) for _ in range(3)]
    assert (queries(client, "/projects/empty/imports/"), queries(client, pages[0])) == few


def test_the_file_on_disk_does_not_have_the_name_that_a_person_gave_it(
    client: Client, project: Project
) -> None:
    upload(client, [item()], "../../etc/passwd.jsonl")
    stored = DataImport.objects.get()
    assert stored.name == "passwd.jsonl"
    assert Path(stored.file.path).parent.name == "imports"
    assert "passwd" not in stored.file.path


def test_the_page_asks_who_the_raters_are(client: Client, project: Project, worker: None) -> None:
    client.post(upload(client, [item()]), CHOICES)
    member = make_member(project)
    page = upload(client, [rating(), rating("A2")])
    assert "Who are these raters?" in text(client.get(page))
    ratings = {"mapping_name": "", "what": "ratings"} | {
        f"meaning_{n}": name
        for n, name in enumerate(("document_key", "system", "rater", "dimension", "value"))
    }
    named = {"recorded_name": ["A1", "A2"], "recorded_member": [str(member.pk), ""]}
    refused = client.post(page, ratings | named | {"recorded_member": ["0", ""]}, follow=True)
    assert "Choose a member of this project" in text(refused)
    assert not Rating.objects.exists()
    client.post(page, ratings | named)
    raters = Rating.objects.order_by("pk").values_list("assignment__annotator__label", flat=True)
    assert list(raters) == [member.label, "A2"]


def test_slot_holders_can_be_selected_and_stay_chosen(client: Client, project: Project, worker: None) -> None:
    client.post(upload(client, [item()]), CHOICES)
    round = open_round_one(project=project, by=None)
    members = [make_member(project) for _ in range(round.assignments.count())]
    for member in members:
        reserve_items(round=round, annotator=member)
    page = upload(client, [rating()])
    ratings = {"mapping_name": "", "what": "ratings"} | {
        f"meaning_{n}": name
        for n, name in enumerate(("document_key", "system", "rater", "dimension", "value"))
    }
    asked = text(client.post(page, ratings | {"show": "1"}, headers=HTMX))
    assert "would be one too many" in asked
    assert "Who are these raters?" in asked
    chosen = ratings | {"recorded_name": "A1", "recorded_member": str(members[0].pk)}
    again = text(client.post(page, chosen | {"show": "1"}, headers=HTMX))
    assert "would be one too many" not in again
    assert f'<option value="{members[0].pk}" selected>' in again
    assert not RecordedName.objects.exists()
    client.post(page, chosen)
    assert members[0].assignments.get().ratings.get().value == 4
