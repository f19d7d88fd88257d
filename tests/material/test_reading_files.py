import gzip
import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable, Iterable
from datetime import date, time, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from annotate.material.reading import lines
from annotate.material.reading.readers import RecordFile, first_records
from annotate.material.reading.rows import Record, RefusedLine, UnreadableFileError

BOM = b"\xef\xbb\xbf"


def read(path: Path) -> list[Record | RefusedLine]:
    with RecordFile(path) as file:
        return list(file)


def write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def workbook(path: Path, rows: Iterable[list[object]]) -> Path:
    book = Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def refusal(path: Path) -> UnreadableFileError:
    with pytest.raises(UnreadableFileError) as caught:
        read(path)
    return caught.value


@pytest.mark.parametrize("mark", [b"", BOM])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.jsonl.gz", "a.csv.gz"])
def test_utf8_is_read_with_and_without_a_byte_order_mark_and_compressed(
    tmp_path: Path, name: str, mark: bytes
) -> None:
    text = '{"id": "é"}\n' if "jsonl" in name else "id\né\n"
    content = mark + text.encode()
    path = write(tmp_path, name, gzip.compress(content) if name.endswith(".gz") else content)
    line = 1 if "jsonl" in name else 2
    assert read(path) == [Record(line, {"id": "é"})]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le", "utf-32"])
def test_other_unicode_encodings_are_rejected_with_a_remedy(tmp_path: Path, name: str, encoding: str) -> None:
    error = refusal(write(tmp_path, name, "id,text\n1,é\n".encode(encoding)))
    assert error.line == 1
    assert "save it as UTF-8" in error.reason


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_latin_1_is_rejected_naming_the_line_and_the_byte(tmp_path: Path, name: str) -> None:
    text = '{"id": 1}\n{"id": "é"}\n' if name == "a.jsonl" else "id\né\n"
    error = refusal(write(tmp_path, name, text.encode("latin-1")))
    assert error.line == 2
    assert "This line is not UTF-8 (byte 0xE9" in error.reason


def test_broken_json_lines_are_rejected_and_the_rest_is_read(tmp_path: Path) -> None:
    nested = "[" * 100_000
    content = f'{{"id": 1}}\n{{"id": \n\n[1]\n{{"a": NaN}}\n{{"a": 1, "a": 2}}\n{nested}\n{{"id": 2}}\n'
    records = read(write(tmp_path, "a.jsonl", content.encode()))
    assert [record.line for record in records] == [1, 2, 4, 5, 6, 7, 8]
    assert [record for record in records if isinstance(record, Record)] == [
        Record(1, {"id": 1}),
        Record(8, {"id": 2}),
    ]
    assert records[4] == RefusedLine(6, "a", "The field “a” is there twice; keep one of them.")


def test_line_beyond_the_limit_is_rejected_and_the_next_one_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 100)
    content = b'{"id": "' + b"x" * 1000 + b'"}\n{"id": 2}\n'
    records = read(write(tmp_path, "a.jsonl", content))
    assert isinstance(records[0], RefusedLine)
    assert "longer than 16 MiB" in records[0].reason
    assert records[1] == Record(2, {"id": 2})


@pytest.mark.parametrize("name", ["bomb.jsonl.gz", "bomb.csv.gz"])
def test_compressed_file_that_unpacks_to_too_much_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(lines, "MAX_FILE_BYTES", 1024**2)
    bomb = gzip.compress(b"\n" * 2 * 1024**2)
    assert "more than 1 MiB" in refusal(write(tmp_path, name, bomb)).reason


def test_workbook_that_unpacks_to_too_much_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotate.material.reading.worksheets.MAX_WORKBOOK_BYTES", 1024)
    path = workbook(tmp_path / "a.xlsx", [["id"], ["x" * 2000]])
    assert "unpacks to more than" in refusal(path).reason


def test_truncated_compressed_file_is_rejected(tmp_path: Path) -> None:
    content = gzip.compress(b'{"id": 1}\n' * 1000)
    assert "cut short" in refusal(write(tmp_path, "a.jsonl.gz", content[:-20])).reason


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_is_read_whatever_separates_its_cells(tmp_path: Path, delimiter: str) -> None:
    rows = [["id", "a text"], ["1", '"two\nlines, one; cell"'], ["2", '"say ""so"""']]
    content = "\r\n".join(delimiter.join(row) for row in rows)
    assert read(write(tmp_path, "a.csv", content.encode())) == [
        Record(2, {"id": "1", "a text": "two\nlines, one; cell"}),
        Record(4, {"id": "2", "a text": 'say "so"'}),
    ]


