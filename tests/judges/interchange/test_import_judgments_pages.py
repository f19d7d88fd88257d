"""Judgments made elsewhere, in the browser; and what pages of judges show of them."""

import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.core.jobs import run_job
from annotate.core.models import DataImport, Role
from annotate.rating.commands.rounds import close_round_one, open_round_one
from concord.celery import app
from judges.core.models import Judge, Judgment
from tests.factories import make_member, make_project
from tests.judges.factories import make_judge
from tests.judges.importing import jsonl, row, run
from tests.judges.pages import HTMX, address, html_of, text_of
from tests.material.files import read_uploads
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db(transaction=True)
Status = DataImport.Status


@pytest.fixture
def cast(client):
    cast = make_project()
    client.force_login(cast.admin)
    return cast


@pytest.fixture
def worker(monkeypatch):
    """A worker that runs a task where it is sent."""
    monkeypatch.setitem(app.conf, "task_always_eager", True)


@pytest.fixture
def no_worker(monkeypatch):
    """Nobody who takes tasks."""
    monkeypatch.setattr(run_job, "delay", lambda *_: None)


def upload(client, cast, *rows, name="judgments.jsonl"):
    """Upload rows, or the bytes of a file, and return the address of its page."""
    content = rows[0] if isinstance(rows[0], bytes) else "".join(json.dumps(r) + "\n" for r in rows).encode()
    response = client.post(address(cast, "import/"), {"file": SimpleUploadedFile(name, content)})
    assert response.status_code == 302, text_of(response)
    read_uploads()
    return response["Location"]


def chosen(columns, **changes):
    """Return what the form sends: columns' meanings in their order, and what holds for all rows."""
    meanings = {f"meaning_{index}": meaning for index, meaning in enumerate(columns)}
    return {"judge": "", "model": "", "method": "", "dimension": "", **meanings, **changes}


ROW = ("judge", "method", "document", "system", "dimension")


def test_guess_appears_with_the_parsed_first_replies(client, cast):
    page = upload(client, cast, row(reply="Score: 4"), row(system="system-2", reply="<b>Hm</b>"))
    shown = client.get(page)
    assert '<option value="document" selected>' in html_of(shown)
    text = text_of(shown)
    assert "New: 1 judge, 2 judgments. 1 reply is unreadable" in text
    assert "1 × No score was found. line 2" in text
    assert "1 GPT elsewhere system-1 on product-1 Fluency Score: 4 4" in text
    assert "2 GPT elsewhere system-2 on product-1 Fluency <b>Hm</b> unreadable No score was found." in text
    assert "<b>Hm" not in html_of(shown)
    assert not Judgment.objects.exists()


def test_the_guess_is_imported_by_a_worker(client, cast, worker):
    page = upload(client, cast, row(reply="Score: 4"), row(reply="?"))
    assert client.post(page, chosen([*ROW, "reply"]))["Location"] == page
    shown = text_of(client.get(page))
    assert "Imported 1 judge, 2 judgments. 1 reply is unreadable" in shown
    assert "Go to the judges" in shown
    assert Judgment.objects.get(status="done").value == 4


def test_constants_for_all_rows_replace_columns(client, cast, worker):
    page = upload(client, cast, b"a,b,c\nproduct-1,system-1,3\n", name="judgments.csv")
    assert "Nothing says what is the judge or model, the method" in text_of(client.get(page))
    choices = chosen(
        ["document", "system", "value"], judge="GPT", model="gpt-x", method="mcq", dimension="fluency"
    )
    part = client.post(page, {**choices, "show": "1"}, headers=HTMX)
    assert "New: 1 judge, 1 judgment." in text_of(part)
    assert "<html" not in html_of(part)
    whole = client.post(page, {**choices, "show": "1"})
    assert html_of(part) in html_of(whole)
    assert not Judgment.objects.exists()
    client.post(page, choices)
    judgment = Judgment.objects.get()
    judge = judgment.judge
    assert (judge.name, judge.model, judge.method, judgment.value) == ("GPT", "gpt-x", "mcq", 3)


@pytest.mark.parametrize(
    ("columns", "changes", "sentence"),
    [
        (("judge", "judge", "document", "system", "dimension", "reply"), {}, "cannot both be the judge"),
        (("judge", "", "document", "system", "dimension", "reply"), {}, "Nothing says what is the method of"),
        ((*ROW, ""), {}, "Nothing says what is the reply or value of a row."),
        ((*ROW, "colour"), {}, "Select a valid choice"),
        ((*ROW, "reply"), {"method": "guess"}, "Select a valid choice"),
        ((*ROW, "reply"), {"judge": "x" * 81}, "at most 80 characters"),
    ],
)
def test_unimportable_choices_are_rejected(client, cast, columns, changes, sentence):
    page = upload(client, cast, row(reply="Score: 4"))
    response = client.post(page, chosen(columns, **changes))
    assert response.status_code == 422
    assert sentence in text_of(response)
    assert DataImport.objects.get().status == Status.UPLOADED


