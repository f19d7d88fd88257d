"""The Hugging Face folder of an export: `datasets` loads it and `mlcroissant` validates it."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db.models import Sum
from django.test import Client
from django.urls import reverse

from annotate.core.models import AuditEntry, Rating
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.citation import Card, Datasheet, DatasheetSection, SplitName, read_text_licences
from annotate.exports.commands import save_datasheet, start_export
from annotate.exports.files import write_folder
from annotate.exports.formats.datasheet import DEFAULT, size_category
from annotate.exports.forms import DatasheetForm, ExportForm
from annotate.exports.queries import choice_of
from tests.api.client import ApiClient
from tests.factories import Cast
from tests.judges.measured import measured_project

CARD = Card(
    authors=("Ada Lovelace", "Müller & {Sons}"),
    address="https://example.org/boots",
    text_licences=(("Reviews", "CC BY-SA 4.0"), ("Texts of <b>systems</b>", "MIT")),
)
pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    return measured_project()


@pytest.fixture
def folder(cast: Cast, tmp_path: Path) -> Path:
    written = tmp_path / cast.project.slug
    written.mkdir()
    write_folder(cast.project, ExportChoice(Format.HUGGING_FACE, licence="cc-by-4.0", card=CARD), written)
    return written


def test_datasets_loads_every_configuration_without_a_network(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hub")))
    datasets = import_module("datasets")  # after the environment that it reads when it is loaded
    cache = str(tmp_path_factory.mktemp("cache"))
    names = datasets.get_dataset_config_names(str(folder))
    assert {"items", "ratings", "judgments"} <= set(names)
    items = datasets.load_dataset(str(folder), split="test", cache_dir=cache)
    assert len(items) == 12
    given = Rating.objects.aggregate(total=Sum("value"))["total"]
    assert sum(each["value"] for item in items for each in item["values"]) == given
    ratings = datasets.load_dataset(str(folder), "ratings", split="test", cache_dir=cache)
    assert (len(ratings), ratings[0]["value"], ratings[0]["dimension"]) == (24, 1, "fluency")
    judgments = datasets.load_dataset(str(folder), "judgments", split="test", cache_dir=cache)
    assert sum(judgments["value"]) == 39 + 40


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the libraries that it calls
def test_mlcroissant_validates_the_metadata_and_reads_the_records(folder: Path) -> None:
    mlcroissant = import_module("mlcroissant")
    data_set = mlcroissant.Dataset(str(folder / "croissant.json"))
    assert not data_set.metadata.ctx.issues.errors
    (item, *others) = data_set.records("benchmark")
    assert len(others) == 11
    assert item["benchmark/judge_scores"]
    records = list(data_set.records("ratings"))
    assert len(records) == 24
    assert records[0]["ratings/value"] == 1


def test_card_and_datasheet_contain_the_project_facts(folder: Path, cast: Cast) -> None:
    head = yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])
    assert head["license"] == "cc-by-4.0"
    paths = {each["config_name"]: each["data_files"][0]["path"] for each in head["configs"]}
    assert paths["ratings"] == "data/ratings/*.parquet"
    assert "posts" not in paths  # nobody wrote one
    sheet = (folder / "DATASHEET.md").read_text()
    assert "12 texts of 3 systems about 4 documents." in sheet
    assert "Round I: 2 raters gave 24 values independently" in sheet
    assert "The judge Reasoner (gpt-3.5-turbo-0301, method rts) gave 12 values" in sheet
    card = (folder / "README.md").read_text()
    for text in (sheet, card):
        assert "| dimension | Round I reliability | Round II agreement after discussion |" in text
        assert "| Fluency | 0." in text
    assert "| `fluency_value` | Final value on the dimension `fluency`" in card
    assert json.loads((folder / "manifest.json").read_text())["tables"]["ratings"] == 24


def test_what_admins_write_is_no_markup_in_cards(cast: Cast, tmp_path: Path) -> None:
    cast.project.name = "<b>News</b>\n# [Free](https://evil.example)"
    cast.project.description = "<script>alert(1)</script> ![x](https://evil.example/pixel)"
    cast.project.save()
    write_folder(cast.project, ExportChoice(Format.HUGGING_FACE), tmp_path)
    for card in ("README.md", "DATASHEET.md"):
        text = (tmp_path / card).read_text().rpartition("---\n")[2]
        assert "\\<script\\>" in text
        assert "\\!\\[x\\](https" in text
        assert " \\# \\[Free\\](https" in text  # still in the heading's line


def test_the_lines_of_python_on_the_card_load_it(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hub")))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.chdir(folder.parent)
    card = (folder / "README.md").read_text()
    (lines,) = re.findall(r"```python\n(.*?)```", card, flags=re.S)
    found: dict[str, Any] = {}
    exec(lines, found)
    (example,) = re.findall(r"```json\n(.*?)```", card, flags=re.S)
    row = json.loads(example)
    assert list(row) == found[DEFAULT].column_names
    assert (row["document"], row["system"]) == (found[DEFAULT][0]["document"], found[DEFAULT][0]["system"])


def test_card_contains_citation_column_meanings_and_licenses(folder: Path) -> None:
    card = (folder / "README.md").read_text()
    entry = re.findall(r"```bibtex\n(.*?)\n```", card, flags=re.S)[0]
    year = f"{Rating.objects.latest('updated_at').updated_at:%Y}"
    assert "  author = {Ada Lovelace and Müller \\& (Sons)},\n" in entry
    assert f"  year = {{{year}}},\n  url = {{https://example.org/boots}}\n}}" in entry
    assert entry.count("{") == entry.count("}")
    assert "| Reviews | CC BY-SA 4.0 |\n| Texts of \\<b\\>systems\\</b\\> | MIT |\n" in card
    assert "| `unsure` | Whether the annotator was unsure. |" in card
    metadata = json.loads((folder / "croissant.json").read_text())
    assert metadata["citeAs"] == entry
    assert metadata["creator"][0] == {"@type": "sc:Person", "name": "Ada Lovelace"}


WRITTEN = Datasheet(
    languages=("en", "pt-BR"),
    task_categories=("summarization",),
    sections={
        DatasheetSection.MOTIVATION: "Reviews are *many*.",
        DatasheetSection.PREPROCESSING: "Names were removed.",
        DatasheetSection.MAINTENANCE: "Write to boots@example.org.",
    },
)


def test_card_and_datasheet_contain_the_author_input(cast: Cast, tmp_path: Path) -> None:
    save_datasheet(project=cast.project, datasheet=WRITTEN, by=cast.admin)
    write_folder(cast.project, ExportChoice(Format.HUGGING_FACE), tmp_path)
    head = yaml.safe_load((tmp_path / "README.md").read_text().split("---\n")[1])
    assert head["language"] == ["en", "pt-BR"]
    assert head["task_categories"] == ["summarization"]
    assert head["size_categories"] == ["n<1K"]
    sheet = (tmp_path / "DATASHEET.md").read_text()
    sections = dict(part.split("\n\n", 1) for part in sheet.split("\n## ")[1:])
    assert list(sections) == [
        *("Motivation", "Composition", "Collection process", "Agreement", "Preprocessing"),
        *("Uses", "Distribution", "Maintenance"),
    ]
    assert sections["Motivation"].strip() == r"Reviews are \*many\*."
    assert sections["Preprocessing"].strip() == "Names were removed."
    assert sections["Uses"].strip() == "*To be written by the authors.*"


@pytest.mark.parametrize(
    ("rows", "category"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (123_456, "100K<n<1M"), (10**12, "n>1T")],
)
def test_size_uses_the_hub_categories(rows: int, category: str) -> None:
    assert size_category(rows) == category


def test_a_datasheet_is_written_on_its_page_and_over_the_api(cast: Cast, client: Client) -> None:
    client.force_login(cast.admin)
    address = reverse("datasheet", args=[cast.project.slug])
    entered = DatasheetForm.values_of(WRITTEN)
    refused = client.post(address, {**entered, "languages": "en, English words"})
    assert refused.status_code == 422
    assert "“English words” is no code of a language" in refused.content.decode()
    assert "Names were removed." in refused.content.decode()
    assert client.post(address, entered).status_code == 302
    cast.project.refresh_from_db()
    assert Datasheet.from_dict(cast.project.datasheet) == WRITTEN
    assert AuditEntry.objects.filter(act="project.datasheet_changed").count() == 1
    api = ApiClient(cast.admin)
    own = f"projects/{cast.project.slug}/datasheet/"
    answered = api.patch(own, {"uses": "Metrics.", "languages": ""}).json()
    assert answered["languages"] == []
    assert answered["sections"]["uses"] == "Metrics."
    assert answered["sections"]["motivation"] == "Reviews are *many*."
    assert api.get(own).json() == answered


def test_all_rows_are_in_the_split_that_is_chosen(cast: Cast, tmp_path: Path) -> None:
    choice = ExportChoice(Format.HUGGING_FACE, card=Card(split=SplitName.VALIDATION))
    write_folder(cast.project, choice, tmp_path)
    assert [each.name for each in (tmp_path / "data/ratings").iterdir()] == [
        "validation-00000-of-00001.parquet"
    ]
    card = (tmp_path / "README.md").read_text()
    assert "- split: validation\n" in card
    assert "Citing it" not in card
    assert "citeAs" not in json.loads((tmp_path / "croissant.json").read_text())


def test_form_values_are_stored_until_the_data_set_is_written(cast: Cast) -> None:
    entered = {
        "format": "huggingface",
        "parts": [],
        "authors": "Ada Lovelace\n\n Müller & {Sons} \n",
        "address": "https://example.org/boots",
        "text_licences": "Reviews: CC BY-SA 4.0\nTexts of <b>systems</b>: MIT\n",
    }
    form = ExportForm(entered)
    assert form.is_valid(), form.errors
    assert choice_of(start_export(project=cast.project, choice=form.choice, by=None)).card == CARD
    broken = ExportForm({**entered, "text_licences": "Reviews: CC0\nall mine"})
    assert "this line has none of it: “all mine”" in str(broken.errors["text_licences"])


def test_a_source_s_name_may_hold_colons() -> None:
    assert read_text_licences("Reviews: boots: MIT") == (("Reviews: boots", "MIT"),)
