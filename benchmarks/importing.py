"""Time and memory of importing items in the background, beside a bare load by the database's driver.

python benchmarks/importing.py [--items 100000] [--only sqlite|postgresql]

Makes the file (JSONL: articles of 200 words, texts of 60 words by 4 systems) and for each database one of
its own: SQLite in a temporary folder, PostgreSQL on the server that DATABASE_URL names, or else on this host.
The import is what the browser starts: an upload, a message, a Celery worker that was there before; the
seconds count from the message to the import's end, the memory is the worker's peak. The bare load reads each
line with `json.loads` and inserts documents and items into two bare tables with the driver alone, by
`executemany` or COPY, and checks nothing.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.export import own_database
from benchmarks.judges import peak_memory, working
from benchmarks.stopping import clean_up_when_stopped

HERE = Path(__file__).resolve().parent
MANAGE = HERE.parent / "manage.py"
MEGABYTE, MEBIBYTE = 10**6, 2**20
SYSTEMS = 4
WORDS = [f"word{number}" for number in range(100)]
SERVER = "postgres://postgres@127.0.0.1:5432/postgres"
MOST_SECONDS, MOST_MEMORY = 25.0, 400 * MEBIBYTE
FULL = 100_000  # items, for which these two are promised


@dataclass(frozen=True)
class Measured:
    seconds: float
    peak: int


def documents(random: random.Random) -> Iterator[list[dict[str, str]]]:
    """Documents without end, each as one record for every system's text about it."""
    number = 0
    while True:
        article = " ".join(random.choices(WORDS, k=200))
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


def write_file(path: Path, items: int) -> None:
    made = 0
    with path.open("w", encoding="utf-8") as file:
        for records in documents(random.Random(1)):
            if made >= items:
                break
            file.writelines(json.dumps(record) + "\n" for record in records)
            made += SYSTEMS


def printed_by(environment: Mapping[str, str], *command: object) -> str:
    words = [sys.executable, *map(str, command)]
    done = subprocess.run(words, env=dict(environment), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def measure(folder: Path, file: Path, vendor: str) -> tuple[Measured, Measured, dict[str, int]]:
    """The import and the bare load on a database of this run, and what was imported."""
    url = os.environ.pop("DATABASE_URL", "")
    if vendor == "postgresql":
        os.environ["DATABASE_URL"] = url or SERVER
    with own_database(folder) as environment:
        environment["CONCORD_SECRET_KEY"] = token_hex(32)  # must be given on PostgreSQL
        printed_by(environment, MANAGE, "migrate", "--verbosity", "0")
        with working(environment, 0) as pid:
            told = json.loads(printed_by(environment, HERE / "importing_run.py", file))
            imported = Measured(told["seconds"], peak_memory(pid))
        target = environment.get("DATABASE_URL", folder / "bare.sqlite3")
        bare = json.loads(printed_by(environment, HERE / "importing_yardstick.py", file, target))
    os.environ["DATABASE_URL"] = url
    return imported, Measured(bare["seconds"], bare["peak"]), told["made"]


def figures(measured: Measured) -> str:
    return f"{measured.seconds:>8.1f} s{measured.peak / MEBIBYTE:>8,.0f} MiB"


def main() -> None:
    """Make the file, import it on each database, load it barely, report; 1 where a promise was not kept."""
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=FULL)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    options = parser.parse_args()
    kept = True
    with tempfile.TemporaryDirectory(prefix="concord-import-") as name:
        file = Path(name, "items.jsonl")
        write_file(file, options.items)
        print(f"{options.items:,} items in {file.stat().st_size / MEGABYTE:,.0f} MB of JSONL;", end=" ")
        print(f"Python {platform.python_version()}, {os.cpu_count()} cores.")
        print(f"{'':<12}{'imported':>10}{'worker':>12}{'bare load':>12}{'memory':>12}{'ratio':>8}")
        for vendor in [options.only] if options.only else ["sqlite", "postgresql"]:
            folder = Path(name, vendor)
            folder.mkdir()
            ours, bare, made = measure(folder, file, vendor)
            print(f"{vendor:<12}{figures(ours)}{figures(bare)}{ours.seconds / bare.seconds:>7.1f}x", end="  ")
            print(f"{made['documents']:,} documents, {made['items']:,} items", flush=True)
            kept = kept and ours.seconds < MOST_SECONDS and ours.peak < MOST_MEMORY
    sys.exit(options.items <= FULL and not kept)


if __name__ == "__main__":
    main()