def test_csv_rows_that_do_not_fit_the_header_are_rejected_by_line(tmp_path: Path) -> None:
    content = b'id,text\n1,a\n2,b,c\n\n,\n3,"x"y\n4,d\n'
    records = read(write(tmp_path, "a.csv", content))
    assert [(record.line, isinstance(record, Record)) for record in records] == [
        (2, True),
        (3, False),
        (6, False),
        (7, True),
    ]


def test_unclosed_quotation_mark_is_rejected_at_its_opening_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotate.material.reading.tables.MAX_LINE_BYTES", 500)
    content = b'id,text\n1,a\n2,"b\n' + b"3,c\n" * 1000
    error = refusal(write(tmp_path, "a.csv", content))
    assert error.line == 3
    assert "quotation mark" in error.reason


def test_columns_named_twice_make_a_table_unreadable(tmp_path: Path) -> None:
    assert "“text” twice" in refusal(write(tmp_path, "a.csv", b"id,text,text\n1,a,b\n")).reason
    assert "“text” twice" in refusal(workbook(tmp_path / "a.xlsx", [["id", "text", "text"]])).reason


def test_workbook_gives_strings_and_numbers_by_its_own_row_numbers(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "a.xlsx",
        [["id", "text", "value"], [], ["d1", "<b>שלום</b>", 4.0], ["d2", None, 3], [7, date(2024, 5, 1)]],
    )
    assert read(path) == [
        Record(3, {"id": "d1", "text": "<b>שלום</b>", "value": 4}),
        Record(4, {"id": "d2", "text": None, "value": 3}),
        Record(5, {"id": 7, "text": "2024-05-01 00:00:00", "value": None}),
    ]


def test_shared_strings_of_a_workbook_are_read_unchanged(tmp_path: Path) -> None:
    path = workbook(tmp_path / "plain.xlsx", [["id"], ["one"], ["two"]])
    shared = _with_shared_strings(path, tmp_path / "shared.xlsx", ["id", "tab_x0009_é", "  kept  "])
    assert read(shared) == [Record(2, {"id": "tab\té"}), Record(3, {"id": "  kept  "})]


def test_workbook_cells_keep_their_displayed_value(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.append(["id", "text", "value"])
    sheet.append(["0012", "#N/A", "=1+1"])
    sheet["B2"].data_type = "e"
    sheet.append([True, timedelta(hours=30), time(3, 4)])
    sheet["A5"] = "merged"
    sheet["C5"] = 2
    sheet.merge_cells("A5:B6")
    sheet["C6"] = 3
    book.save(path := tmp_path / "a.xlsx")
    assert read(path) == [
        # An error is no empty cell: a rating that is “#N/A” must be refused, not left out.
        Record(2, {"id": "0012", "text": "#N/A", "value": None}),
        Record(3, {"id": True, "text": "1 day, 6:00:00", "value": "03:04:00"}),
        Record(5, {"id": "merged", "text": None, "value": 2}),
        Record(6, {"id": None, "text": None, "value": 3}),
    ]


def test_the_first_visible_worksheet_is_read(tmp_path: Path) -> None:
    book = Workbook()
    book.worksheets[0].append(["hidden"])
    book.worksheets[0].sheet_state = "hidden"
    for name in ("id", "later"):
        book.create_sheet(name).append([name])
        book[name].append([1])
    book.save(path := tmp_path / "a.xlsx")
    assert read(path) == [Record(2, {"id": 1})]


def test_distant_cell_costs_no_memory_and_is_rejected(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.worksheets[0]
    sheet["A1"], sheet["A2"], sheet["XFD20000"] = "id", 1, "x"
    book.save(path := tmp_path / "a.xlsx")
    tracemalloc.start()
    records = read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [(record.line, type(record)) for record in records] == [(2, Record), (20_000, RefusedLine)]
    assert peak < 10_000_000


def test_row_beyond_spreadsheet_limits_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotate.material.reading.worksheets.LAST_ROW", 3)
    error = refusal(workbook(tmp_path / "a.xlsx", [["id"], [], [1], [2]]))
    assert (error.line, error.reason) == (4, "No worksheet has a row 4; save the workbook again.")


def _with_sheet(source: Path, target: Path, change: Callable[[str], str]) -> Path:
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name).decode()
            new.writestr(name, change(content) if name.endswith("sheet1.xml") else content)
    return target


def test_a_dimension_that_leaves_rows_out_is_not_believed(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id", "text"], [1, "a"], [2, "b"]])
    wrong = _with_sheet(path, tmp_path / "b.xlsx", lambda xml: xml.replace('ref="A1:B3"', 'ref="A1"'))
    assert wrong.read_bytes() != path.read_bytes()
    assert read(wrong) == [Record(2, {"id": 1, "text": "a"}), Record(3, {"id": 2, "text": "b"})]


def test_damaged_worksheet_is_rejected_and_nothing_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id"], [1]])
    cut = _with_sheet(path, tmp_path / "b.xlsx", lambda xml: xml[: xml.index("</row>")])
    assert "The workbook cannot be read (ParseError)" in refusal(cut).reason
    assert caplog.records == []


def test_a_mistake_while_reading_a_workbook_is_logged_and_called_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = workbook(tmp_path / "a.xlsx", [["id"], [1]])
    # A sheet without its number is XML, but nothing that openpyxl expects: it raises a TypeError.
    strange = tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(strange, "w") as new:
        for name in old.namelist():
            content = old.read(name).decode()
            if name == "xl/workbook.xml":
                content = content.replace('sheetId="1"', "")
            new.writestr(name, content)
    assert "failed (TypeError), perhaps by an error in Concord" in refusal(strange).reason
    assert "TypeError" in caplog.text


def _with_shared_strings(source: Path, target: Path, strings: list[str]) -> Path:
    """The workbook as spreadsheets write it: with its texts in a table of shared strings."""
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    table = "".join(f'<si><t xml:space="preserve">{text}</t></si>' for text in strings)
    cells = "".join(
        f'<row r="{n}"><c r="A{n}" t="s"><v>{n - 1}</v></c></row>' for n in range(1, len(strings) + 1)
    )
    override = (
        '<Override PartName="/xl/sharedStrings.xml" ContentType="application/'
        'vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
    )
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        new.writestr("xl/sharedStrings.xml", f'<sst xmlns="{space}">{table}</sst>')
        for name in old.namelist():
            content = old.read(name).decode()
            if name == "[Content_Types].xml":
                content = content.replace("</Types>", override)
            elif name.endswith("sheet1.xml"):
                content = f'<worksheet xmlns="{space}"><sheetData>{cells}</sheetData></worksheet>'
            new.writestr(name, content)
    return target


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save it as .xlsx"),
        ("a.xlsx", b"id,text\n", "is no workbook"),
        ("a.xlsx", b"PK\x03\x04 and then nothing", "cannot be read"),
        ("a.pdf", b"%PDF-1.7", "tells no known format"),
    ],
)
def test_files_of_other_formats_are_rejected_with_a_remedy(
    tmp_path: Path, name: str, content: bytes, sentence: str
) -> None:
    assert sentence in refusal(write(tmp_path, name, content)).reason


