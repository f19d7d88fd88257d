"""The laboratory's pages: judges and themselves."""

import csv
from io import StringIO

import pytest
from django.urls import reverse

from annotate.core.models import ItemTag
from tests.factories import make_project
from tests.judges.factories import make_judge, make_judgment, make_metric
from tests.judges.measured import MCQ, PEOPLE, RTS, measured_project
from tests.judges.pages import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client):
    """People and two judges of one model, of which the first was asked three times."""
    cast = measured_project(people=PEOPLE)
    judge = cast.project.judges.get(name="Reasoner")
    for sample in (1, 2):
        for value, item in zip(RTS, cast.items, strict=True):
            other = 6 - value if sample == 2 and item == cast.items[0] else value
            make_judgment(judge, item, cast.dimensions[0], value=other, sample=sample)
    client.force_login(cast.admin)
    return cast


def page_of(cast, name="laboratory"):
    return reverse("results_page", args=[cast.project.slug, name])


def rows(client, cast, key, name="laboratory", **chosen):
    answer = client.get(reverse("result_file", args=[cast.project.slug, name, key, "csv"]), chosen)
    assert answer.status_code == 200
    return list(csv.DictReader(StringIO(answer.content.decode())))


def test_judges_that_were_asked_once_say_what_self_agreement_needs(client, cast):
    once, repeated = sorted(rows(client, cast, "self-agreement"), key=lambda row: row["samples"])
    assert (once["judge"], once["alpha"]) == ("Chooser", "")
    assert "more than once" in once["alpha_reason"]
    # Eleven of twelve items have the same value thrice, of the first only one pair of three is the same.
    assert float(repeated["repeated"]) == pytest.approx((11 + 1 / 3) / 12)
    assert float(repeated["among_people"]) == pytest.approx(float(once["among_people"]))


def test_variants_of_a_model_say_what_differs(client, cast):
    (row,) = rows(client, cast, "variants")
    assert (row["judge"], row["variant"]) == ("Chooser", "Reasoner")
    assert row["differ"].startswith("method: ")
    other = make_judge(cast.project, name="Other model", model="another")
    make_judgment(other, cast.items[0], cast.dimensions[0])
    assert len(rows(client, cast, "variants")) == 1


def test_the_curve_ends_with_the_figure_of_the_page_of_judges(client, cast):
    for level, column in (("dataset", "spearman_dataset"), ("document", "spearman_document")):
        judge = cast.project.judges.get(name="Reasoner")
        curve = rows(client, cast, f"curve-{judge.pk}", level=level)
        assert [row["number"] for row in curve] == ["1", "2", "3"]
        correlations = {row["judge"]: row for row in rows(client, cast, "correlations", "judges")}
        assert curve[-1]["quality"] == pytest.approx(correlations["Reasoner"][column])
        assert curve[-1]["gain_reason"] == "These are all samples."
    (row,) = rows(client, cast, "samples")
    assert (row["judge"], row["samples"]) == ("Reasoner", "3")


def test_a_project_without_judges_or_samples_gets_a_sentence(client):
    cast = make_project()
    client.force_login(cast.admin)
    assert "There is no judge yet" in text_of(client.get(page_of(cast)))
    make_judge(cast.project)
    words = text_of(client.get(page_of(cast)))
    assert "No judge was asked more than once" in words
    assert "No judge that gives values has judgments yet" in words


def test_an_annotator_does_not_see_it(client, cast):
    client.force_login(cast.annotators[0].user)
    assert client.get(page_of(cast)).status_code == 404


def test_biases_are_found_with_controls_and_what_is_missing_is_said(client, cast):
    (fluency, *_) = rows(client, cast, "severity", "biases")
    assert fluency["judge"] == "Chooser"
    assert float(fluency["severity_control_low"]) <= float(fluency["severity_control_high"])
    found = {row["judge"]: row for row in rows(client, cast, "biases", "biases")}
    assert "for its own family" in found["Chooser"]["unknown"]
    assert "SD of samples" in found["Chooser"]["unknown"]
    assert "SD of samples" not in found["Reasoner"]["unknown"]
    words = text_of(client.get(page_of(cast, "biases")))
    assert "A judge that compares two texts" in words
    assert "“perplexity” in its name" in words
    assert "tag the items of a system with its family" in words


def test_severity_is_the_bias_of_the_page_of_judges(client, cast):
    severe = {row["judge"]: row["severity"] for row in rows(client, cast, "severity", "biases")}
    biases = {row["judge"]: row["bias"] for row in rows(client, cast, "differences", "judges")}
    assert severe == biases


def test_families_are_tags_of_items_that_occur_in_the_model_s_name(client, cast):
    assert "tag the items" in text_of(client.get(page_of(cast, "biases")))
    for item in cast.items:
        family = "family: GPT" if item.system.name.endswith("1") else "family: llama"
        ItemTag.objects.create(item=item, name=family)
    values = {row["judge"]: row for row in rows(client, cast, "self-preference", "biases")}
    # Of every document the first text is system 1's.
    errors = [said - (one + other) / 2 for said, one, other in zip(RTS, *PEOPLE, strict=True)]
    own, others = errors[::3], [error for place, error in enumerate(errors) if place % 3]
    # Its first item was given twice 1 and once 5.
    errors_of_first = (1 + 1 + 5) / 3 - 1.5
    own[0] = errors_of_first
    wanted = sum(own) / len(own) - sum(others) / len(others)
    assert float(values["Reasoner"]["self_preference"]) == pytest.approx(wanted)


def test_a_perplexity_that_was_imported_gives_familiarity(client, cast):
    make_metric(cast, [2.0 + number for number in range(len(cast.items))], name="Perplexity, small model")
    found = rows(client, cast, "familiarity", "biases")
    assert [row["judge"] for row in found] == ["Chooser", "Reasoner"]


def test_options_in_reverse_order_show_what_their_order_does(client, cast):
    backwards = make_judge(cast.project, "mcq_reversed", name="Backwards")
    chooser = cast.project.judges.get(name="Chooser")
    for judgment in chooser.judgments.all():
        make_judgment(backwards, judgment.item, cast.dimensions[0], value=min(5, judgment.value + 1))
    (row,) = rows(client, cast, "options", "biases")
    assert row["judge"] == "Chooser"
    moved = [min(5, value + 1) - value for value in MCQ]
    assert float(row["shift"]) == pytest.approx(sum(moved) / len(moved) / 2)
    assert float(row["changed"]) == pytest.approx(sum(move > 0 for move in moved) / len(moved))


def test_without_judges_biases_are_a_sentence(client):
    cast = make_project()
    client.force_login(cast.admin)
    assert "There is no judge yet" in text_of(client.get(page_of(cast, "biases")))
    make_judge(cast.project)
    assert client.get(page_of(cast, "biases")).status_code == 200
