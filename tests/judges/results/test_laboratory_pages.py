"""The laboratory's pages: judges and themselves."""

import csv
from io import StringIO

import pytest
from django.urls import reverse

from tests.factories import make_project
from tests.judges.factories import make_judge, make_judgment
from tests.judges.measured import PEOPLE, RTS, measured_project
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
