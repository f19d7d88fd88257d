"""The command line: every command is documented and speaks JSON, and those that list or step do so."""

import json
import re
from argparse import _SubParsersAction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from annotate.core.models import DataImport, Dispute, Invitation, Item, Project, Round, Webhook
from annotate.material.commands.imports import import_file
from tests.documentation.options import DOCUMENT as OPTIONS
from tests.documentation.options import describe_options
from tests.factories import Cast, make_project
from tests.material.files import item, jsonl, source
from tests.rating.rounds import discussed, opened, rate

DOCUMENTATION = Path(__file__).parents[1] / "docs" / "reference" / "command-line.md"
OURS = sorted(name for name, app in get_commands().items() if app in ("annotate", "judges", "concord"))
PRINTS_NO_RESULT = {"reencrypt_keys", "start"}


def said(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def told(*arguments: str) -> Any:
    return json.loads(said(*arguments, "--json"))


@pytest.fixture
def cast(db: None) -> Cast:
    return make_project(documents=1)


def test_every_command_is_documented_and_none_that_is_not_there() -> None:
    rows = re.findall(r"^\| `(\w+)", DOCUMENTATION.read_text(), flags=re.M)
    assert sorted(rows) == OURS


def test_the_options_in_the_documentation_are_those_of_the_commands() -> None:
    assert OPTIONS.read_text() == describe_options(), "make docs"
    assert "|  |\n" not in OPTIONS.read_text(), "an option without a help"


@pytest.mark.parametrize("name", OURS)
def test_every_command_says_what_it_does_and_prints_json_if_asked(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    assert command.help.strip()
    parser = command.create_parser("manage.py", name)
    steps = [each.choices for each in parser._actions if isinstance(each, _SubParsersAction)]
    parsers = [parser, *(each for choices in steps for each in choices.values())]
    options = "".join(each.format_help() for each in parsers)
    assert ("--json" in options) == (name not in PRINTS_NO_RESULT)


def test_projects_are_listed(cast: Cast) -> None:
    opened(cast)
    (project,) = told("projects")
    assert (project["project"], project["items"], project["rounds"]) == (cast.project.slug, 2, ["1 open"])
    assert cast.project.name in said("projects")
    Project.objects.filter(pk=cast.project.pk).update(slug="other")
    assert "other" in said("projects")


def test_rounds_are_stepped_through_once_and_shown(cast: Cast) -> None:
    slug = cast.project.slug
    assert said("rounds", slug) == "No round was opened yet.\n"
    assert told("rounds", slug) == []
    with pytest.raises(CommandError, match="Close Round I before you open Round II"):
        said("rounds", slug, "open-2")
    for _ in range(2):
        (first,) = told("rounds", slug, "open-1")
        assert (first["round"], first["status"], first["closed_at"]) == (1, "open", None)
    assert Round.objects.count() == 1
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, Round.objects.get(), annotator, cast.items[0], value)
    assert "closed" in said("rounds", slug, "close-1")
    rounds = told("rounds", slug, "open-2")
    assert [(round["status"], round["ratings"]) for round in rounds] == [("closed", 3), ("open", 0)]


def test_disputes_are_listed_with_whom_they_wait_for(cast: Cast) -> None:
    dispute = discussed(cast, 1, 3, 5)
    (row,) = told("disputes", cast.project.slug)
    assert (row["dispute"], row["spread"], row["status"]) == (dispute.number, 4, "open")
    assert sorted(row["waits_for"]) == sorted(place.label for place in cast.annotators[::2])
    assert said("disputes", cast.project.slug, "--status", "settled") == "There is no such dispute.\n"


def test_people_are_listed_with_their_pseudonyms(cast: Cast) -> None:
    rows = told("people", cast.project.slug)
    assert [row["role"] for row in rows].count("annotator") == 3
    first = cast.annotators[0]
    own = next(row for row in rows if row["pseudonym"] == first.pseudonym)
    assert (own["label"], own["active"], own["items_done"]) == (first.label, True, 0)
    assert first.pseudonym in said("people", cast.project.slug)


def test_the_audit_log_is_printed_line_by_line(cast: Cast) -> None:
    said("rounds", cast.project.slug, "open-1")
    lines = said("audit", cast.project.slug, "--what", "round", "--json").splitlines()
    assert [json.loads(line)["act"] for line in lines] == ["round.opened"]
    assert "round.opened  Round I  by the command line" in said("audit", cast.project.slug)
    assert said("audit", cast.project.slug, "--since", "2999-01-01") == ""
    with pytest.raises(CommandError, match="is no day"):
        said("audit", cast.project.slug, "--since", "yesterday")


def test_the_demonstration_says_how_to_sign_in_as_json(db: None) -> None:
    made = told("load_demonstration")
    assert (made["project"], made["password"]) == (Project.objects.get().slug, "demonstration")
    assert told("load_demonstration") == made
    assert {account["role"] for account in made["accounts"]} == {"admin", "annotator", "researcher"}


def test_dimensions_of_a_file_are_added_and_changed_before_round_one(cast: Cast, tmp_path: Path) -> None:
    slug, file = cast.project.slug, tmp_path / "dimensions.json"
    there = cast.dimensions[0]
    fluency = {"scale_minimum": 1, "scale_maximum": 7, "measurement_level": "interval"}
    fluency |= {"name": there.name, "definition": "Reads well."}
    points = [{"value": 0, "label": "no"}, {"value": 1, "label": "yes"}]
    true = {"scale_minimum": 0, "scale_maximum": 1, "measurement_level": "nominal", "points": points}
    file.write_text(json.dumps([fluency, {**true, "name": "True", "definition": "It is so."}]))
    for _ in range(2):
        rows = {row["name"]: row for row in told("dimensions", slug, "--file", str(file))}
        assert rows[there.name]["highest"] == 7
        assert (rows["True"]["lowest"], rows["True"]["measurement_level"]) == (0, "nominal")
    count = len(rows)
    file.write_text(
        json.dumps([{**true, "name": "New", "definition": "New."}, {**fluency, "scale_minimum": 9}])
    )
    with pytest.raises(CommandError, match="Dimension 2 of the file: "):
        said("dimensions", slug, "--file", str(file))
    assert len(told("dimensions", slug)) == count, "nothing of a file with a mistake is taken"
    file.write_text("[")
    with pytest.raises(CommandError, match="cannot be read as JSON"):
        said("dimensions", slug, "--file", str(file))


def test_people_are_invited_once_by_a_link(cast: Cast) -> None:
    arguments = ["invite", cast.project.slug, "ann@example.org", "bo@example.org"]
    arguments += ["--by", cast.admin.email, "--site", "https://concord.example"]
    rows = told(*arguments)
    assert [(row["email"], row["role"], row["sent_at"]) for row in rows] == [
        ("ann@example.org", "annotator", None),
        ("bo@example.org", "annotator", None),
    ]
    assert rows[0]["link"].startswith("https://concord.example/")
    assert told(*arguments) == rows
    assert Invitation.objects.count() == 2
    with pytest.raises(CommandError, match="'bo' is no e-mail address"):
        said("invite", cast.project.slug, "bo", *arguments[4:])


def test_people_are_invited_from_a_file(cast: Cast, tmp_path: Path) -> None:
    arguments = ["invite", cast.project.slug, "--by", cast.admin.email, "--site", "https://concord.example"]
    with pytest.raises(CommandError, match="Name at least one address, or a --file"):
        said(*arguments)
    path = tmp_path / "people.txt"
    path.write_text("Ann <ann@example.org>\n\nbo@example.org\nann@example.org\n")
    rows = told(*arguments, "--file", str(path))
    assert [row["email"] for row in rows] == ["ann@example.org", "bo@example.org"]
    path.write_text("ann@example.org\nnobody\n")
    with pytest.raises(CommandError, match="'nobody' is no e-mail address"):
        said(*arguments, "--file", str(path))
    with pytest.raises(CommandError, match="cannot be read"):
        said(*arguments, "--file", str(tmp_path / "gone.txt"))


def test_a_dispute_is_adjudicated(cast: Cast) -> None:
    dispute = discussed(cast, 1, 3, 5)
    arguments = ["adjudicate", cast.project.slug, str(dispute.number), "3"]
    arguments += ["--note", "Two of three.", "--by", cast.admin.email]
    for _ in range(2):
        assert told(*arguments) == [
            {"dispute": dispute.number, "status": "adjudicated", "adjudicated_value": 3}
        ]
    assert Dispute.objects.get().events.filter(kind="adjudicated").count() == 1
    arguments[2] = "99"
    with pytest.raises(CommandError, match="has no dispute 99"):
        said(*arguments)


def test_an_import_is_taken_back_by_its_number(cast: Cast, tmp_path: Path) -> None:
    before = Item.objects.count()
    path = jsonl(tmp_path, item(document="d9", system="s9"))
    import_file(project=cast.project, source=source(path, items=True), by=None)
    (made,) = told("imports", cast.project.slug)
    assert (made["status"], Item.objects.count()) == ("imported", before + 1)
    for _ in range(2):
        (undone,) = told("imports", cast.project.slug, "--undo", str(made["number"]))
        assert (undone["status"], Item.objects.count()) == ("undone", before)
    DataImport.objects.update(project=make_project().project)
    with pytest.raises(CommandError, match="has no import"):
        said("imports", cast.project.slug, "--undo", str(made["number"]))


def test_webhooks_are_added_once_and_removed(cast: Cast) -> None:
    slug, by = cast.project.slug, ["--by", cast.admin.email]
    add = ["webhooks", slug, "--add", "https://93.184.215.14/hook", "--event", "round.closed"]
    with pytest.raises(CommandError, match="Say who does it"):
        said(*add)
    (made,) = told(*add, *by)
    assert (made["events"], bool(made["secret"])) == (["round.closed"], True)
    (same,) = told(*add, *by)
    assert (same["number"], "secret" in same) == (made["number"], False)
    assert told("webhooks", slug, "--remove", str(made["number"]), *by) == []
    assert not Webhook.objects.exists()
    with pytest.raises(CommandError, match="has no webhook"):
        said("webhooks", slug, "--remove", str(made["number"]), *by)