def test_rejected_lines_are_grouped_by_cause_and_mapping_is_editable(client, cast, worker):
    page = upload(client, cast, *(row(document=f"d{n}", value=3) for n in range(12)), row(value=9))
    assert "With these choices nothing will be imported." in text_of(client.get(page))
    client.post(page, chosen([*ROW, "value"]))
    shown = text_of(client.get(page))
    assert "Nothing was imported" in shown
    assert "12 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more document The project has no such document" in shown
    assert "d0, d1, d2, d3, d4, …" in shown
    assert "1 13 value Fluency is judged from 1 to 5. 9" in shown
    assert "Check and import" in shown
    assert not Judge.objects.exists()


def test_repeated_file_reports_all_as_existing(client, cast, worker):
    for _ in range(2):
        page = upload(client, cast, row(value=3))
        client.post(page, chosen([*ROW, "value"]))
    assert "Everything in this file was imported before: 1 judgment." in text_of(client.get(page))
    assert Judgment.objects.count() == 1


def test_a_long_file_is_previewed_by_its_first_lines(client, cast):
    page = upload(client, cast, *(row(value=3) for _ in range(101)))
    shown = text_of(client.get(page))
    assert "New in the first 100 lines: 1 judge, 100 judgments" in shown
    assert "The whole file is checked before anything is written." in shown


def test_preview_recognises_existing_judgments(client, cast, tmp_path):
    run("import_judgments", cast.project.slug, jsonl(tmp_path, row(value=3)))
    page = upload(client, cast, row(value=3), row(system="system-2", value=3))
    assert "New: 1 judgment. Already in the project: 1 judgment." in text_of(client.get(page))


def test_progress_is_polled_and_an_unclaimed_import_can_be_requeued(client, cast, no_worker):
    page = upload(client, cast, row(value=3))
    client.post(page, chosen([*ROW, "value"]))
    part = client.get(page, headers=HTMX)
    assert "Waiting for a worker" in text_of(part)
    assert f'hx-get="{page}"' in html_of(part)
    assert html_of(part) in html_of(client.get(page))
    DataImport.objects.update(touched_at=timezone.now() - timedelta(seconds=11))
    again = f"/projects/{cast.project.slug}/imports/{DataImport.objects.get().pk}/again/"
    assert again in html_of(client.get(page))
    assert client.post(again)["Location"] == page
    run_job("import", DataImport.objects.get().pk)
    assert Judgment.objects.count() == 1
    assert DataImport.objects.get().file.name == ""


def test_a_file_is_discarded(client, cast):
    page = upload(client, cast, row(value=3))
    discard = f"/projects/{cast.project.slug}/imports/{DataImport.objects.get().pk}/discard/"
    assert discard in html_of(client.get(page))
    assert client.post(discard)["Location"] == address(cast, "import/")
    assert not DataImport.objects.exists()


def test_unreadable_file_has_a_reason(client, cast):
    page = upload(client, cast, "id\né\n".encode("latin-1"), name="a.csv")
    shown = text_of(client.get(page))
    assert "Line 2: This line is not UTF-8" in shown
    assert "Check and import" not in shown


def test_a_file_of_no_known_format_is_not_kept(client, cast):
    response = client.post(address(cast, "import/"), {"file": SimpleUploadedFile("a.pdf", b"%PDF")})
    assert response.status_code == 422
    assert "of no known format" in text_of(response)
    assert not DataImport.objects.exists()


def test_judgment_and_item_imports_have_separate_lists_and_pages(client, cast):
    page = upload(client, cast, row(value=3))
    pk = DataImport.objects.get().pk
    assert "judgments.jsonl" in text_of(client.get(address(cast, "import/")))
    assert "judgments.jsonl" not in text_of(client.get(f"/projects/{cast.project.slug}/imports/"))
    assert client.get(f"/projects/{cast.project.slug}/imports/{pk}/").status_code == 404
    DataImport.objects.update(kind="material")
    assert client.get(page).status_code == 404


def test_only_admins_import(client, cast):
    page = upload(client, cast, row(value=3))
    for user in (cast.researcher, cast.annotators[0].user, cast.outsider):
        client.force_login(user)
        for where in (address(cast, "import/"), page):
            assert client.get(where).status_code == 404
            assert client.post(where).status_code == 404
    client.force_login(cast.researcher)
    assert "Import judgments" not in text_of(client.get(address(cast)))


def queries(client, where):
    with CaptureQueriesContext(connection) as captured:
        assert client.get(where).status_code == 200
    return len(captured)


def test_the_number_of_queries_does_not_grow(client, cast, tmp_path):
    run("import_judgments", cast.project.slug, jsonl(tmp_path, row(value=3)))
    page = upload(client, cast, row(value=3))
    few = queries(client, address(cast, "import/")), queries(client, page)
    rows = [row(value=3, system=f"system-{n % 2 + 1}", document=f"product-{n % 2 + 1}") for n in range(60)]
    pages = [upload(client, cast, *rows) for _ in range(3)]
    assert (queries(client, address(cast, "import/")), queries(client, pages[0])) == few


