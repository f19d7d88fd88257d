"""Parquet files and Hugging Face data set folders: shards, splits and configurations, zipped or not."""

import zipfile
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

import pyarrow
import pytest
from pyarrow import ipc, parquet

from annotate.material.reading.readers import RecordFile, first_records, splits_in
from annotate.material.reading.rows import UnreadableFileError

ROWS = [{"id": f"d{n}", "text": f"Text {n}."} for n in range(4)]
README = """---
license: mit
configs:
- config_name: extra
  data_files: "more/*.csv"
- config_name: main
  default: true
  data_files:
  - split: train
    path: [data/part-0*.parquet, "data/part-1*.parquet"]
  - split: test
    path: data/held_out.jsonl
---
# A data set
"""


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    elif path.suffix == ".arrow":
        table = pyarrow.Table.from_pylist(rows)
        with ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)
    elif path.suffix == ".csv":
        path.write_text("id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in rows))
    else:
        path.write_text("".join(f'{{"id": "{row["id"]}", "text": "{row["text"]}"}}\n' for row in rows))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set with two configurations, one of them in two splits and its first split in two shards."""
    made = tmp_path / "set"
    write(made / "data/part-00.parquet", ROWS[:2])
    write(made / "data/part-10.parquet", ROWS[2:3])
    write(made / "data/held_out.jsonl", ROWS[3:])
    write(made / "more/a.csv", ROWS)
    (made / "README.md").write_text(README)
    return made


def zipped(folder: Path) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in folder.rglob("*"):
            archive.write(file, file.relative_to(folder.parent))
    return path


def rows_of(path: Path, part: str = "") -> list[Any]:
    with RecordFile(path, part=part) as file:
        records = [(record.line, record.fields) for record in file]  # type: ignore[union-attr]
        assert 0 < file.fraction_read <= 1
    assert [line for line, _ in records] == sorted({line for line, _ in records})
    return [fields for _, fields in records]


@pytest.mark.parametrize("packed", [lambda path: path, zipped])
@pytest.mark.parametrize(
    ("part", "rows"), [("", ROWS), ("main/train", ROWS[:3]), ("main/test", ROWS[3:]), ("extra", ROWS)]
)
def test_readme_assigns_files_to_splits(
    folder: Path, packed: Callable[[Path], Path], part: str, rows: list[dict[str, str]]
) -> None:
    path = packed(folder)
    assert [split.name for split in splits_in(path)] == ["main/train", "main/test", "extra/train"]
    assert rows_of(path, part) == rows


@pytest.mark.parametrize(
    ("names", "splits"),
    [
        (["train-00000-of-00001.parquet", "test-00000-of-00001.parquet"], ["default/train", "default/test"]),
        (["data/dev.jsonl", "data/training.jsonl"], ["default/train", "default/validation"]),
        (["test/data-00000-of-00001.arrow"], ["default/test"]),
        (["summaries.csv"], ["default/train"]),
    ],
)
def test_without_a_readme_names_tell_the_splits(tmp_path: Path, names: list[str], splits: list[str]) -> None:
    for name in names:
        write(tmp_path / "set" / name, ROWS)
    (tmp_path / "set" / "dataset_info.json").write_text("{}")
    assert [split.name for split in splits_in(tmp_path / "set")] == splits
    assert rows_of(tmp_path / "set", splits[0]) == ROWS


def test_parquet_values_become_strings_numbers_and_lists(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    row = {
        "n": 4,
        "x": 0.5,
        "none": None,
        "parts": ["a", "b"],
        "at": date(2024, 5, 1),
        "price": Decimal("1.50"),
    }
    parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    assert rows_of(path) == [row | {"at": "2024-05-01", "price": "1.50"}]


def unreadable(path: Path, part: str = "") -> str:
    with pytest.raises(UnreadableFileError) as caught:
        first_records(path, part=part)
    return caught.value.reason


def test_unreadable_input_is_rejected_with_a_remedy(folder: Path, tmp_path: Path) -> None:
    assert "has no part “main/dev”; it has main/train, main/test" in unreadable(folder, "main/dev")
    (folder / "data/held_out.jsonl").write_bytes(b"\xff\n")
    assert "In “data/held_out.jsonl”: This line is not UTF-8" in unreadable(folder)
    (folder / "README.md").write_text("---\nconfigs:\n- data_files: elsewhere/*.parquet\n---\n")
    assert "data files are not in this folder" in unreadable(folder)
    (folder / "README.md").write_text("---\nconfigs: [\n---\n")
    assert "YAML at the head of README.md" in unreadable(zipped(folder))
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    assert "Parquet file cannot be read" in unreadable(tmp_path / "b.parquet")
    (tmp_path / "c.parquet").write_bytes(b"id,text\n")
    assert "named .parquet but is no Parquet file" in unreadable(tmp_path / "c.parquet")


def test_dead_reader_restarts_once_and_a_second_death_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path, once = tmp_path / "a.parquet", tmp_path / "once"
    write(path, ROWS)
    once.touch()

    def read_by(program: str) -> None:
        monkeypatch.setattr("annotate.material.reading.parquet.READER", ("-c", f"import os, sys; {program}"))

    reads = "from annotate.material.reading.columnar import main; main(sys.argv[1], int(sys.argv[2]))"
    read_by(
        f"os.path.exists({str(once)!r}) and (os.unlink({str(once)!r}), os.kill(os.getpid(), 11)); {reads}"
    )
    assert rows_of(path) == ROWS
    assert "SIGSEGV" in caplog.text
    read_by("os.kill(os.getpid(), 11)")
    assert "its reader ended unexpectedly (SIGSEGV)" in unreadable(path)
    read_by("os.abort()")
    assert "it needs too much memory or time" in unreadable(path)


def test_column_with_a_repeated_long_value_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    texts = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * 1_000_000, pyarrow.int32()), pyarrow.array(["x" * 1_000_000])
    )
    parquet.write_table(pyarrow.table({"text": texts, "id": range(1_000_000)}), path, compression="zstd")
    nested = pyarrow.ListArray.from_arrays(pyarrow.array([0, 90_000], pyarrow.int32()), texts)
    parquet.write_table(pyarrow.table({"parts": nested}), tmp_path / "nested.parquet", compression="zstd")
    before = getrusage(RUSAGE_SELF).ru_maxrss
    assert [len(str(record)) > 1_000_000 for record in first_records(path, limit=3)] == [True] * 3
    assert "memory" in unreadable(tmp_path / "nested.parquet")
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_zip_that_unpacks_to_too_much_is_rejected(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(folder)
    monkeypatch.setattr("annotate.material.reading.folders.MAX_FILE_BYTES", 1000)
    assert "unpacks to more than" in unreadable(path)
