"""The commands on the pages for common questions do what the pages say."""

import re
import shlex
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands, load_command_class

from annotate.core.models import Item, Rating
from tests.documentation.tutorials import HOW_TO, blocks_of
from tests.factories import Cast, make_project

OPTION = re.compile(r"(?<= )--[a-z-]+")
pytestmark = [pytest.mark.once, pytest.mark.django_db]


@pytest.fixture
def cast() -> Cast:
    return make_project(documents=0, systems=0, annotators=0)


def run(command: str, cast: Cast, folder: Path) -> str:
    """Run a command of a page on this project, with the files of this folder."""
    words = shlex.split(command.replace("\\\n", " "))
    assert words[:2] == [".venv/bin/python", "manage.py"]
    name, *arguments = words[2:]
    given = [cast.project.slug if each == "my-project" else each for each in arguments]
    given = [str(folder / each) if each.endswith(".csv") else each for each in given]
    out = StringIO()
    call_command(name, *given, stdout=out)
    return out.getvalue()


def test_csv_with_own_columns_is_imported(cast: Cast, tmp_path: Path) -> None:
    page = HOW_TO / "csv-with-own-columns.md"
    items, ratings = blocks_of(page, "text")
    (tmp_path / "summaries.csv").write_text(items)
    (tmp_path / "ratings.csv").write_text(ratings)
    import_items, import_ratings = blocks_of(page, "sh")
    run(import_items, cast, tmp_path)
    assert not Item.objects.exists(), "a dry run writes nothing"
    run(import_items.replace("--dry-run", ""), cast, tmp_path)
    assert sorted(Item.objects.values_list("system__name", flat=True)) == ["large", "small"]
    run(import_ratings, cast, tmp_path)
    assert set(Rating.objects.values_list("value", flat=True)) == {4, 5}


@pytest.mark.parametrize("page", ["how-many-raters", "which-alpha"])
def test_command_prints_a_result(page: str, cast: Cast, tmp_path: Path) -> None:
    test_csv_with_own_columns_is_imported(cast, tmp_path)
    for command in blocks_of(HOW_TO / f"{page}.md", "sh"):
        assert run(command, cast, tmp_path).strip()


@pytest.mark.parametrize("page", sorted(HOW_TO.glob("*.md")), ids=lambda page: page.stem)
def test_every_named_command_has_its_options(page: Path) -> None:
    blocks = "\n".join(blocks_of(page, "sh")).replace("\\\n", " ")
    for name, rest in re.findall(r"manage\.py (\w+)(.*)", blocks):
        command = load_command_class(get_commands()[name], name)
        parser = command.create_parser("manage.py", name)
        steps = [each.choices for each in parser._actions if isinstance(each.choices, dict)]
        parsers = [parser, *(each for choices in steps for each in choices.values())]
        known = "".join(each.format_help() for each in parsers)
        assert [each for each in OPTION.findall(rest.partition("#")[0]) if each not in known] == []
