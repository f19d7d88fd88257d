"""What a process loads before anyone asks for anything: a second of it would be paid by every start."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LARGE = {"matplotlib", "openai", "openpyxl", "pyarrow", "scipy.optimize", "scipy.sparse", "scipy.stats"}
LOAD_EVERY_PAGE = f"""
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "concord.settings"
import django
django.setup()
import concord.urls
sys.exit(", ".join({LARGE} & set(sys.modules)) or None)
"""


def test_a_process_loads_no_large_package_before_it_is_used() -> None:
    found = subprocess.run([sys.executable, "-c", LOAD_EVERY_PAGE], cwd=ROOT, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")


BEGIN_A_WORKER = """
import sys
from concord.celery import app
app.loader.init_worker()
print(*sorted({"annotate.tasks", "judges.tasks", "concord.urls"} & set(sys.modules)))
"""


def test_a_worker_loads_its_tasks_and_no_page() -> None:
    found = subprocess.run([sys.executable, "-c", BEGIN_A_WORKER], cwd=ROOT, capture_output=True, text=True)
    assert found.stdout == "annotate.tasks judges.tasks\n"
