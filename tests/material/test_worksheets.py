"""Releases in workbooks: many files of many sheets, with the header somewhere below the top."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from openpyxl import Workbook

from annotate.core.models import DataImport, Rating
from annotate.material.reading.readers import first_records
from annotate.material.reading.rows import Record, UnreadableFileError
from annotate.material.reading.tables import SheetChoice, choice_of_part
from tests.factories import make_project
from tests.material.files import read_uploads

HEADER = 12
COLUMNS = ["asp_rel", "self_coh"]


def workbook(*values: int, sheets: tuple[str, ...] = ("case 1", "case 2")) -> bytes:
    """A workbook as OpinSummEval's: guidelines above the header, then a row for each of two systems."""
    book = Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    for index, name in enumerate(sheets):
        sheet = book.create_sheet(name)
        sheet.append(["Rate each summary.", "From 1 to 5.", "", "Thank you"])
        for column, heading in enumerate(COLUMNS, start=1):
            sheet.cell(HEADER, column, heading)
        for row in (1, 2):
            for column in (1, 2):
                sheet.cell(HEADER + row, column, values[(index + row + column) % len(values)])
    book.save(file := BytesIO())
    return file.getvalue()


def release(folder: Path) -> Path:
    """Two annotators, each with two workbooks."""
    for rater, values in (("annot1", (1, 2, 3)), ("annot2", (2, 2, 4))):
        (folder / rater).mkdir(parents=True)
        for number in (1, 2):
            (folder / rater / f"batch{number}.xlsx").write_bytes(workbook(*values))
    return folder


def records(path: Path, choice: SheetChoice) -> list[Record]:
    found = first_records(path, part=choice.part, limit=100)
    assert all(isinstance(each, Record) for each in found)
    return [each for each in found if isinstance(each, Record)]


def test_all_sheets_of_all_files_are_read_below_their_header(tmp_path: Path) -> None:
    found = records(release(tmp_path / "final"), SheetChoice(HEADER))
    assert len(found) == 2 * 2 * 2 * 2
    assert len({each.line for each in found}) == len(found)
    assert found[0].fields == {
        "asp_rel": 3,
        "self_coh": 1,
        "[folder]": "annot1",
        "[file]": "batch1",
        "[sheet]": "case 1",
        "[file/sheet]": "batch1/case 1",
        "[row]": 1,
    }


def test_chosen_sheets_are_read_and_a_missing_one_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "one.xlsx"
    path.write_bytes(workbook(1, 2))
    found = records(path, SheetChoice(HEADER, ("case 2",)))
    assert {each.fields["[sheet]"] for each in found} == {"case 2"}
    with pytest.raises(
        UnreadableFileError, match="no visible sheet “case 9”; the workbook has case 1, case 2"
    ):
        records(path, SheetChoice(HEADER, ("case 9",)))
    with pytest.raises(UnreadableFileError, match="“case 1” has no header in row 40"):
        records(path, SheetChoice(40))
    kept = SheetChoice(3, ("a b", "c"))
    assert choice_of_part(kept.part) == kept
    assert choice_of_part("default/train") is None


@pytest.mark.django_db
def test_ratings_of_a_release_in_workbooks_come_in_with_one_command(tmp_path: Path) -> None:
    cast = make_project(documents=2, annotators=0, raters_per_item=2)
    for number, item in enumerate(cast.items):
        item.document.key = f"batch1/case {1 + number // 2}"
        item.document.save()
        item.system.name = str(1 + number % 2)
        item.system.save()
    folder = release(tmp_path / "final")
    for rater in ("annot1", "annot2"):
        (folder / rater / "batch2.xlsx").unlink()
    columns = ["document_key=[file/sheet]", "system=[row]", "rater=[folder]", "dimension:fluency=asp_rel"]
    mapped = [f"--map={each}" for each in columns]
    call_command("import_ratings", cast.project.slug, str(folder), "--header-row", "12", *mapped, verbosity=0)
    rows = Rating.objects.values_list("assignment__annotator__label", "value")
    assert sorted(rows) == sorted(
        [*(("annot1", each) for each in (3, 1, 1, 2)), *(("annot2", each) for each in (4, 2, 2, 2))]
    )


@pytest.mark.django_db
def test_several_files_are_one_import_whose_page_chooses_sheets_and_header(client: Client) -> None:
    cast = make_project()
    client.force_login(cast.admin)
    files = [SimpleUploadedFile(f"batch{number}.xlsx", workbook(1, 2, 3)) for number in (1, 2)]
    sent: dict[str, Any] = {"file": files}
    page = client.post(reverse("imports", args=[cast.project.slug]), sent)["Location"]
    upload = DataImport.objects.get()
    assert upload.name == "2 files.zip"
    read_uploads()
    assert "case 2" in client.get(page).content.decode()
    part = reverse("import_part", args=[cast.project.slug, upload.pk])
    client.post(part, {"header_row": "12", "sheet": ["case 2"]})
    upload.refresh_from_db()
    assert upload.part == "row 12/case 2"
    read_uploads()
    shown = client.get(page).content.decode()
    assert "self_coh" in shown
    assert "batch2/case 2" not in shown.partition("batch1/case 2")[0]
    client.post(part, {"header_row": "9" * 5000})
    upload.refresh_from_db()
    assert upload.part == "row 1/*"
    client.post(part, {"header_row": "12", "first_sheet": "1"})
    upload.refresh_from_db()
    assert upload.part == ""


@pytest.mark.django_db
def test_files_that_form_no_single_import_are_rejected_with_a_message(client: Client) -> None:
    cast = make_project()
    client.force_login(cast.admin)
    address = reverse("imports", args=[cast.project.slug])
    for names, said in (
        (("a.csv", "b.jsonl"), "Upload files of one kind together; these are .csv, .jsonl."),
        (("a.csv", "a.csv"), "Two files are called “a.csv”"),
    ):
        sent: dict[str, Any] = {"file": [SimpleUploadedFile(name, b"id\n1\n") for name in names]}
        answer = client.post(address, sent)
        assert answer.status_code == 422
        assert said in answer.content.decode()
    assert not DataImport.objects.exists()
