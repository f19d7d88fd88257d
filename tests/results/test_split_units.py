"""Units that split raters: counted by dimension, listed with values and reasons, in files and in the API."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import Dispute
from annotate.disputes.commands.disputes import answer_dispute
from annotate.rating.commands.rounds import close_round_one, open_round_two
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import csv_of

pytestmark = pytest.mark.django_db

SPLIT, NOISY = 0, 1


@pytest.fixture
def cast() -> Cast:
    return split_panel()


def split_panel(documents: int = 20) -> Cast:
    """Return a project whose raters differ by a point at most, but for one unit that they keep as 1, 5, 5."""
    made = make_project(documents=documents, systems=2, annotators=3)
    round = opened(made)
    for index, item in enumerate(made.items):
        middle = 2 + index % 3
        values = [middle, middle + (index % 7 == NOISY), middle - (index % 5 == NOISY)]
        values = [1, 5, 5] if index == SPLIT else values
        for annotator, value in zip(made.annotators, values, strict=True):
            rate(made, round, annotator, item, value, comment=f"Because of {value}." if value == 5 else "")
    close_round_one(project=made.project, by=made.admin)
    open_round_two(project=made.project, by=made.admin)
    dispute = Dispute.objects.get(item=made.items[SPLIT])
    answer_dispute(dispute=dispute, rater=made.annotators[0], value=None, comment="It is no sentence.")
    return made


def listed(client: Client, cast: Cast, **query: str) -> str:
    client.force_login(cast.researcher)
    url = reverse("disagreements", args=[cast.project.slug])
    return client.get(url, {"between": "split", **query}).content.decode()


def test_split_unit_is_listed_with_values_reasons_and_test(client: Client, cast: Cast) -> None:
    html = listed(client, cast)
    first, *others = html.split('<article class="worst">')[1:]
    assert cast.items[SPLIT].text[:30] in first
    for value in (1, 5):
        assert f"<strong>{value}</strong>" in first
    assert "It is no sentence." in first
    assert first.count("Because of 5.") == 2
    assert '<span class="pill">splits raters</span>' in first
    assert others == []


def test_panel_without_split_units_lists_none_as_split(client: Client) -> None:
    made = make_project(documents=12, systems=2, annotators=3)
    round = opened(made)
    for index, item in enumerate(made.items):
        for rater, annotator in enumerate(made.annotators):
            rate(made, round, annotator, item, 1 + (index + (index % 3 == rater) * (1 + index % 2)) % 5)
    close_round_one(project=made.project, by=made.admin)
    html = listed(client, made)
    assert "splits raters" not in html
    assert "noise explains it" in html


def test_filters_select_by_dimension_document_and_gap(client: Client, cast: Cast) -> None:
    own, other = cast.items[SPLIT].document.key, cast.items[-1].document.key
    wanted: list[tuple[dict[str, str], int]] = [
        ({"document": own}, 1),
        ({"document": other}, 0),
        ({"apart": "4"}, 1),
        ({"apart": "5"}, 0),
        ({"dimension": "fluency"}, 1),
    ]
    for query, units in wanted:
        assert listed(client, cast, **query).count('<article class="worst">') == units, query


def test_file_has_values_reasons_and_test(client: Client, cast: Cast) -> None:
    client.force_login(cast.researcher)
    url = reverse("disagreements_file", args=[cast.project.slug])
    answer = client.get(url, {"between": "split"})
    (row,) = csv.DictReader(io.StringIO(answer.content.decode(), newline=""))
    assert row["values"] == "Rater A: 1; Rater B: 5; Rater C: 5"
    assert row["reasons"].startswith("Rater A: It is no sentence.; Rater B: Because of 5.")
    assert (row["mark"], row["text"]) == ("splits raters", cast.items[SPLIT].text)


def test_agreement_counts_and_lists_the_same_units(client: Client, cast: Cast) -> None:
    client.force_login(cast.researcher)
    (counted,) = csv_of(client, cast.project, "agreement", "splits")
    assert (counted["units"], counted["camps"], counted["split"]) == (str(len(cast.items)), "1", "1")
    assert 0 <= float(counted["severity"]) < 1
    (row,) = csv_of(client, cast.project, "agreement", "split-units")
    assert (row["lower"], row["upper"]) == ("Rater A 1", "Rater B 5; Rater C 5")
    assert float(row["variance"]) == pytest.approx(16 / 3)
    assert float(row["p"]) < float(row["p_adjusted"]) < 0.05
    assert row["split"] == "yes"


def test_value_that_discussion_changed_is_no_split(client: Client, cast: Cast) -> None:
    dispute = Dispute.objects.get(item=cast.items[SPLIT])
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=5, comment="I see.")
    assert "splits raters" not in listed(client, cast)


def test_two_raters_get_the_reason(client: Client) -> None:
    made = make_project(documents=10, systems=2, annotators=2, raters_per_item=2)
    round = opened(made)
    for index, item in enumerate(made.items):
        for annotator in made.annotators:
            rate(made, round, annotator, item, 1 + index % 5)
    close_round_one(project=made.project, by=made.admin)
    assert "have a third rater rate the same units" in listed(client, made)
