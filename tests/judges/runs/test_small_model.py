"""A real model judges the demonstration project from the plan to the comparison with people."""

import json
from functools import partial
from io import StringIO

import pytest
from django.core.management import call_command

from annotate.management.demonstration import load
from annotate.management.demonstration.material import PRODUCTS
from judges.core.models import Judge, Judgment
from tests.judges.factories import make_endpoint, make_judge
from tests.judges.small_model import small_model

pytestmark = [pytest.mark.long, pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def address():
    with small_model() as served:
        yield served


def test_a_small_model_judges_texts_of_the_demonstration_project(address, monkeypatch):
    monkeypatch.setattr(load, "PRODUCTS", PRODUCTS[:1])  # a third: it takes seconds for a text
    project = load.load_demonstration()
    endpoint = make_endpoint(
        project, address, calls_in_flight=1, timeout_seconds=300, input_price=0, output_price=0
    )
    small = partial(make_judge, project, endpoint=endpoint, model="smollm2")
    small("rts", name="reasons", max_tokens=30)
    small("direct", name="probabilities", max_tokens=4, score_from="probabilities")
    small("mcq", name="options", max_tokens=4, score_from="probabilities")
    dimension = project.dimensions.order_by("position").values_list("key", flat=True)[0]
    for name in ("reasons", "probabilities", "options"):
        told = judged(project.slug, name, dimension)
        assert told["status"] == "finished"
        assert told["done"] + told["unreadable"] == told["total"] == 4
        assert float(told["spent"]) == 0
    check_judgments(Judge.objects.get(name="reasons"), Judge.objects.get(name="probabilities"))
    out = StringIO()
    call_command("compare_judges", project.slug, "--json", stdout=out)
    together, *of_each = json.loads(out.getvalue())["sections"]
    assert together["tables"]
    assert {each["title"] for each in of_each} == {"reasons", "probabilities", "options"}


def judged(project, judge, dimension):
    """Let a judge judge one dimension in this process; return what came of it."""
    out = StringIO()
    options = {"judge": [judge], "dimension": [dimension], "here": True, "json": True}
    call_command("judge", project, stdout=out, stderr=StringIO(), **options)
    return json.loads(out.getvalue())["run"]


def check_judgments(reasons, probabilities):
    """Hold what came of it against what a judgment may be, not against what to think of the texts."""
    for judgment in Judgment.objects.all():
        assert judgment.reply
        assert (judgment.input_tokens or 0) > 100
        assert 0 < (judgment.output_tokens or 0) <= judgment.attempts * judgment.judge.max_tokens
        assert judgment.status == "done" or judgment.reason
        assert judgment.value is None or 1 <= judgment.value <= 5
    done = Judgment.objects.filter(status="done")
    assert done.filter(judge=reasons).exists()
    weighed = Judgment.objects.filter(judge=probabilities)
    assert done.filter(judge__name="options").count() == 4
    assert not weighed.filter(reason__contains="The server gave no probabilities").exists()