def test_zip_file_without_workbook_or_data_is_rejected(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert "holds no Parquet, JSONL, CSV, XLSX or Arrow file" in refusal(tmp_path / "a.xlsx").reason


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    assert read(write(tmp_path, "a.jsonl", b"")) == []
    assert read(write(tmp_path, "a.csv", b"")) == []


def test_a_preview_reads_only_the_first_records(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{"id": 1}\n' * 3 + b"\xff\n")
    assert [record.line for record in first_records(path, limit=3)] == [1, 2, 3]


def test_reading_reports_its_progress(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{"id": 1}\n' * 100_000)
    with RecordFile(path) as file:
        seen = [file.fraction_read for _ in file]
    assert seen[0] < 0.5
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(rows=st.lists(st.dictionaries(texts, texts, min_size=1), max_size=5))
def test_any_json_objects_come_back_from_jsonl(tmp_path: Path, rows: list[dict[str, str]]) -> None:
    path = write(tmp_path, "a.jsonl", b"\n".join(json.dumps(row).encode() for row in rows))
    assert [record.fields for record in read(path) if isinstance(record, Record)] == rows


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(content=st.binary(max_size=200), name=st.sampled_from(["a.jsonl", "a.csv", "a.xlsx", "a.jsonl.gz"]))
def test_any_bytes_give_records_or_a_message(tmp_path: Path, content: bytes, name: str) -> None:
    try:
        records = read(write(tmp_path, name, content))
    except UnreadableFileError as error:
        reason = error.reason
        assert reason.endswith(".")
    else:
        assert all(record.line >= 1 for record in records)


def test_a_large_file_is_never_held_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", (json.dumps({"id": "x" * 1000}).encode() + b"\n") * 20_000)
    tracemalloc.start()
    with RecordFile(path) as file:
        count = sum(1 for _ in file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 2_000_000


def test_gzip_is_recognised_by_content_not_by_name(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with gzip.open(buffer, "wb") as packed:
        packed.write(b'{"id": 1}\n')
    assert read(write(tmp_path, "a.jsonl", buffer.getvalue())) == [Record(1, {"id": 1})]
