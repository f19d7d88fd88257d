"""Where real data of others lies, which tests read and the project never holds."""

import os
from pathlib import Path

import pytest

BESIDE_THE_PROJECT = Path(__file__).resolve().parents[2] / "shared" / "data"


def reference_data() -> Path:
    """The folder of reference data; where there is none, the test is skipped."""
    folder = Path(os.environ.get("CONCORD_REFERENCE_DATA", BESIDE_THE_PROJECT))
    if not folder.is_dir():
        pytest.skip(f"There is no reference data at {folder}; set CONCORD_REFERENCE_DATA.")
    return folder