# What pages of judges show of imported ones


@pytest.fixture
def imported(cast, tmp_path):
    """Four items that two people rate 1 to 4, and imported judges that say the same."""
    round = opened(cast)
    for value, item in enumerate(cast.items, start=1):
        for annotator in cast.annotators:
            rate(cast, round, annotator, item, value)
    close_round_one(project=cast.project, by=cast.admin)
    pair = {"judge": "Versus", "method": "h2h"}
    rows = [row(item.document.key, item.system.name, value=n) for n, item in enumerate(cast.items, start=1)]
    for document in ("product-1", "product-2"):
        rows.append(row(document, "system-1", **pair, other="system-2", reply="B"))
        rows.append(row(document, "system-2", **pair, other="system-1", reply="A"))
    rows.append(row(judge="Mute", model="gpt-x", reply="<i>No comment</i>"))
    code, _, err = run("import_judgments", cast.project.slug, jsonl(tmp_path, *rows))
    assert code == 0, err
    return cast


def test_the_list_shows_imported_judges_with_their_counts(client, imported):
    shown = text_of(client.get(address(imported)))
    assert "GPT elsewhere – RTS – Reason, then score imported – 4 0 complete" in shown
    assert "Mute gpt-x RTS – Reason, then score imported – 0 1 no judgments" in shown
    assert "Import judgments made elsewhere" in shown


def test_page_of_an_imported_judge_describes_it(client, imported):
    judge = Judge.objects.get(name="Versus")
    shown = text_of(client.get(address(imported, f"{judge.pk}/")))
    assert "come from elsewhere" in shown
    assert "method H2H – Head to head samples 1 done 4" in shown
    assert "Save the judge" not in shown


def test_an_imported_judge_is_not_changed(client, imported):
    judge = Judge.objects.get(name="Versus")
    response = client.post(address(imported, f"{judge.pk}/"), {"name": "Other"})
    assert response.status_code == 422
    assert Judge.objects.get(pk=judge.pk).name == "Versus"


def test_unreadable_replies_are_listed_with_their_reasons(client, imported):
    judge = Judge.objects.get(name="Mute")
    listed = address(imported, f"{judge.pk}/judgments/unreadable/")
    assert listed in html_of(client.get(address(imported, f"{judge.pk}/")))
    shown = text_of(client.get(listed))
    assert "1 unreadable The reply has no usable value. Concord never guesses a value" in shown
    unread = Judgment.objects.get(status="unreadable").pk
    assert (
        f"Mute · Fluency · Product 1 · system-1 No score was found. Judgment {unread} <i>No comment</i>"
        in shown
    )
    assert client.get(address(imported, f"{judge.pk}/judgments/done/")).status_code == 404


def test_replies_are_visible_to_readers_only_and_not_to_raters(client, cast, tmp_path):
    run("import_judgments", cast.project.slug, jsonl(tmp_path, row(reply="?")))
    listed = address(cast, f"{Judge.objects.get().pk}/judgments/unreadable/")
    statuses = []
    for user in (cast.researcher, cast.annotators[0].user, cast.outsider):
        client.force_login(user)
        statuses.append(client.get(listed).status_code)
    assert statuses == [200, 404, 404]
    open_round_one(project=cast.project, by=cast.admin)
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    client.force_login(cast.admin)
    assert client.get(listed).status_code == 403


def test_imported_judges_are_compared_with_people(client, imported):
    page = reverse("results_page", args=[imported.project.slug, "judges"])
    shown = text_of(client.get(page))
    assert "GPT elsewhere Fluency 4 1.00" in shown
    assert "Versus Fluency 100 %" in text_of(client.get(page, {"table": "comparing"}))
    assert "Fluency system-2 system-1 2.00" in text_of(client.get(page, {"table": "pairs"}))
    assert "Mute This judge has no judgments yet." in shown


def test_the_command_compares_imported_judges(imported):
    _, out, _ = run("compare_judges", imported.project.slug)
    assert "| GPT elsewhere | Fluency | 4 | 1.000 |" in out
    assert "| Versus | Fluency | 100 % | 2 | 0 | 0 |" in out


def test_a_run_is_not_offered_imported_judges(client, imported):
    where = address(imported, "runs/new/")
    assert "No judge has an endpoint." in text_of(client.get(where))
    make_judge(imported.project, name="Askable")
    shown = text_of(client.get(where))
    assert "Askable" in shown
    assert "GPT elsewhere" not in shown
    entered = {"judges": [Judge.objects.get(name="Versus").pk], "dimensions": ["fluency"]}
    assert client.post(where, entered).status_code == 422


@pytest.mark.parametrize("page", ["runs/", "prompts/", "endpoints/", "new/"])
def test_other_pages_of_judges_take_imported_ones(client, imported, page):
    assert client.get(address(imported, page)).status_code in (200, 302)
