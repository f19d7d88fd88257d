"""Commands about a project that is not there name the projects that are."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_project

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("command", ["agreement", "export", "import_items", "import_ratings"])
def test_an_unknown_project_is_answered_with_the_known_ones(command: str, tmp_path: Path) -> None:
    arguments = [str(tmp_path / "file.jsonl")] if command.startswith("import") else []
    with pytest.raises(CommandError, match=r"There is no project 'other'; there are: none\."):
        call_command(command, "other", *arguments)
    known = ", ".join(sorted(make_project().project.slug for _ in range(2)))
    with pytest.raises(CommandError, match=f"there are: {known}"):
        call_command(command, "other", *arguments)
