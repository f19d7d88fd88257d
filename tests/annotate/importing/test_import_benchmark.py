"""The benchmark of importing in a short form: that it imports what it makes, not how fast."""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[3]


def test_the_benchmark_imports_every_item_of_its_file() -> None:
    command = [sys.executable, str(HERE / "benchmarks" / "importing.py"), "--megabytes", "0.3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = re.search(r"JSONL: (\d+) documents, (\d+) items;", done.stdout)
    imported = re.search(r"Imported: (\d+) documents, (\d+) items\.", done.stdout)
    assert made, done.stdout
    assert imported, done.stdout
    assert made.groups() == imported.groups()
    assert int(made[1]) > 10
    assert re.findall(r"^(import_items|json\.loads) .*\d s +\d+ MiB", done.stdout, re.M) == [
        "import_items",
        "json.loads",
    ]
