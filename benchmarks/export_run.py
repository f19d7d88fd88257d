"""One export for benchmarks/export.py, as the pages stream it: export_run.py FILE everything|TABLE FORMAT."""

import json
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from annotate.exporting import export_everything, export_table  # noqa: E402
from annotate.models import Project  # noqa: E402
from annotate.queries.export import TABLES  # noqa: E402

target, what, format = sys.argv[1:]
begun = time.perf_counter()
project = Project.objects.get()
stream = (
    export_everything(project, format)
    if what == "everything"
    else export_table(project, TABLES[what], format)
)
with Path(target).open("wb") as file:
    file.writelines(stream)
seconds = time.perf_counter() - begun
print(
    json.dumps({"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024})
)  # Linux reports KiB
