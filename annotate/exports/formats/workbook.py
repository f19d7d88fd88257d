"""All tables as one workbook, written row by row.

Its last sheet lists the content that worksheets cannot hold.
"""

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from django.utils.translation import gettext
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from annotate.exports.manifest import add_file, new_archive
from annotate.exports.registry import ExportTable, Row

ROWS_OF_SHEET = 1_048_576
LONGEST_CELL = 32_767
PROPERTIES = "docProps/core.xml"
MODIFIED = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*")
NO_TIME = datetime(2000, 1, 1)


class WorkbookWriter:
    """Takes tables in turn, each on a separate sheet, or on several if it is too long."""

    def __init__(self) -> None:
        self._workbook = Workbook(write_only=True)
        self._cut: dict[str, int] = {}
        self._continued: dict[str, int] = {}

    def add(self, table: ExportTable, rows: Iterable[Row]) -> None:
        sheet, written = self._new_sheet(table, 1), 1
        for row in rows:
            if written == ROWS_OF_SHEET:
                self._continued[table.name] = self._continued.get(table.name, 1) + 1
                sheet, written = self._new_sheet(table, self._continued[table.name]), 1
            sheet.append([self._cell(sheet, table, row[name]) for name in table.names])
            written += 1

    def save(self, target: Path, opening: Iterable[str]) -> None:
        """Write the file, with a last sheet that has these lines and the content that did not fit."""
        sheet = self._workbook.create_sheet("about")
        for line in [*opening, *self._explain_splits()]:
            sheet.append([line])
        self._workbook.properties.creator = "Concord"
        # The same data must give the same bytes, and openpyxl would write the present time.
        self._workbook.properties.created = NO_TIME
        dated = target.with_suffix(".dated")
        self._workbook.save(dated)
        # Write the same archive without the creation times of its parts.
        with ZipFile(dated) as given, new_archive(target) as archive:
            for name in given.namelist():
                with given.open(name) as part, add_file(archive, name) as copy:
                    if name == PROPERTIES:
                        copy.write(MODIFIED.sub(rb"\g<1>2000-01-01T00:00:00Z", part.read()))
                    else:
                        shutil.copyfileobj(part, copy)
        dated.unlink()

    def _new_sheet(self, table: ExportTable, number: int) -> Any:
        sheet = self._workbook.create_sheet(table.name if number == 1 else f"{table.name} {number}")
        sheet.append(table.names)
        return sheet

    def _cell(self, sheet: Any, table: ExportTable, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        text = value.isoformat() if isinstance(value, datetime) else value
        if not isinstance(text, str):
            text = json.dumps(text, ensure_ascii=False)
        clean = ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", text)
        if clean != text or len(clean) > LONGEST_CELL:
            self._cut[table.name] = self._cut.get(table.name, 0) + 1
            clean = clean[:LONGEST_CELL]
        if not clean.startswith("="):
            return clean
        cell = WriteOnlyCell(sheet, clean)
        cell.data_type = "s"  # A string, never a formula.
        return cell

    def _explain_splits(self) -> Iterator[str]:
        says = gettext("{name} has more rows than the {limit:,} of a worksheet and takes {sheets} sheets.")
        for name, sheets in self._continued.items():
            yield says.format(name=name, limit=ROWS_OF_SHEET, sheets=sheets)
        says = gettext(
            "{count:,} texts of {name} are longer than the {limit:,} characters of a cell, or "
            "hold characters that no workbook can: take JSONL, CSV or Parquet for them."
        )
        for name, count in self._cut.items():
            yield says.format(count=count, name=name, limit=LONGEST_CELL)
