import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]

pytestmark = pytest.mark.once


def steps(goal: str, *changed: str) -> str:
    """What make would do for a goal if these files had changed; nothing is done."""
    new = [word for name in changed for word in ("-W", name)]
    made = subprocess.run(["make", "-n", *new, goal], cwd=HERE, capture_output=True, text=True, check=True)
    return made.stdout


def test_running_installs_nothing_that_only_testing_needs() -> None:
    assert "requirements-dev.txt" not in steps("run", "requirements.txt", "requirements-dev.txt")
    assert "-r requirements.txt" in steps("run", "requirements.txt")


def test_testing_adds_the_rest_to_the_same_environment() -> None:
    added = steps("test", "requirements-dev.txt")
    assert "uv pip install" in added or "$uv pip install" in added
    assert "-r requirements.txt -r requirements-dev.txt" in added
    assert "venv --clear" not in added.split("requirements-dev.txt")[-1]


def test_what_running_needs_is_renewed_before_the_rest() -> None:
    done = steps("test", "requirements.txt")
    assert done.index("touch .venv/installed\n") < done.index("touch .venv/installed-dev")
