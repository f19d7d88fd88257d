"""Ratings as reliability data: whose value stands at the end of each round, and where the gaps are."""

import numpy as np
import pytest

from annotate.core.models import Dimension, Dispute, Round
from annotate.core.rounds import rounds_of
from annotate.disputes.commands.disputes import adjudicate, answer_dispute
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.results.queries import reliability_data as queries
from annotate.results.queries.agreement_page import agreement_sections
from annotate.results.queries.reliability_data import rated_items_of_rounds, reliability_data
from tests.factories import make_project
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db

GAP = np.nan


def carried_through(*rows):
    """Rate the items with these values, a row for each annotator; open Round II; return the cast."""
    cast = make_project(documents=2, systems=2, annotators=len(rows), raters_per_item=len(rows))
    round = opened(cast)
    for annotator, values in zip(cast.annotators, rows, strict=True):
        for item, value in zip(cast.items, values, strict=True):
            if value is not None:
                rate(cast, round, annotator, item, value)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    return cast


def table(cast, number, key="fluency"):
    return reliability_data(rounds_of(cast.project)[number])[key]


def test_round_one_has_its_own_values_with_gaps_for_missing_ones():
    cast = carried_through([1, 4, 2, 5], [3, 4, None, 5], [5, None, None, 4])
    answer_dispute(dispute=Dispute.objects.get(), rater=cast.annotators[0], value=4)
    data = table(cast, 1)
    np.testing.assert_array_equal(data.values, [[1, 4, 2, 5], [3, 4, GAP, 5], [5, GAP, GAP, 4]])
    assert data.raters == ("Rater A", "Rater B", "Rater C")


def test_round_two_has_discussion_values_and_round_one_elsewhere():
    cast = carried_through([1, 4, 2, 5], [3, 4, None, 5], [5, None, None, 4])
    dispute = Dispute.objects.get()
    first, second, _ = cast.annotators
    answer_dispute(dispute=dispute, rater=first, value=2)
    answer_dispute(dispute=dispute, rater=first, value=4)
    answer_dispute(dispute=dispute, rater=second, value=None, comment="Because.")
    np.testing.assert_array_equal(table(cast, 2).values, [[4, 4, 2, 5], [3, 4, GAP, 5], [5, GAP, GAP, 4]])


def test_an_admins_decision_is_nobodys_rating():
    cast = carried_through([1, 4, 2, 5], [5, 4, 2, 5])
    adjudicate(dispute=Dispute.objects.get(), value=3, note="So it is.", by=cast.admin)
    np.testing.assert_array_equal(table(cast, 2).values, [[1, 4, 2, 5], [5, 4, 2, 5]])


def test_units_have_their_document_and_unrated_items_are_no_units():
    cast = carried_through([1, None, 2, 3], [5, None, 2, 3])
    data = table(cast, 1)
    np.testing.assert_array_equal(data.values, [[1, 2, 3], [5, 2, 3]])
    assert data.documents is not None
    assert data.documents.tolist() == [0, 1, 1]


def test_each_dimension_has_a_table_on_its_own_scale():
    cast = make_project(dimensions=("fluency", "coherence"))
    Dimension.objects.filter(key="coherence").update(
        scale_minimum=0, scale_maximum=2, measurement_level="ordinal"
    )
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 3)
    data = reliability_data(round)
    assert list(data) == ["fluency", "coherence"]
    assert data["coherence"].values.shape == (1, 0)
    assert data["coherence"].measurement_level == "ordinal"
    assert data["coherence"].value_domain.tolist() == [0, 1, 2]
    assert data["fluency"].values.tolist() == [[3]]


def test_without_ratings_there_are_no_units_and_no_raters():
    data = reliability_data(opened(make_project()))
    assert data["fluency"].values.shape == (0, 0)


def test_another_projects_ratings_do_not_count():
    carried_through([1, 4, 2, 5], [5, 4, 2, 5])
    cast = make_project(documents=1)
    round = opened(cast)
    rate(cast, round, cast.annotators[1], cast.items[1], 2)
    assert reliability_data(round)["fluency"].values.tolist() == [[2]]


@pytest.mark.parametrize("documents", [1, 6])
def test_two_queries_whatever_the_number_of_ratings(documents, django_assert_num_queries):
    cast = make_project(documents=documents)
    round = opened(cast)
    for annotator in cast.annotators:
        for item in cast.items:
            rate(cast, round, annotator, item, 3)
    found = Round.objects.select_related("guideline").get(pk=round.pk)
    with django_assert_num_queries(2):
        reliability_data(found)


def test_data_unchanged_by_round_two_are_shared_with_equal_values(monkeypatch) -> None:
    cast = carried_through([1, 4, 2, 5], [3, 4, 1, 5], [5, 3, 2, 4])
    rounds = [round for _, round in sorted(rounds_of(cast.project).items())]
    first, second = rated_items_of_rounds(rounds)
    assert first["fluency"] is second["fluency"]
    shared = [section.to_kept() for section in agreement_sections(cast.project, {})]
    with monkeypatch.context() as patch:
        patch.setattr(queries.RatedItems, "holds_the_same_as", lambda _one, _other: False)
        apart = [section.to_kept() for section in agreement_sections(cast.project, {})]
    assert shared == apart
    answer_dispute(dispute=Dispute.objects.get(), rater=cast.annotators[0], value=4)
    first, second = rated_items_of_rounds(rounds)
    assert first["fluency"].data.values[0, 0] == 1
    assert second["fluency"].data.values[0, 0] == 4
