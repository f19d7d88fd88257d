"""One export for benchmarks/export.py, as Concord writes it: export_run.py FILE everything|TABLE FORMAT."""

import json
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from annotate.core.models import Project  # noqa: E402
from annotate.exports.choice import ExportChoice, Format  # noqa: E402
from annotate.exports.files import write_file  # noqa: E402
from annotate.exports.formats.parquet import write_parquet  # noqa: E402
from annotate.exports.formats.text import export_table  # noqa: E402
from annotate.exports.registry import TABLES  # noqa: E402

target, what, format = sys.argv[1:]
begun = time.perf_counter()
project = Project.objects.get()
if what == "everything":
    write_file(project, ExportChoice(Format(format)), Path(target))
elif format == Format.PARQUET:
    table = TABLES[what].for_dimensions(project.dimensions.values_list("key", flat=True))
    write_parquet(table, table.rows(project), Path(target))
else:
    with Path(target).open("wb") as file:
        file.writelines(export_table(project, TABLES[what], format))
seconds = time.perf_counter() - begun
print(
    json.dumps({"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024})
)  # Linux reports KiB
