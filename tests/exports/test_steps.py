"""A scale of half points from its set-up to an export that is imported again, by pages, API and commands."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pyarrow.parquet import read_schema

from annotate.core.access import token_of
from annotate.core.errors import InvalidValueError
from annotate.core.models import (
    Assignment,
    Dimension,
    Dispute,
    GoldItem,
    GoldValue,
    Project,
    Rating,
    RatingChange,
)
from annotate.disputes.commands.disputes import adjudicate, answer_dispute
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.files import write_folder
from annotate.material.commands.imports import import_file
from annotate.material.queries.check import FileCheck
from annotate.material.reading.progress import silent
from annotate.quality.commands import RightValue, describe_gold, mark_gold
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.setup.commands import create_project, delete_project
from annotate.setup.queries import template_of
from annotate.setup.template_file import TemplateRefusedError, read_template, to_json
from tests.api.client import ApiClient
from tests.factories import Cast, make_project
from tests.material.files import jsonl, source
from tests.rating.rounds import assigned, opened, rate

pytestmark = pytest.mark.django_db

SETUP = {
    "name": "Clarity",
    "definition": "Whether it can be understood at once.",
    "scale_minimum": "1",
    "scale_maximum": "5",
    "scale_step": "0.5",
    "measurement_level": "interval",
    "label_3": "Middling",
}
GIVEN = ((1.5, 4), (3, 4.5), (3.5, 5))


@pytest.fixture
def cast() -> Cast:
    """A project without a round whose second dimension, with half points, was set up on its page."""
    cast = make_project(documents=1)
    client = Client()
    client.force_login(cast.admin)
    made = client.post(reverse("dimension_new", args=[cast.project.slug]), SETUP)
    assert made.status_code == 302
    return cast


def rate_on_the_page(cast: Cast, rater: int, position: int, key: str, value: object) -> dict[str, object]:
    client, membership = Client(), cast.annotators[rater]
    assert membership.user
    client.force_login(membership.user)
    address = reverse("save_rating", args=[cast.project.slug, position, key])
    held = Assignment.objects.get(annotator=membership, position=position, round__number=1)
    sent = {"annotator": membership.pk, "assignment": token_of(held), "value": value}
    return dict(client.post(address, sent).json())


def rate_by_api(
    cast: Cast, rater: int, position: int, key: str, value: object
) -> tuple[int, dict[str, object]]:
    program = ApiClient(cast.annotators[rater].user)
    reply = program.put(f"projects/{cast.project.slug}/work/{position}/{key}/", {"value": value})
    return reply.status_code, reply.json()


def played(cast: Cast) -> None:
    """Rate both items, two people on the page and one by the API; discuss, and decide with half points."""
    round = opened(cast)
    for annotator in cast.annotators:
        reserve_items(round=round, annotator=annotator)
    for item, values in enumerate(zip(*GIVEN, strict=True)):
        for rater, value in enumerate(values):
            at = assigned(cast, round, cast.annotators[rater], cast.items[item]).position or 0
            for key, given in (("clarity", value), ("fluency", 3)):
                if rater:
                    assert "revision" in rate_on_the_page(cast, rater, at, key, given)
                else:
                    assert rate_by_api(cast, rater, at, key, given)[0] == 200
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    dispute = Dispute.objects.get()
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=2, comment="A little more.")
    adjudicate(dispute=dispute, value=2.5, note="Between.", by=cast.admin)


def export(project: Project, target: Path) -> bytes:
    call_command("export", project.slug, "--to", str(target), verbosity=0, stdout=StringIO())
    return target.read_bytes()


def rows_of(cast: Cast, folder: Path, format: Format) -> Path:
    folder.mkdir()
    write_folder(cast.project, ExportChoice(format), folder)
    return folder


def test_half_points_are_set_up_rated_disputed_and_decided(cast: Cast) -> None:
    dimension = cast.project.dimensions.get(key="clarity")
    assert (dimension.scale_step, dimension.points.get().value) == (0.5, 3)
    played(cast)
    values = Rating.objects.filter(dimension=dimension, assignment__round__number=1)
    given = values.order_by("value").values_list("value", flat=True)
    assert list(given) == [1.5, 3, 3.5, 4, 4.5, 5]
    assert RatingChange.objects.filter(value_after=3.5, value_before=None).count() == 1
    dispute = Dispute.objects.get()
    assert (dispute.spread, dispute.adjudicated_value) == (2, 2.5)
    client = Client()
    client.force_login(cast.researcher)
    url = reverse("results_page", args=[cast.project.slug, "agreement"])
    page = client.get(url, {"table": "distribution"}).content.decode()
    heads = page.split('<table class="sortable">')[1].split("</thead>")[0]
    assert ">3.5<" in heads
    assert "3.0<" not in heads


def test_an_export_is_imported_again_and_exported_as_the_same_bytes(cast: Cast, tmp_path: Path) -> None:
    played(cast)
    before = export(cast.project, tmp_path / "first.zip")
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    call_command("import_export", str(tmp_path / "first.zip"), stdout=StringIO())
    restored = Project.objects.get()
    assert restored.dimensions.get(key="clarity").scale_step == 0.5
    assert Dispute.objects.get().adjudicated_value == 2.5
    assert export(restored, tmp_path / "second.zip") == before


def test_exported_values_are_unchanged(cast: Cast, tmp_path: Path) -> None:
    played(cast)
    with (rows_of(cast, tmp_path / "csv", Format.CSV) / "ratings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    written = {row["value"] for row in rows if row["dimension"] == "clarity" and row["round"] == "1"}
    assert written == {"1.5", "3", "3.5", "4", "4.5", "5"}
    lines = (rows_of(cast, tmp_path / "jsonl", Format.JSONL) / "final_values.jsonl").read_text().splitlines()
    decided = next(row for row in map(json.loads, lines) if row["adjudicated_value"])
    assert sorted(decided["values"].values()) == [2, 3, 3.5]
    assert decided["final_value"] == 2.5
    parquet = rows_of(cast, tmp_path / "parquet", Format.PARQUET) / "ratings.parquet"
    assert str(read_schema(parquet).field("value").type) == "double"


def test_a_project_of_whole_numbers_is_exported_with_integers(tmp_path: Path) -> None:
    cast = make_project(documents=1)
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 3)
    parquet = rows_of(cast, tmp_path / "parquet", Format.PARQUET)
    assert str(read_schema(parquet / "ratings.parquet").field("value").type) == "int64"
    assert str(read_schema(parquet / "disputes.parquet").field("spread").type) == "int64"
    lines = (rows_of(cast, tmp_path / "jsonl", Format.JSONL) / "ratings.jsonl").read_text()
    assert '"value": 3,' in lines
    data_set = rows_of(cast, tmp_path / "hub", Format.HUGGING_FACE)
    assert '"sc:Integer"' in (data_set / "croissant.json").read_text()


def test_value_off_the_steps_gets_one_message_everywhere(cast: Cast, tmp_path: Path) -> None:
    sentence = "Clarity is rated from 1 to 5 in steps of 0.5; 3.3 is not on this scale."
    gold = mark_gold(project=cast.project, item=cast.items[1], use=GoldItem.Use.PRACTICE)
    dimension = cast.project.dimensions.get(key="clarity")
    with pytest.raises(InvalidValueError) as refused:
        describe_gold(project=cast.project, gold=gold, explanation="", values={dimension.pk: RightValue(3.3)})
    assert str(refused.value) == sentence
    right = {dimension.pk: RightValue(3.5, "Clear but for one word.")}
    describe_gold(project=cast.project, gold=gold, explanation="", values=right)
    assert GoldValue.objects.get().value == 3.5
    round = opened(cast)
    at = assigned(cast, round, cast.annotators[0], cast.items[0]).position or 0
    status, told = rate_by_api(cast, 0, at, "clarity", 3.3)
    assert (status, told["message"]) == (422, sentence)
    assert told["fields"] == {"value": "Choose a value: 1 to 5 in steps of 0.5."}
    assert rate_on_the_page(cast, 0, at, "clarity", "3.3")["message"] == sentence
    unit = {"document_id": "product-1", "system": "system-1", "dimension": "clarity"}
    values = {"A1": 3.5, "A2": "2.0", "A3": 3.3}
    records = [{**unit, "rater": rater, "value": value} for rater, value in values.items()]
    path = jsonl(tmp_path, *records)
    report = FileCheck(cast.project, source(path, ratings=True)).check(None, silent)
    assert [(each.line, each.field, each.reason) for each in report.refused_lines] == [(3, "value", sentence)]
    assert not Rating.objects.exists()


def test_recorded_half_points_are_imported(cast: Cast, tmp_path: Path) -> None:
    unit = {"document_id": "product-1", "system": "system-1", "dimension": "clarity"}
    path = jsonl(tmp_path, {**unit, "rater": "A1", "value": 3.5}, {**unit, "rater": "A2", "value": "2.0"})
    import_file(project=cast.project, source=source(path, ratings=True), by=None)
    values = Rating.objects.order_by("value").values_list("value", flat=True)
    assert list(map(str, values)) == ["2", "3.5"]


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("0.3", "Steps of 0.3 do not lead from 1 to 5. Choose one that does."),
        ("0.125", "A step can have up to two decimals."),
        ("0", "greater than or equal to 0.01"),
        ("half", "Enter a number."),
    ],
)
def test_impossible_step_is_rejected_on_the_page_and_by_the_api(cast: Cast, step: str, says: str) -> None:
    client = Client()
    client.force_login(cast.admin)
    page = client.post(reverse("dimension_new", args=[cast.project.slug]), SETUP | {"scale_step": step})
    assert page.status_code == 422
    assert says in page.content.decode()


def test_the_api_sets_a_step_and_a_missing_one_is_1(cast: Cast) -> None:
    program = ApiClient(cast.admin)
    at = f"projects/{cast.project.slug}/dimensions/"
    sent = {"name": "Tone", "definition": "How it sounds.", "scale_minimum": 0, "scale_maximum": 1}
    sent |= {"measurement_level": "interval", "not_applicable": False}
    assert program.post(at, sent).json()["scale_step"] == 1
    assert program.post(at, sent | {"scale_step": 0.25}).json()["scale_step"] == 0.25
    refused = program.post(at, sent | {"scale_step": 0.3}).json()
    assert refused["fields"] == {"scale_step": "Steps of 0.3 do not lead from 0 to 1. Choose one that does."}


def test_template_keeps_steps_and_rejects_impossible_ones(cast: Cast) -> None:
    Dimension.objects.filter(key="clarity").update(dispute_threshold=1.5, tolerance=0.5)
    template = template_of(cast.project)
    again = read_template(to_json(template))
    assert again.dimensions == template.dimensions
    made = create_project(user=cast.admin, name="Another", template=again).dimensions.get(key="clarity")
    assert (made.scale_step, made.dispute_threshold, made.tolerance) == (0.5, 1.5, 0.5)
    content = json.loads(to_json(template))
    content["dimensions"][1]["scale"]["step"] = 0.3
    with pytest.raises(TemplateRefusedError, match=r"dimensions\[1\]\.scale\.step: must divide the scale"):
        read_template(json.dumps(content))
