"""Results by metadata: means over documents and alpha for each value of a column."""

from statistics import mean

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from agreement import ReliabilityData, krippendorff_alpha
from annotate.core.models import Item
from annotate.results.queries import by_system
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db

VALUES = {0: [1, 2, 3, 4, 5, 4], 1: [1, 2, 3, 2, 4, 4], 2: [2, 2, 3, 4, 5, 5]}
GENRES = ("news", "news", "blog")


@pytest.fixture
def cast() -> Cast:
    """Three raters on two items of each document; two documents are news, and the first item has a note."""
    made = make_project(documents=3, systems=2, annotators=3)
    for number, item in enumerate(made.items):
        item.document.metadata = {"genre": GENRES[number // 2]}
        item.document.save()
        item.metadata = {"length": 7} if number == 0 else {"length": 8}
        item.save()
    round = opened(made)
    for index, values in VALUES.items():
        for item, value in zip(made.items, values, strict=True):
            rate(made, round, made.annotators[index], item, value)
    return made


def test_means_are_over_the_documents_with_a_value(cast: Cast) -> None:
    rows = cells_of(cast.project, "metadata", "means", column="genre")
    scores = [mean(values[item] for values in VALUES.values()) for item in range(6)]
    documents = [mean(scores[2 * number : 2 * number + 2]) for number in range(3)]
    found = {row["metadata"].value: row["fluency"] for row in rows}
    assert found["blog"].value == pytest.approx(documents[2])
    assert found["news"].value == pytest.approx(mean(documents[:2]))
    assert (found["blog"].count, found["news"].count) == (1, 2)
    assert [row["items"].value for row in rows] == [2, 4]


def test_alpha_of_a_value_matches_its_units(cast: Cast) -> None:
    rows = cells_of(cast.project, "metadata", "round-1-by-metadata", column="length")
    found = {row["metadata"].value: row["fluency"] for row in rows}
    values = np.array(list(VALUES.values()), dtype=float)[:, 1:]
    level = cast.project.dimensions.get().measurement_level
    data = ReliabilityData(values, measurement_level=level, value_domain=[1, 2, 3, 4, 5])
    alpha = krippendorff_alpha(data)
    assert found["8"].value == pytest.approx(alpha.value)
    assert found["7"].interval_reason  # one document


def test_rare_values_and_missing_ones_share_a_row(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_system, "MOST_VALUES", 1)
    Item.objects.filter(pk=cast.items[0].pk).update(metadata={})
    rows = cells_of(cast.project, "metadata", "means", column="length")
    assert [row["metadata"].value for row in rows] == ["8", "all others"]


def test_project_without_metadata_lists_the_missing_data(client: Client) -> None:
    cast = make_project()
    opened(cast)
    client.force_login(cast.researcher)
    page = client.get(reverse("results_page", args=[cast.project.slug, "metadata"]))
    assert "No document or item has metadata." in page.content.decode()
