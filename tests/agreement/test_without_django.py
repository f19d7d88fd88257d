import subprocess
import sys

IMPORT_ALONE = """
import sys
import agreement, agreement.biases, agreement.comparison, agreement.reliability
loaded = {name.partition(".")[0] for name in sys.modules}
print(*sorted(loaded & {"django", "rest_framework", "celery", "openai", "concord", "annotate", "judges"}))
"""


def test_the_statistics_load_nothing_of_the_web_application() -> None:
    result = subprocess.run([sys.executable, "-c", IMPORT_ALONE], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""
