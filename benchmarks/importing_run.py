"""One import for benchmarks/importing.py, as the browser starts it: importing_run.py FILE. Prints JSON."""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from django.core.files import File  # noqa: E402

from annotate.core.models import DataImport, Project  # noqa: E402
from annotate.material.commands.uploads import receive_upload, start_upload  # noqa: E402
from annotate.material.reading.guessing import guess_mapping  # noqa: E402
from annotate.material.reading.mapping_json import mapping_to_json  # noqa: E402
from annotate.material.reading.readers import first_records  # noqa: E402

LOOK = 0.05  # seconds

path = Path(sys.argv[1])
project = Project.objects.create(slug="measured", name="Measured", seed=1)
with path.open("rb") as stream:
    upload = receive_upload(project=project, by=None, file=File(stream), name=path.name)
mapping = guess_mapping(first_records(path))
begun = time.perf_counter()
start_upload(data_import=upload, mapping=mapping_to_json(mapping), what=DataImport.What.ITEMS)
while upload.is_under_way or upload.status == DataImport.Status.UPLOADED:
    time.sleep(LOOK)
    upload.refresh_from_db()
seconds = time.perf_counter() - begun
if upload.status != DataImport.Status.IMPORTED or upload.report is None:
    sys.exit(f"The import ended as {upload.status}: {upload.message} {upload.report}")
print(json.dumps({"seconds": seconds, "made": upload.report["made"]}))
