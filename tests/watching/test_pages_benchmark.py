"""The benchmark of pages in a short form: that it opens them as everybody, not how fast they are."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]
# A sample for each role. test_access_table.py opens every page on PostgreSQL.
SOME = r"benchmark/$|/(disagreements|disputes|disputes/1|work|history|people)/$"


@pytest.mark.postgresql
def test_the_benchmark_opens_pages_and_lists_as_everybody(migrated_database):
    command = [sys.executable, str(HERE / "benchmarks" / "pages.py"), "--ratings", "420", "--aim", "60"]
    command += ["--only", SOME]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    opened = set(re.findall(r"^ +(?:[\d,]+ +){5} (.+)$", done.stdout, flags=re.M))
    for page in (
        "admin: /projects/benchmark/",
        "admin: /projects/benchmark/people/",
        "admin: /projects/benchmark/results/disagreements/",
        "researcher: /projects/benchmark/disputes/",
        "annotator: /projects/benchmark/disputes/1/",
        "annotator: /api/v1/projects/benchmark/work/",
        "researcher: /api/v1/projects/benchmark/ratings/history/",
    ):
        assert page in opened
    assert "researcher: /projects/benchmark/people/" not in opened
    assert re.search(r"^0 above 60,000 ms; [\d,]+ MiB of memory at most\n\Z", done.stdout, flags=re.M)
