"""Which worksheets of a workbook are read, and in which row their header is; written as an import's part."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

PART = re.compile(r"row (\d{1,7})/(.+)", re.DOTALL)
ALL = "*"


@dataclass(frozen=True)
class SheetChoice:
    """header_row: from 1, the same in every sheet. sheets: their names; empty: all that are visible."""

    header_row: int = 1
    sheets: tuple[str, ...] = ()

    @property
    def part(self) -> str:
        """How an import keeps it: no name of a worksheet has a slash."""
        return f"row {self.header_row}/{'/'.join(self.sheets) or ALL}"


def choice_of_part(part: str) -> SheetChoice | None:
    """Return the choice that a part says, None where it is one of a data set's folder, or empty."""
    found = PART.fullmatch(part)
    if found is None:
        return None
    sheets = () if found[2] == ALL else tuple(found[2].split("/"))
    return SheetChoice(max(int(found[1]), 1), sheets)


def place_columns(file: str, sheet: str, row: int) -> dict[str, object]:
    """Return where a row stands, as columns that a mapping can give a meaning.

    file: its path in the folder. row: counted from 1 below the header. What a release says by names of
    folders, files and sheets (who rated, which document) is in no cell.
    """
    path = PurePosixPath(file)
    return {
        "[folder]": path.parent.name,
        "[file]": path.stem,
        "[sheet]": sheet,
        "[file/sheet]": f"{path.stem}/{sheet}",
        "[row]": row,
    }
