"""The Hugging Face folder of an export: `datasets` loads it and `mlcroissant` validates it."""

import json
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from annotate.exports.choice import ExportChoice, Format
from annotate.exports.folder import write_folder
from tests.factories import Cast
from tests.judges.measured import measured_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    return measured_project()


@pytest.fixture
def folder(cast: Cast, tmp_path: Path) -> Path:
    write_folder(cast.project, ExportChoice(Format.HUGGING_FACE, licence="cc-by-4.0"), tmp_path)
    return tmp_path


def test_datasets_loads_every_configuration_without_a_network(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hub")))
    datasets = import_module("datasets")  # after the environment that it reads when it is loaded
    cache = str(tmp_path_factory.mktemp("cache"))
    names = datasets.get_dataset_config_names(str(folder))
    assert {"items", "ratings", "judgments"} <= set(names)
    ratings = datasets.load_dataset(str(folder), "ratings", split="train", cache_dir=cache)
    assert (len(ratings), ratings[0]["value"], ratings[0]["dimension"]) == (24, 1, "fluency")
    judgments = datasets.load_dataset(str(folder), "judgments", split="train", cache_dir=cache)
    assert sum(judgments["value"]) == 39 + 40


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the libraries that it calls
def test_mlcroissant_validates_the_metadata_and_reads_the_records(folder: Path) -> None:
    mlcroissant = import_module("mlcroissant")
    data_set = mlcroissant.Dataset(str(folder / "croissant.json"))
    assert not data_set.metadata.ctx.issues.errors
    records = list(data_set.records("ratings"))
    assert len(records) == 24
    assert records[0]["ratings/value"] == 1


def test_the_card_and_the_datasheet_say_what_the_project_knows(folder: Path, cast: Cast) -> None:
    head = yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])
    assert head["license"] == "cc-by-4.0"
    paths = {each["config_name"]: each["data_files"][0]["path"] for each in head["configs"]}
    assert paths["ratings"] == "data/ratings/*.parquet"
    assert "posts" not in paths  # nobody wrote one
    sheet = (folder / "DATASHEET.md").read_text()
    assert "12 texts of 3 systems about 4 documents." in sheet
    assert "Round I: 2 raters gave 24 values independently" in sheet
    assert "The judge Reasoner (gpt-3.5-turbo-0301, method rts) gave 12 values" in sheet
    assert "| Fluency | 0." in sheet
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
