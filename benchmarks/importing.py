"""Time and memory of importing a large file, beside plain `json.loads` over the lines of the same file.

python benchmarks/importing.py [--megabytes 200]

Makes the file and a database of its own: SQLite in a temporary folder, or where DATABASE_URL names a
PostgreSQL server a new database there, which is dropped at the end. The import is `manage.py import_items`;
it and the yardstick run in fresh processes, so that the seconds (starting Python included) and the peak
memory of each are its own. Imports nothing large: a new process counts its parent's peak.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.export import own_database

MANAGE = Path(__file__).resolve().parents[1] / "manage.py"
MEGABYTE, MEBIBYTE = 10**6, 2**20
SYSTEMS = 4
WORDS = [f"word{number}" for number in range(100)]
PROJECT = "Project.objects.create(slug='measured', name='Measured', seed=1)"
YARDSTICK = """
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    print(sum(1 for line in file if json.loads(line)))
"""


@dataclass(frozen=True)
class Measured:
    """What one process printed, how long it took, and the most memory it had."""

    printed: str
    seconds: float
    peak: int


def documents(random: random.Random) -> Iterator[list[dict[str, str]]]:
    """Documents without end, each as one record for every system's text about it."""
    number = 0
    while True:
        article = " ".join(random.choices(WORDS, k=500))
        yield [
            {
                "document_id": f"article-{number}",
                "article": f"{number} {article}",
                "system": f"system-{system}",
                "text": f"{system} {' '.join(random.choices(WORDS, k=60))}",
            }
            for system in range(SYSTEMS)
        ]
        number += 1


def write_file(path: Path, size: int) -> int:
    """Write whole documents until the file has this size; return how many."""
    made = written = 0
    with path.open("w", encoding="utf-8") as file:
        for records in documents(random.Random(1)):
            if written >= size:
                break
            written += file.write("".join(json.dumps(record) + "\n" for record in records))
            made += 1
    return made


def measure(environment: Mapping[str, str], *command: str) -> Measured:
    """Run a command to its end in a process of its own."""
    begun = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *command], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, printed)
    return Measured(printed, time.perf_counter() - begun, usage.ru_maxrss * 1024)  # Linux reports KiB


def import_into_new_database(folder: Path, file: Path) -> Measured:
    """Import the file into an empty project; only the import is measured."""
    with own_database(folder) as environment:
        environment["CONCORD_SECRET_KEY"] = token_hex(32)  # must be given on PostgreSQL
        measure(environment, str(MANAGE), "migrate", "--verbosity", "0")
        measure(environment, str(MANAGE), "shell", "-v", "0", "-c", PROJECT)
        return measure(environment, str(MANAGE), "import_items", "measured", str(file), "--json")


def report(what: str, measured: Measured, yardstick: Measured) -> None:
    """Print a line of the table."""
    times = measured.seconds / yardstick.seconds
    print(f"{what:<24}{measured.seconds:>8.1f} s{measured.peak / MEBIBYTE:>8,.0f} MiB{times:>10.1f}x")


def main() -> None:
    """Make the file, import it, read it plainly, report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=float, default=200, help="how large the file is")
    size = parser.parse_args().megabytes * MEGABYTE
    with tempfile.TemporaryDirectory(prefix="concord-import-") as name:
        folder = Path(name)
        file = folder / "large.jsonl"
        made = write_file(file, int(size))
        megabytes, items = file.stat().st_size / MEGABYTE, made * SYSTEMS
        print(f"{megabytes:,.0f} MB of JSONL: {made:,} documents, {items:,} items;")
        print(f"Python {platform.python_version()}, {os.cpu_count()} cores.")
        imported = import_into_new_database(folder, file)
        counts = json.loads(imported.printed)["made"]
        print(f"Imported: {counts['documents']:,} documents, {counts['items']:,} items.\n")
        yardstick = measure(os.environ, "-c", YARDSTICK, str(file))
    print(f"{'':<24}{'seconds':>10}{'peak':>12}{'time':>11}")
    report("import_items", imported, yardstick)
    report("json.loads of each line", yardstick, yardstick)


if __name__ == "__main__":
    main()
