import subprocess
import sys

import pytest

IMPORT_ALONE = """
import sys
import annotate.agreement
loaded = {name.partition(".")[0] for name in sys.modules}
print(*sorted(loaded & {"django", "rest_framework", "celery", "config", "judges"}))
"""


def test_the_statistics_load_nothing_of_the_web_application() -> None:
    result = subprocess.run([sys.executable, "-c", IMPORT_ALONE], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_pure_functions_are_played_with_one_database(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("once")
