"""Row groups of Parquet files: few rows are Python objects at a time, and no row is lost between groups."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyarrow import parquet

from annotate.exports.formats.parquet import BYTES_IN_GROUP, ROWS_IN_GROUP, write_parquet
from annotate.exports.registry import ExportColumn, ExportTable, ValueKind

TABLE = ExportTable(
    "texts", "", (ExportColumn("number", kind=ValueKind.INTEGER), ExportColumn("text")), lambda _project: ()
)


def rows_of(count: int, text: str) -> Iterator[dict[str, Any]]:
    """Yield numbered rows with a text."""
    return ({"number": number, "text": text} for number in range(count))


def test_short_rows_share_large_row_groups(tmp_path: Path) -> None:
    write_parquet(TABLE, rows_of(ROWS_IN_GROUP + 5, "short"), tmp_path / "texts.parquet")
    written = parquet.ParquetFile(tmp_path / "texts.parquet")
    groups = [written.metadata.row_group(n).num_rows for n in range(written.num_row_groups)]
    assert groups == [ROWS_IN_GROUP, 5]
    assert written.read().to_pylist() == list(rows_of(ROWS_IN_GROUP + 5, "short"))


def test_long_values_end_a_row_group_early(tmp_path: Path) -> None:
    long = "word " * (BYTES_IN_GROUP // 5000)
    write_parquet(TABLE, rows_of(3500, long), tmp_path / "texts.parquet")
    written = parquet.ParquetFile(tmp_path / "texts.parquet")
    assert 1 < written.num_row_groups <= 4
    assert written.read().to_pylist() == list(rows_of(3500, long))


def test_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    write_parquet(TABLE, rows_of(0, ""), tmp_path / "texts.parquet")
    assert parquet.read_table(tmp_path / "texts.parquet").column_names == ["number", "text"]
