"""Judges of numbers in a project that also asks questions of every other kind."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.guidelines import current_guideline
from annotate.core.models import Item, System
from annotate.exports.formats.text import export_table
from annotate.exports.registry import TABLES
from annotate.questions import KINDS
from judges.core.errors import RunRefusedError
from judges.core.models import Judgment
from judges.core.specification import Scope
from judges.results.queries.scores import material_of
from judges.runs.queries.plans import plan_of
from judges.runs.queries.samples import all_pairs
from tests.factories import Cast
from tests.judges.factories import make_answers, make_endpoint, make_judge
from tests.judges.pages import address, answers_of_tabs
from tests.judges.provider import providing
from tests.judges.questions.projects import answer_everything, make_mixed_project
from tests.judges.running import running, statuses, worked

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client: Client) -> Cast:
    cast = make_mixed_project()
    answer_everything(cast)
    client.force_login(cast.admin)
    return cast


def judge_the_scale(cast: Cast) -> None:
    """Give every output a value by an RTS and an MCQ judge of one model."""
    for method, name in (("rts", "Reasoner"), ("mcq", "Chooser")):
        judge = make_judge(cast.project, method, name=name, model="m")
        make_answers(judge, [(item, cast.dimensions[0], 1 + item.pk % 5) for item in cast.items])


@pytest.mark.django_db(transaction=True)
def test_an_rts_judge_runs() -> None:
    cast = make_mixed_project(documents=1)
    with providing() as provider:
        judge = make_judge(cast.project, endpoint=make_endpoint(cast.project, provider.base_url))
        run = worked(running(cast.project, judge, dimensions=["fluency"]))
    assert (run.status, statuses(run)) == ("finished", {"done": 3})
    assert set(Judgment.objects.values_list("value", "data")) == {(4.0, None)}


def test_the_project_has_every_kind_of_question(cast: Cast) -> None:
    assert {each.kind for each in current_guideline(cast.project).dimensions} == KINDS.keys() - {"category"}


def test_judge_of_scales_covers_outputs_only(cast: Cast) -> None:
    judge = make_judge(cast.project)
    plan = plan_of(cast.project, Scope([judge], ["fluency"]))
    assert plan.judgments == len(cast.items) == 9
    run = running(cast.project, judge, dimensions=["fluency"])
    asked = Judgment.objects.filter(run=run).values_list("item", flat=True)
    assert sorted(asked) == sorted(item.pk for item in cast.items)


def test_judge_of_scales_is_rejected_for_other_kinds(cast: Cast) -> None:
    judge = make_judge(cast.project)
    for kind in sorted(KINDS.keys() - {"scale", "category"}):
        (problem,) = plan_of(cast.project, Scope([judge], [kind])).problems
        assert "has no scale" in problem, kind
        with pytest.raises(RunRefusedError, match="has no scale"):
            running(cast.project, judge, dimensions=[kind])


def test_a_judge_of_several_dimensions_asks_about_the_scales(cast: Cast) -> None:
    judge = make_judge(cast.project, "several")
    plan = plan_of(cast.project, Scope([judge], ["fluency"]))
    assert (plan.problems, plan.calls) == ([], 9)


def test_pairs_of_systems_leave_comparisons_out(cast: Cast) -> None:
    compared = System.objects.filter(project=cast.project, compares=True)
    assert compared.count() == 4
    assert len(all_pairs(cast.project)) == 3


def test_material_holds_outputs_and_scales(cast: Cast) -> None:
    material = material_of(cast.project, None, current_guideline(cast.project))
    assert [each.key for each in material.dimensions] == ["fluency"]
    outputs = Item.objects.filter(kind="output").count()
    assert len(material.items) == outputs < Item.objects.count()


def test_results_pages_of_judges_show_the_scale(client: Client, cast: Cast) -> None:
    judge_the_scale(cast)
    for page in ("judges", "reliability", "estimates", "replacement", "trust", "biases", "self-consistency"):
        url = reverse("results_page", args=[cast.project.slug, page])
        for answer in answers_of_tabs(client, url):
            assert answer.status_code == 200, page
            said = answer.content.decode().casefold()
            assert "fluency" in said or "biases of" in said, page  # dimensions without a finding are counted


PAGES = (
    *("", "routing/", "routing/new/", "certificates/", "certificates/new/", "runs/new/", "metrics/"),
    *("align/", "new/"),
)


def test_pages_of_judges_open(client: Client, cast: Cast) -> None:
    judge_the_scale(cast)
    for path in PAGES:
        answer = client.get(address(cast, path))
        assert answer.status_code == 200, path
        if path in ("routing/new/", "certificates/new/"):
            assert 'value="spans"' not in answer.content.decode(), path
            assert "r-spans" not in answer.content.decode(), path


def test_a_routing_policy_and_a_certificate_are_about_the_scale(client: Client, cast: Cast) -> None:
    judge_the_scale(cast)
    first = client.get(address(cast, "routing/new/"))
    assert "r-fluency" in first.content.decode()
    assert 'value="fluency"' in client.get(address(cast, "certificates/new/")).content.decode()


def test_judgments_are_exported(cast: Cast) -> None:
    judge_the_scale(cast)
    for table in ("judges", "runs", "judgments", "judgment_changes", "indicators", "certificates", "metrics"):
        lines = b"".join(export_table(cast.project, TABLES[table], "jsonl")).decode()
        rows = [json.loads(line) for line in lines.split("\n") if line]
        assert {row["dimension"] for row in rows if "dimension" in row} <= {"fluency"}
        assert len(rows) == {"judgments": 18, "judges": 2, "runs": 2, "indicators": 3}.get(table, 0)
