"""Questions of every kind set up on their page and by the API, and their requirements before Round I."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenGuideline
from annotate.core.guidelines import Change, changes_of_wording
from annotate.core.models import Dimension, Guideline, Item, ItemPart, System
from annotate.rating.commands.rounds import open_round_one
from annotate.setup.commands import move_dimension, remove_dimension, update_dimension
from annotate.setup.forms import DimensionForm
from annotate.setup.queries import setup_of, spec_of
from tests.api.client import ApiClient
from tests.factories import Cast, make_project
from tests.questions.asking import add_question, make_questions

pytestmark = pytest.mark.django_db

GENERAL = {"name": "Asked", "definition": "What is asked."}
HTMX = {"HX-Request": "true"}
ENTERED: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "labels": (
        {"labels": "Grammar: wrong endings\nSpelling", "distance": "masi"},
        {
            "labels": [
                {"key": "grammar", "name": "Grammar", "description": "wrong endings"},
                {"key": "spelling", "name": "Spelling", "description": ""},
            ],
            "distance": "masi",
        },
    ),
    "parts": (
        {"labels": "Supported\nNot supported", "counts": "not supported"},
        {
            "labels": [
                {"key": "supported", "name": "Supported", "description": ""},
                {"key": "not-supported", "name": "Not supported", "description": ""},
            ],
            "counts": "not-supported",
        },
    ),
    "preference": (
        {"strength": "3", "tie_disputes": "on"},
        {"strength": 3, "ties": False, "tie_disputes": True},
    ),
    "ranking": ({"best_worst": "on"}, {"best_worst": True, "ties": False}),
    "spans": (
        {"categories": "Accuracy", "severities": "minor = 1\nmajor = 5: loses the meaning", "where": "both"},
        {
            "categories": [{"key": "accuracy", "name": "Accuracy", "description": ""}],
            "severities": [
                {"key": "minor", "name": "minor", "description": "", "weight": 1},
                {"key": "major", "name": "major", "description": "loses the meaning", "weight": 5},
            ],
            "where": "both",
        },
    ),
    "text": ({"longest": "200"}, {"longest": 200}),
}


def make_scene() -> Cast:
    return make_project(dimensions=("fluency",), systems=3)


@pytest.fixture
def admin(client: Client, cast: Cast) -> Client:
    client.force_login(cast.admin)
    return client


def at(cast: Cast, rest: str = "") -> str:
    return f"/projects/{cast.project.slug}/{rest}"


@pytest.mark.parametrize("kind", ENTERED)
def test_a_question_is_saved_and_shown_as_entered(admin: Client, cast: Cast, kind: str) -> None:
    entered, options = ENTERED[kind]
    sent = {**GENERAL, **entered, "kind": kind}
    assert admin.post(at(cast, "dimensions/new/"), sent).status_code == 302
    made = Dimension.objects.get(key="asked")
    assert (made.kind, made.options) == (kind, options)
    form = admin.get(at(cast, "dimensions/asked/")).context["form"]
    for name, value in entered.items():
        if name != "counts":
            assert str(form[name].value()).replace("True", "on") == value
    assert admin.post(at(cast, "dimensions/asked/"), {**sent, "definition": "Other."}).status_code == 302
    made.refresh_from_db()
    assert (made.kind, made.options, made.definition) == (kind, options, "Other.")


@pytest.mark.parametrize(
    ("kind", "wrong", "sentence"),
    [
        ("labels", {"labels": "One"}, "Give 2 to 50 labels"),
        ("parts", {"counts": "Maybe", "labels": "Yes\nNo"}, "The label that counts is one of the labels"),
        ("spans", {"severities": "minor"}, "write “name = number”"),
        ("spans", {"severities": "minor = 1000"}, "Give the severity minor a weight from 0 to 100"),
        ("text", {"longest": "0"}, "greater than or equal to 1"),
    ],
)
def test_wrong_settings_are_rejected(
    admin: Client, cast: Cast, kind: str, wrong: dict[str, str], sentence: str
) -> None:
    sent = {**GENERAL, **ENTERED[kind][0], **wrong, "kind": kind}
    response = admin.post(at(cast, "dimensions/new/"), sent)
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert not Dimension.objects.filter(key="asked").exists()


def test_the_settings_follow_the_kind_chosen(admin: Client, cast: Cast) -> None:
    sent = {**GENERAL, "kind": "spans", "settings_of": "scale", "show": "kind"}
    part = admin.post(at(cast, "dimensions/new/"), sent, headers=HTMX).content.decode()
    assert "minor = 1\nmajor = 5\ncritical = 25" in part
    assert "scale_minimum" not in part
    page = admin.post(at(cast, "dimensions/new/"), sent).content.decode()
    assert part.strip() in page
    assert 'value="Asked"' in page
    back = admin.post(at(cast, "dimensions/new/"), {**sent, "kind": "scale", "settings_of": "spans"})
    assert 'name="scale_minimum" value="1"' in back.content.decode()


def test_a_condition_is_set_by_an_earlier_answer(admin: Client, cast: Cast) -> None:
    sent = {**GENERAL, "kind": "text", "longest": "100", "condition": "fluency"}
    part = admin.post(at(cast, "dimensions/new/"), {**sent, "show": "condition"}, headers=HTMX)
    assert part.content.decode().count('name="condition_values"') == 5
    other = {**sent, "kind": "ranking", "settings_of": "text", "show": "kind"}
    assert "condition" not in DimensionForm.from_entered(other, cast.dimensions).fields
    refused = admin.post(at(cast, "dimensions/new/"), sent)
    assert "Choose the answers after which it is asked." in refused.content.decode()
    admin.post(at(cast, "dimensions/new/"), {**sent, "condition_values": ["1", "2"]})
    made = Dimension.objects.get(key="asked")
    assert made.shown_if == {"dimension": "fluency", "values": [1, 2]}
    assert "only if Fluency is 1 / 2" in admin.get(at(cast, "dimensions/")).content.decode()
    update_dimension(dimension=cast.dimensions[0], to=replace(spec_of(cast.dimensions[0]), name="Style"))
    made.refresh_from_db()
    assert made.shown_if == {"dimension": "style", "values": [1, 2]}
    with pytest.raises(NotReadyError, match="has to come after it"):
        move_dimension(dimension=made, up=True)
    with pytest.raises(NotReadyError, match="Asked depends on Style"):
        remove_dimension(dimension=Dimension.objects.get(key="style"))


def test_only_the_wording_of_labels_changes_in_an_open_round(admin: Client) -> None:
    cast = make_questions("labels")
    admin.force_login(cast.admin)
    open_round_one(project=cast.project, by=cast.admin)
    sent = {"name": "Labels", "definition": "What is asked.", "note": "Clearer."}
    page = at(cast, "dimensions/labels/")
    fewer = {**sent, "labels": "Grammar\nSpelling"}
    assert admin.post(page, fewer).status_code == 409
    other = {**sent, "labels": "Grammar: endings too\nSpelling\nWrong word"}
    assert admin.post(page, other).status_code == 302
    options = Dimension.objects.get(key="labels").options
    assert options
    assert options["labels"][0] == {
        "key": "grammar",
        "name": "Grammar",
        "description": "endings too",
    }
    versions = Guideline.objects.filter(project=cast.project).order_by("version")
    before, after = (FrozenGuideline.from_json(each.content) for each in versions)
    assert list(changes_of_wording(before, after)) == [
        Change("Labels, Grammar", "Grammar", "Grammar: endings too")
    ]


def test_unchanged_line_keeps_its_label_whatever_characters_it_has(admin: Client, cast: Cast) -> None:
    labels = [
        {"key": "wrong", "name": "Error: wrong", "description": "Not in the source.\nOr against it."},
        {"key": "none", "name": "None:", "description": ""},
    ]
    made = add_question(cast.project, "labels", "Asked", labels=labels)
    page = at(cast, "dimensions/asked/")
    shown = admin.get(page).context["form"]["labels"].value()
    assert shown == "Error: wrong: Not in the source. Or against it.\nNone:"
    sent = {**GENERAL, "kind": "labels", "distance": "jaccard"}
    admin.post(page, {**sent, "labels": f"{shown}\r\nMore: of all"})
    made.refresh_from_db()
    assert made.options
    assert made.options["labels"] == [*labels, {"key": "more", "name": "More", "description": "of all"}]


def test_comparisons_are_tallied_sampled_and_removed(admin: Client, cast: Cast) -> None:
    add_question(cast.project, "preference")
    setup = setup_of(cast.project)
    assert setup
    assert setup.needed == ["Draw comparisons."]
    with pytest.raises(NotReadyError, match="Preference compares two outputs: draw comparisons"):
        open_round_one(project=cast.project, by=cast.admin)
    page = at(cast, "comparisons/")
    assert "Drawing adds 6 comparisons of 2 outputs." in admin.get(page).content.decode()
    part = admin.get(page, {"size": "3", "per_document": "1"}, headers=HTMX).content.decode()
    assert "Drawing adds 2 comparisons of 3 outputs." in part
    assert "No document has outputs of 4 systems." in admin.get(page, {"size": "4"}).content.decode()
    response = admin.post(page, {"size": "2", "per_document": "2"}, follow=True).content.decode()
    assert "4 comparisons are drawn." in response
    assert "Every document has its comparisons of 2 outputs." in response
    assert Item.objects.exclude(kind="output").count() == 4
    setup = setup_of(cast.project)
    assert setup
    assert (setup.needed, setup.steps[0].says) == ([], "6 items")
    admin.post(page, {"remove": "1"})
    assert not System.objects.filter(compares=True).exists()


def test_preview_shows_an_example_until_comparisons_exist(admin: Client, cast: Cast) -> None:
    add_question(cast.project, "preference")
    page = admin.get(at(cast, "preview/"), {"item": "7"}).content.decode()
    assert "Draw comparisons to see yours." in page
    assert page.count('class="side"') == 2
    admin.post(at(cast, "comparisons/"), {"size": "2"})
    page = admin.get(at(cast, "preview/"), {"item": "7"}).content.decode()
    first = Item.objects.exclude(kind="output").order_by("pk")[0]
    assert all(side.output.text in page for side in first.sides.all())
    assert 'id="name-preference"' in page
    assert 'id="name-fluency"' not in page
    assert 'id="name-fluency"' in admin.get(at(cast, "preview/")).content.decode()


def test_parts_are_imported_and_the_rest_is_split_by_round_one(admin: Client) -> None:
    cast = make_questions("parts")
    admin.force_login(cast.admin)
    ItemPart.objects.all().delete()
    item = cast.items[0]
    row = f"{item.document.key},{item.system.name}"
    page = at(cast, "parts/")
    for content, sentence in (
        (f"document,system\n{row}\n", "needs the columns"),
        (f"document,system,part\n{row},\n", "Line 2: an output has 1 to 200 parts"),
        (f"document,system,parts\n{row},no\n", "Line 2: parts is a JSON list"),
        ("document,system,part\nx,y,z\n", "There is no output of x, y."),
    ):
        response = admin.post(page, {"file": SimpleUploadedFile("parts.csv", content.encode())})
        assert response.status_code == 422
        assert sentence in response.content.decode()
    content = f"document,system,part\n{row},A fact.\n{row},Another.\n"
    admin.post(page, {"file": SimpleUploadedFile("parts.csv", content.encode())})
    content = f'document,system,parts\n{row},"[""One."", ""Two.""]"\n'
    admin.post(page, {"file": SimpleUploadedFile("parts.csv", content.encode())})
    assert list(item.parts.values_list("text", flat=True)) == ["One.", "Two."]
    assert "1 of 6 outputs have parts." in admin.get(page).content.decode()
    open_round_one(project=cast.project, by=cast.admin)
    assert list(item.parts.values_list("text", flat=True)) == ["One.", "Two."]
    outputs = Item.objects.filter(document__project=cast.project, kind="output")
    assert not outputs.filter(parts__isnull=True).exists()


def test_review_and_guideline_describe_the_questions(admin: Client) -> None:
    cast = make_questions("spans", "ranking")
    admin.force_login(cast.admin)
    review = admin.get(reverse("review", args=[cast.project.slug])).content.decode()
    assert "Marked spans: Accuracy / Fluency; minor 1 / major 5" in review
    assert "system-1 | system-2" not in review
    guideline = admin.get(reverse("guideline", args=[cast.project.slug])).content.decode()
    assert "Accuracy" in guideline
    assert "weight 5" in guideline


def test_the_api_sets_questions_of_every_kind_up(cast: Cast) -> None:
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    sent = {**GENERAL, "kind": "text", "shown_if": {"dimension": "fluency", "values": [1]}}
    made = program.post(f"{home}dimensions/", sent).json()
    assert (made["kind"], made["options"]) == ("text", {"longest": 1000})
    assert made["shown_if"] == {"dimension": "fluency", "values": [1]}
    kept = program.put(f"{home}dimensions/asked/", {**GENERAL, "definition": "Other."}).json()
    assert (kept["kind"], kept["options"], kept["shown_if"]) == ("text", {"longest": 1000}, made["shown_if"])
    for wrong, sentence in (
        ({"kind": "facts"}, "choose one of scale, category"),
        ({"kind": "labels", "options": {"labels": [{"name": "One"}]}}, "Give 2 to 50 labels"),
        ({"kind": "preference", "shown_if": made["shown_if"]}, "about comparisons only"),
        ({"kind": "text", "shown_if": {"dimension": "none", "values": [1]}}, "none does not"),
    ):
        answer = program.post(f"{home}dimensions/", {**GENERAL, "name": "Wrong", **wrong})
        assert answer.status_code in (400, 422), answer.content
        assert sentence in answer.content.decode(), answer.content
    category = {**GENERAL, "name": "Tone", "kind": "category", "scale_minimum": 0, "scale_maximum": 1}
    points = [{"value": 0, "label": "Calm"}, {"value": 1, "label": "Harsh"}]
    made = program.post(f"{home}dimensions/", {**category, "points": points}).json()
    assert (made["kind"], made["measurement_level"]) == ("scale", "nominal")


def test_api_samples_comparisons_and_accepts_parts(cast: Cast) -> None:
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    assert program.post(f"{home}comparisons/", {"per_document": 1}).json() == {"made": 2}
    assert {row["kind"] for row in program.get(f"{home}items/").json()["results"]} == {"output", "pair"}
    assert len(program.get(f"{home}systems/").json()["results"]) == 3
    assert program.send("DELETE", f"{home}comparisons/").status_code == 204
    item = cast.items[0]
    output = {"document": item.document.key, "system": item.system.name, "parts": ["One.", "Two."]}
    assert program.post(f"{home}parts/", {"outputs": [output]}).json() == {"outputs": 1}
    assert list(item.parts.values_list("text", flat=True)) == ["One.", "Two."]
    refused = program.post(f"{home}parts/", {"outputs": [{**output, "system": "none"}]})
    assert "There is no output of" in refused.json()["message"]


def test_commands_sample_comparisons_and_import_parts(
    cast: Cast, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("comparisons", cast.project.slug, size=2, per_document=1, json=True)
    assert json.loads(capsys.readouterr().out) == [{"size": 2, "comparisons": 2}]
    item = cast.items[0]
    path = tmp_path / "parts.csv"
    path.write_text(f"document,system,part\n{item.document.key},{item.system.name},A fact.\n")
    call_command("parts", cast.project.slug, file=path, split=True, json=True)
    assert json.loads(capsys.readouterr().out) == [
        {"parts": "of the file", "outputs": 1},
        {"parts": "sentences", "outputs": 5},
    ]


def test_pages_count_outputs_and_comparisons_by_themselves(admin: Client, cast: Cast) -> None:
    admin.post(at(cast, "comparisons/"), {"size": "2", "per_document": "1"})
    items = admin.get(at(cast, "items/"))
    assert "6 outputs of 2 documents by 3 systems, and 2 comparisons." in items.content.decode()
    assert "✓ 6 items, 2 comparisons" in admin.get(at(cast)).content.decode()
