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
from annotate.rating.commands.rounds import open_round_one
from concord_client import RefusedError
from tests.api.client import concord
from tests.documentation.options import DOCUMENT as OPTIONS
from tests.documentation.options import describe_options
from tests.factories import Cast, make_project
from tests.material.files import item, jsonl, source
from tests.rating.rounds import discussed, rate

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


def test_documented_options_match_the_commands() -> None:
    assert OPTIONS.read_text() == describe_options(), "make docs"
    assert "|  |\n" not in OPTIONS.read_text(), "an option without a help"


@pytest.mark.parametrize("name", OURS)
def test_every_command_has_a_description_and_prints_json_on_request(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    assert command.help.strip()
    parser = command.create_parser("manage.py", name)
    steps = [each.choices for each in parser._actions if isinstance(each, _SubParsersAction)]
    parsers = [parser, *(each for choices in steps for each in choices.values())]
    options = "".join(each.format_help() for each in parsers)
    assert ("--json" in options) == (name not in PRINTS_NO_RESULT)


def test_projects_are_listed(cast: Cast) -> None:
    (project,) = concord(cast.admin, "projects", "list")
    assert (project["slug"], project["name"]) == (cast.project.slug, cast.project.name)
    assert len(concord(cast.admin, "items", "list", cast.project.slug)) == 2
    assert concord(cast.outsider, "projects", "list") == []


def test_rounds_are_stepped_through_once_and_shown(cast: Cast) -> None:
    slug = cast.project.slug
    assert concord(cast.admin, "rounds", "list", slug) == []
    with pytest.raises(RefusedError, match="Close Round I before you open Round II"):
        concord(cast.admin, "rounds", "open-2", slug)
    for _ in range(2):
        first = concord(cast.admin, "rounds", "open-1", slug)
        assert (first["number"], first["status"], first["closed_at"]) == (1, "open", None)
    assert Round.objects.count() == 1
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, Round.objects.get(), annotator, cast.items[0], value)
    assert concord(cast.admin, "rounds", "close-1", slug)["status"] == "closed"
    concord(cast.admin, "rounds", "open-2", slug)
    rounds = concord(cast.admin, "rounds", "list", slug)
    assert [(round["status"], round["ratings"]) for round in rounds] == [("closed", 3), ("open", 0)]
    assert rounds[1]["disputes"] == {"total": 1, "unresolved": 1, "breakdown": "1 open"}
    of_annotator = concord(cast.annotators[0].user, "rounds", "list", slug)
    assert [(round["ratings"], round["disputes"]) for round in of_annotator] == [(None, None)] * 2


def test_disputes_are_listed_with_their_pending_raters(cast: Cast) -> None:
    dispute = discussed(cast, 1, 3, 5)
    (row,) = concord(cast.admin, "disputes", "list", cast.project.slug)
    assert (row["number"], row["spread"], row["status"]) == (dispute.number, 4, "open")
    assert row["waits_for"] == sorted(membership.alias for membership in cast.annotators[::2])
    (own,) = concord(cast.annotators[0].user, "disputes", "list", cast.project.slug)
    assert (own["number"], own["waits_for"]) == (dispute.number, None)
    assert concord(cast.admin, "disputes", "list", cast.project.slug, "--status", "settled") == []
    assert concord(cast.admin, "disputes", "list", cast.project.slug, "--dimension", "coherence") == []


def test_people_are_listed_with_their_progress(cast: Cast) -> None:
    rows = concord(cast.admin, "people", "list", cast.project.slug)
    assert [row["role"] for row in rows].count("annotator") == 3
    first = cast.annotators[0]
    own = next(row for row in rows if row["pseudonym"] == first.pseudonym)
    assert (own["label"], own["active"]) == (first.label, True)
    assert own["load"] == {"done": 0, "begun": 0, "waiting": 0}
    assert next(row for row in rows if row["role"] == "admin")["load"] is None


def test_the_audit_log_is_printed_line_by_line(cast: Cast) -> None:
    open_round_one(project=cast.project, by=None)
    lines = said("audit", cast.project.slug, "--what", "round", "--json").splitlines()
    assert [json.loads(line)["act"] for line in lines] == ["round.opened"]
    assert "round.opened  Round I  by the command line" in said("audit", cast.project.slug)
    assert said("audit", cast.project.slug, "--since", "2999-01-01") == ""
    with pytest.raises(CommandError, match="is no day"):
        said("audit", cast.project.slug, "--since", "yesterday")


def test_demonstration_prints_sign_in_data_as_json(db: None) -> None:
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
    set_several = ("dimensions", "set-several", slug, "--json", file)
    for _ in range(2):
        rows = {row["name"]: row for row in concord(cast.admin, *set_several)}
        assert rows[there.name]["scale_maximum"] == 7
        assert (rows["True"]["scale_minimum"], rows["True"]["measurement_level"]) == (0, "nominal")
    count = len(rows)
    new = {**true, "name": "New", "definition": "New."}
    file.write_text(json.dumps([new, {**fluency, "scale_minimum": 9}]))
    with pytest.raises(RefusedError, match=r"dimensions\.1: ") as refused:
        concord(cast.admin, *set_several)
    assert refused.value.fields.keys() == {"dimensions.1"}
    assert len(concord(cast.admin, "dimensions", "list", slug)) == count, "all or none"
    file.write_text(json.dumps([new, {**fluency, "colour": "red"}]))
    with pytest.raises(RefusedError, match="There is no such field"):
        concord(cast.admin, *set_several)
    file.write_text("[")
    with pytest.raises(RefusedError, match="cannot be read as JSON"):
        concord(cast.admin, *set_several)


