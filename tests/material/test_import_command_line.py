"""`manage.py import_items` and `import_ratings`."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotate.core.models import Document, Item, Rating
from tests.material.files import empty_project, item, jsonl, rating
from tests.reference import reference_data

pytestmark = pytest.mark.django_db


def run(*arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and error output."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*map(str, arguments), stdout=out, stderr=err)
    except SystemExit as ended:
        return int(str(ended.code)), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def test_summeval_op_is_imported_from_the_command_line_by_its_mapping_s_name() -> None:
    empty_project()
    file = reference_data() / "summeval_op/summeval-op-detailed.jsonl"
    code, out, _ = run("import_items", "empty", file, "--mapping", "summeval-op-detailed")
    assert (code, Item.objects.count()) == (0, 416)
    assert "Imported 32 documents, 13 systems, 416 items." in out
    code, out, _ = run("import_ratings", "empty", file)
    assert (code, Rating.objects.count()) == (0, 8736)
    assert "Mapping: summeval-op-detailed" in out
    assert "Imported 3 raters, 8,736 ratings." in out
    assert "The import opens Round I" in out
    code, out, _ = run("import_ratings", "empty", file)
    assert code == 0
    assert "Nothing is new: all 8,736 ratings were already there." in out


def test_items_and_ratings_of_one_file_are_imported_together(tmp_path: Path) -> None:
    empty_project()
    path = jsonl(tmp_path, item() | rating())
    assert run("import_ratings", "empty", path)[0] == 1
    assert run("import_ratings", "empty", path, "--with-items")[0] == 0
    assert (Item.objects.count(), Rating.objects.count()) == (1, 1)


def test_the_guess_is_printed_as_options(tmp_path: Path) -> None:
    empty_project()
    path = tmp_path / "texte.csv"
    path.write_text("Textnr.;Artikel (voll);KI;Kurzfassung;geprüft\n1;Ein Artikel.;GPT-4;Kurz.;ja\n")
    code, out, _ = run("import_items", "empty", path)
    guessed = "document_key=Textnr. system=KI text=Kurzfassung 'part:Artikel (voll)=Artikel (voll)'"
    assert (code, out.splitlines()[0]) == (0, f"Mapping: {guessed} 'metadata=geprüft'")


def test_columns_without_a_meaning_are_printed(tmp_path: Path) -> None:
    empty_project()
    path = tmp_path / "texts.csv"
    path.write_text("doc,article,checked,note\nd1,An article.,yes,Long.\n")
    options = ["--map=document_key=doc", "--map=part:Article=article", "--map=metadata=checked"]
    code, out, _ = run("import_items", "empty", path, *options)
    assert (code, out.splitlines()[1]) == (0, "Columns that are not used: note.")
    assert Document.objects.get().metadata == {"checked": "yes"}


def test_equal_rejections_are_one_line_of_the_command(tmp_path: Path) -> None:
    empty_project()
    path = jsonl(tmp_path, *({"document_id": f"d{n}", "system": "s", "text": "T."} for n in range(100)))
    code, _, err = run("import_items", "empty", path)
    assert code == 1
    assert err.splitlines()[1:] == [
        "Lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 90 more, document: The project has no document “…”; import "
        "the documents before their texts. Here: d0, d1, d2, d3, d4, …."
    ]


def test_columns_are_mapped_by_options(tmp_path: Path) -> None:
    empty_project()
    path = tmp_path / "items.csv"
    path.write_text("a;b;c;d\nd1;First.;s1;One.\n")
    options = ["document_key=a", "part:Letter=b", "system=c", "text=d"]
    code, out, _ = run("import_items", "empty", path, *(f"--map={option}" for option in options))
    assert code == 0, out
    assert Item.objects.get().document.parts == [{"label": "Letter", "text": "First."}]


def test_rejected_lines_are_listed_and_the_exit_code_is_1(tmp_path: Path) -> None:
    empty_project()
    path = jsonl(tmp_path, item(), item("d2", text=""))
    code, out, err = run("import_items", "empty", path)
    assert (code, Item.objects.count()) == (1, 0)
    assert "Nothing was imported. Refused lines: 1." in err
    assert "Line 2, text: The field “text” is empty; give it a text or leave the line out." in err
    code, out, _ = run("import_items", "empty", path, "--json")
    report = json.loads(out)
    assert (code, report["refused_count"], report["refused"][0]["lines"]) == (1, 1, [2])


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    empty_project()
    code, out, _ = run("import_items", "empty", jsonl(tmp_path, item()), "--dry-run")
    assert (code, Item.objects.count()) == (0, 0)
    assert "Would import 1 document, 1 system, 1 item." in out


def test_import_that_cannot_start_gets_a_message(tmp_path: Path) -> None:
    empty_project()
    path = jsonl(tmp_path, {"a": "x", "b": "y"})
    latin = tmp_path / "latin.csv"
    latin.write_bytes("id\né\n".encode("latin-1"))
    for arguments, sentence in (
        (("import_items", "other", path), "no project 'other'; there are: empty"),
        (("import_items", "empty", tmp_path / "none.csv"), "no file"),
        (("import_items", "empty", path), "the file has a, b"),
        (("import_ratings", "empty", path), "a rater and values"),
        (("import_items", "empty", path, "--mapping", "other"), "no mapping “other”; choose summeval-op"),
        (("import_items", "empty", path, "--map", "a"), "not of the form field=column"),
        (("import_items", "empty", latin), "Line 2: This line is not UTF-8"),
    ):
        with pytest.raises(CommandError, match=sentence):
            run(*arguments)


def test_rows_of_only_separators_are_skipped_and_tallied(tmp_path: Path) -> None:
    empty_project()
    path = tmp_path / "items.csv"
    path.write_text("document,Letter,system,text\n,,,\nd1,First.,s1,One.\n\n,,,\n")
    options = ["document_key=document", "part:Letter=Letter", "system=system", "text=text"]
    code, out, _ = run("import_items", "empty", path, *(f"--map={option}" for option in options))
    assert code == 0, out
    assert "Rows with only empty cells were left out: 2." in out
    assert Item.objects.count() == 1
