"""Time and memory of an export of everything, beside a plain dump of the ratings from a cursor.

python benchmarks/export.py [--ratings 1000000] [--what everything|ratings]

Makes a database of its own: SQLite in a temporary folder, or where DATABASE_URL names a PostgreSQL server a
new database there, which is dropped at the end. Filling, each export and the plain dump run in fresh
processes, so that the peak memory of each is its own. Imports nothing large: a new process counts its
parent's peak.
"""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from shutil import copyfile
from typing import IO
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.stopping import clean_up_when_stopped

HERE = Path(__file__).resolve().parent
MEBIBYTE = 2**20
FORMATS = ("jsonl", "csv", "parquet")
EXPORTS = [(what, format) for what in ("everything", "ratings") for format in FORMATS]


@dataclass(frozen=True)
class Measured:
    what: str
    seconds: float
    rows: int
    size: int
    peak: int

    @property
    def row_seconds(self) -> float:
        return self.seconds / self.rows


@contextmanager
def own_database(folder: Path, server: str | None = None) -> Iterator[dict[str, str]]:
    """The environment in which processes find a database made for this run.

    server: the URL of a PostgreSQL server, else DATABASE_URL's; empty for SQLite.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CONCORD_")}
    environment |= {"CONCORD_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "concord.settings"}
    told = environment.pop("DATABASE_URL", "")
    url = urlsplit(told if server is None else server)
    if url.scheme not in ("postgres", "postgresql"):
        if (migrated := Path(os.environ.get("MIGRATED_FILE", ""))).is_file():  # tests spare migrating
            copyfile(migrated, folder / "concord.sqlite3")
        yield environment
        return
    name = f"concord_export_{os.getpid()}"
    template = os.environ.get("MIGRATED_DATABASE", "").split()  # tests spare migrating here too
    try:
        run_script("export_database.py", environment, "create", url.geturl(), name, *template)
        yield environment | {"DATABASE_URL": url._replace(path=f"/{name}").geturl()}
    finally:
        run_script("export_database.py", environment, "drop", url.geturl(), name)


def measure(environment: Mapping[str, str], folder: Path, what: str, format: str) -> Measured:
    """One export in a process of its own; its rows are counted afterwards, and its file removed."""
    file = folder / f"{what}.{format}"
    script = "export_yardstick.py" if what in ("yardstick", "copy") else "export_run.py"
    told = json.loads(run_script(script, environment, str(file), what, format))
    found = Measured(
        f"{what}, {format}", told["seconds"], rows_in(file, format), file.stat().st_size, told["peak"]
    )
    file.unlink()
    return found


def rows_in(file: Path, format: str) -> int:
    """How many rows a table has, or all tables of a zip file together, headers not counted."""
    if format == "parquet":
        return int(run_script("export_rows.py", os.environ, str(file)))
    if not zipfile.is_zipfile(file):
        with file.open("rb") as table:
            return _rows(table, format)
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.endswith(format)]
        return sum(_rows(archive.open(name), format) for name in names)


def _rows(table: IO[bytes], format: str) -> int:
    if format == "jsonl":
        return sum(1 for _ in table)
    return sum(1 for _ in csv.reader(TextIOWrapper(table, "utf-8", newline=""))) - 1


def run_script(script: str, environment: Mapping[str, str], *arguments: str) -> str:
    command = [sys.executable, str(HERE / script), *arguments]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def report(measured: list[Measured], yardstick: Measured) -> None:
    print(
        f"{'export':<20}{'rows':>12}{'seconds':>10}{'rows/s':>12}{'file':>10}{'peak':>10}{'time a row':>12}"
    )
    for each in [*measured, yardstick]:
        print(
            f"{each.what:<20}{each.rows:>12,}{each.seconds:>10.1f}{each.rows / each.seconds:>12,.0f}"
            f"{each.size / MEBIBYTE:>6,.0f} MiB{each.peak / MEBIBYTE:>6,.0f} MiB"
            f"{each.row_seconds / yardstick.row_seconds:>11.1f}x"
        )


def main() -> None:
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ratings", type=int, default=1_000_000, help="how many ratings Round I has")
    parser.add_argument("--what", choices=["everything", "ratings"], help="only these exports")
    asked = parser.parse_args()
    ratings = asked.ratings
    with tempfile.TemporaryDirectory(prefix="concord-export-") as name:
        folder = Path(name)
        with own_database(folder) as environment:
            told = json.loads(run_script("export_fill.py", environment, str(ratings)))
            print(
                f"{ratings:,} ratings of {told['items']:,} items and {told['disputes']:,} disputes on "
                f"{told['database']}, made in {told['seconds']:.0f} s; Python {platform.python_version()}, "
                f"{os.cpu_count()} cores."
            )
            yardstick = measure(environment, folder, "yardstick", "csv")
            measured = [
                measure(environment, folder, what, format)
                for what, format in EXPORTS
                if asked.what in (None, what)
            ]
            if "DATABASE_URL" in environment:
                measured.append(measure(environment, folder, "copy", "csv"))
    print("everything: all tables in a zip file; ratings: that table alone;")
    print("yardstick: the same ratings from the driver's own cursor through csv.writer, without Concord;")
    print("copy: the same by PostgreSQL's COPY.\n")
    report(measured, yardstick)


if __name__ == "__main__":
    main()