def test_people_are_invited_once_by_a_link(cast: Cast) -> None:
    invite = ("invitations", "add-several", cast.project.slug, "--note", "Boots.", "--addresses")
    made = concord(cast.admin, *invite, "ann@example.org", "bo@example.org")["made"]
    assert [(row["email"], row["role"], row["sent_at"]) for row in made] == [
        ("ann@example.org", "annotator", None),
        ("bo@example.org", "annotator", None),
    ]
    links = [row["link"] for row in concord(cast.admin, "invitations", "list", cast.project.slug)]
    assert all(link.startswith("http://testserver/") for link in links)
    again = concord(cast.admin, *invite, "ann@example.org", "bo@example.org")
    assert (again["made"], sorted(again["waiting"])) == ([], ["ann@example.org", "bo@example.org"])
    assert [row["link"] for row in concord(cast.admin, "invitations", "list", cast.project.slug)] == links
    assert Invitation.objects.count() == 2
    with pytest.raises(RefusedError, match=r"Not valid e-mails: bo\."):
        concord(cast.admin, *invite, "bo")


def test_people_are_invited_from_a_file(cast: Cast, tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    invite = ("invitations", "add-several", cast.project.slug, "--role", "researcher", "--json", path)
    path.write_text("[]")
    with pytest.raises(RefusedError, match="addresses"):
        concord(cast.admin, *invite)
    path.write_text('["Ann <ann@example.org>", "bo@example.org", "ann@example.org"]')
    made = concord(cast.admin, *invite)["made"]
    assert [(row["email"], row["role"]) for row in made] == [
        ("ann@example.org", "researcher"),
        ("bo@example.org", "researcher"),
    ]
    path.write_text('["ann@example.org", "nobody"]')
    with pytest.raises(RefusedError, match=r"Not valid e-mails: nobody\."):
        concord(cast.admin, *invite)
    with pytest.raises(RefusedError, match="cannot be read"):
        concord(cast.admin, *invite[:-1], tmp_path / "gone.json")


def test_a_dispute_is_adjudicated(cast: Cast) -> None:
    dispute = discussed(cast, 1, 3, 5)
    why = ("--value", 3, "--note", "Two of three.")
    for _ in range(2):
        decided = concord(cast.admin, "disputes", "adjudicate", cast.project.slug, dispute.number, *why)
        assert (decided["number"], decided["status"]) == (dispute.number, "adjudicated")
        assert decided["adjudicated_value"] == 3
    assert Dispute.objects.get().events.filter(kind="adjudicated").count() == 1
    with pytest.raises(RefusedError, match="There is no"):
        concord(cast.admin, "disputes", "adjudicate", cast.project.slug, 99, *why)


def test_an_import_is_undone_by_its_id(cast: Cast, tmp_path: Path) -> None:
    slug, before = cast.project.slug, Item.objects.count()
    path = jsonl(tmp_path, item(document="d9", system="s9"))
    import_file(project=cast.project, source=source(path, items=True), by=None)
    (made,) = concord(cast.admin, "imports", "list", slug)
    assert (made["status"], Item.objects.count()) == ("imported", before + 1)
    for _ in range(2):
        undone = concord(cast.admin, "imports", "undo", slug, made["id"])
        assert (undone["status"], Item.objects.count()) == ("undone", before)
    DataImport.objects.update(project=make_project().project)
    with pytest.raises(RefusedError, match="This import does not exist"):
        concord(cast.admin, "imports", "undo", slug, made["id"])


def test_webhooks_are_added_and_removed(cast: Cast) -> None:
    slug, url = cast.project.slug, "https://93.184.215.14/hook"
    made = concord(cast.admin, "webhooks", "add", slug, "--url", url, "--events", "round.closed")
    assert (made["events"], bool(made["secret"])) == (["round.closed"], True)
    with pytest.raises(RefusedError, match="Enter a valid URL"):
        concord(cast.admin, "webhooks", "add", slug, "--url", "boots", "--events", "round.closed")
    (same,) = concord(cast.admin, "webhooks", "list", slug)
    assert (same["id"], "secret" in same) == (made["id"], False)
    assert concord(cast.admin, "webhooks", "remove", slug, made["id"]) is None
    assert not Webhook.objects.exists()
    with pytest.raises(RefusedError, match="webhook"):
        concord(cast.admin, "webhooks", "remove", slug, made["id"])


def test_numbers_that_json_lacks_are_rejected(
    cast: Cast, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add, file = ("dimensions", "add", cast.project.slug), tmp_path / "fields.json"
    file.write_text('{"scale_minimum": NaN}')
    with pytest.raises(RefusedError, match="cannot be read as JSON: it has no NaN"):
        concord(cast.admin, *add, "--json", file)
    with pytest.raises(SystemExit):
        concord(cast.admin, "disputes", "adjudicate", cast.project.slug, 1, "--value", "nan")
    assert "--value: 'nan' is no number" in capsys.readouterr().err
