"""How many rows a Parquet file has, or all those of a zip file: export_rows.py FILE."""

import sys
import zipfile
from pathlib import Path

from pyarrow import parquet

file = Path(sys.argv[1])
if zipfile.is_zipfile(file):
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.endswith(".parquet")]
        print(sum(parquet.read_metadata(archive.open(name)).num_rows for name in names))
else:
    print(parquet.read_metadata(file).num_rows)
