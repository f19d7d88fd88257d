"""What a process loads before anyone asks for anything: a second of it would be paid by every start."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Ended = subprocess.CompletedProcess[str]
LARGE = {"matplotlib", "openai", "openpyxl", "pyarrow", "scipy.optimize", "scipy.sparse", "scipy.stats"}
LOAD_EVERY_PAGE = f"""
import gc, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "concord.settings"
import concord, django
django.setup()
print("full collections", gc.get_stats()[2]["collections"], "later", gc.isenabled())
import concord.urls
sys.exit(", ".join({LARGE} & set(sys.modules)) or None)
"""


@pytest.fixture(scope="module")
def loaded() -> Ended:
    command = [sys.executable, "-c", LOAD_EVERY_PAGE]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_process_loads_no_large_package_before_it_is_used(loaded: Ended) -> None:
    assert (loaded.returncode, loaded.stderr) == (0, "")


def test_garbage_is_collected_only_after_the_start(loaded: Ended) -> None:
    assert loaded.stdout == "full collections 0 later True\n"


BEGIN_A_WORKER = """
import sys
from concord.celery import app
app.loader.init_worker()
print(*sorted({"annotate.tasks", "judges.tasks", "concord.urls"} & set(sys.modules)))
"""


def test_a_worker_loads_its_tasks_and_no_page() -> None:
    found = subprocess.run([sys.executable, "-c", BEGIN_A_WORKER], cwd=ROOT, capture_output=True, text=True)
    assert found.stdout == "annotate.tasks judges.tasks\n"
