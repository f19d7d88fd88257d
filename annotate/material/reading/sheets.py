"""The worksheets of a workbook to read, and the row of their header; stored as an import's part."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

PART = re.compile(r"row (\d{1,7})/(.+)", re.DOTALL)
ALL = "*"


@dataclass(frozen=True)
class SheetChoice:
    """header_row: from 1, the same in every sheet. sheets: their names; empty: all visible sheets."""

    header_row: int = 1
    sheets: tuple[str, ...] = ()

    @property
    def part(self) -> str:
        """Return the form in which an import stores it. No name of a worksheet has a slash."""
        return f"row {self.header_row}/{'/'.join(self.sheets) or ALL}"


def choice_of_part(part: str) -> SheetChoice | None:
    """Return the choice in a part, None if the part is empty or belongs to a data set's folder."""
    found = PART.fullmatch(part)
    if found is None:
        return None
    sheets = () if found[2] == ALL else tuple(found[2].split("/"))
    return SheetChoice(max(int(found[1]), 1), sheets)


def position_columns(file: str, sheet: str, row: int) -> dict[str, object]:
    """Return the position of a row, as columns that a mapping can give a meaning.

    file: its path in the folder. row: counted from 1 below the header. Cells lack the information that a
    release puts in names of folders, files and sheets (rater, document).
    """
    path = PurePosixPath(file)
    return {
        "[folder]": path.parent.name,
        "[file]": path.stem,
        "[sheet]": sheet,
        "[file/sheet]": f"{path.stem}/{sheet}",
        "[row]": row,
    }
