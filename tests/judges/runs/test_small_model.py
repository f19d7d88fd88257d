"""A real model judges the demonstration project, and learns from what people settled, by the commands."""

import json
from dataclasses import replace
from functools import partial
from io import StringIO

import pytest
from django.core.management import call_command

from annotate.core.jobs import run_job
from annotate.management import demonstration
from annotate.management.demonstration import PRODUCTS, SYSTEMS
from annotate.rating.commands.rounds import close_round_one
from judges.core.models import Judge, Judgment
from judges.laboratory.tables.alignment import alignment_sections
from tests.api.client import concord
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint
from tests.judges.small_model import small_model
from tests.rating.rounds import opened, rate

pytestmark = [pytest.mark.long, pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def address():
    with small_model() as served:
        yield served


def test_a_small_model_judges_the_demonstration_project_and_learns(address, monkeypatch):
    # The texts of two systems about one review: the model takes seconds for a text.
    product = replace(PRODUCTS[0], reviews=PRODUCTS[0].reviews[:1], summaries=PRODUCTS[0].summaries[:2])
    monkeypatch.setattr(demonstration, "PRODUCTS", [product])
    monkeypatch.setattr(demonstration, "SYSTEMS", SYSTEMS[:2])
    # Its gold items would be judged, too.
    monkeypatch.setattr(demonstration, "add_practice", lambda _project: None)
    project = demonstration.load_demonstration()
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
        assert told["done"] + told["unreadable"] == told["total"] == 2
        assert float(told["spent"]) == 0
    check_judgments(Judge.objects.get(name="reasons"), Judge.objects.get(name="probabilities"))
    out = StringIO()
    call_command("compare_judges", project.slug, "--json", stdout=out)
    together, *of_each = json.loads(out.getvalue())["sections"]
    assert together["tables"]
    assert {each["title"] for each in of_each} == {"reasons", "probabilities", "options"}
    learn_from_development_documents(address)  # here, so that the model is loaded once


def learn_from_development_documents(address):
    """Draw, judge, let the model draft, accept, judge again, and look at what was held out."""
    cast = make_project(documents=4, systems=1, annotators=2, raters_per_item=2)
    slug, round = cast.project.slug, opened(cast)
    for item in cast.items:
        item.text = f"These boots keep feet dry, and the soles last. Sold by {item.document.key}."
        item.save()
        for annotator in cast.annotators:
            rate(cast, round, annotator, item, 5, comment="Every sentence reads well.")
    close_round_one(project=cast.project, by=cast.admin)
    endpoint = make_priced_endpoint(
        cast.project, address, calls_in_flight=1, timeout_seconds=300, input_price=0, output_price=0
    )
    make_judge(
        cast.project,
        "mcq",
        endpoint=endpoint,
        model="smollm2",
        name="small",
        max_tokens=4,
        score_from="probabilities",
    )
    concord(cast.admin, "development", "add", slug, "--teach", 2, "--select", 0)
    assert judged(slug, "small", "fluency")["done"] == 4
    whose = ("--judge", cast.project.judges.get(name="small").pk, "--dimension", "fluency")
    drafting = concord(cast.admin, "draftings", "add", slug, *whose, "--count", 1)["drafting"]["id"]
    concord(cast.admin, "draftings", "start", slug, drafting)
    run_job("drafting", drafting)
    (proposal,) = concord(cast.admin, "proposals", "list", slug)
    assert (proposal["status"], len(proposal["units"])) == ("proposed", 2)
    candidate = concord(cast.admin, "proposals", "accept", slug, proposal["id"])["candidate"]
    assert judged(slug, Judge.objects.get(pk=candidate).name, "fluency")["done"] == 4
    section, _ = alignment_sections(cast.project, {"judge": str(cast.project.judges.get(name="small").pk)})
    (table,) = section.tables
    (row,) = table.rows
    cells = dict(zip([column.key for column in table.columns], row, strict=True))
    assert (cells["select_items"].value, cells["items"].value) == (0, 2)
    assert cells["after"].value != cells["before"].value, "what was accepted stands in the prompt"


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
    assert done.filter(judge__name="options").count() == 2
    assert not weighed.filter(reason__contains="The server gave no probabilities").exists()
