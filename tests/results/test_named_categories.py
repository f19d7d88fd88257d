"""Named categories have shares by system, not means, ranks or quartiles."""

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import Dimension, ScalePoint
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db

LABELS = ("Nothing", "Slips", "Nonsense")


def rated_by_name(*, level: str = "nominal", documents: int = 20) -> Cast:
    """Two raters who agree: one system has nothing wrong but in two documents, the other slips in all."""
    cast = make_project(documents=documents, annotators=2, raters_per_item=2)
    dimension = cast.dimensions[0]
    Dimension.objects.filter(pk=dimension.pk).update(measurement_level=level, scale_maximum=3)
    ScalePoint.objects.filter(dimension=dimension).delete()
    for value, label in enumerate(LABELS, start=1):
        ScalePoint.objects.create(dimension=dimension, value=value, label=label)
    round = opened(cast)
    for item in cast.items:
        second = item.system.name == "system-2"
        few = list(cast.project.documents.order_by("pk"))[:2]
        for annotator in cast.annotators:
            rate(cast, round, annotator, item, 2 if second or item.document in few else 1)
    return cast


def test_categories_have_shares_with_intervals_and_no_means() -> None:
    cast = rated_by_name()
    page = current_page(project=cast.project, result=result_of(cast.project, "systems"))
    assert [table.key for table in page.tables] == ["shares", "share-differences"]
    shares = {
        (row["category"].value, row["system"].value): row["share"]
        for row in cells_of(cast.project, "systems", "shares")
    }
    assert [shares[label, "system-1"].value for label in LABELS] == pytest.approx([0.9, 0.1, 0])
    assert [shares[label, "system-2"].value for label in LABELS] == pytest.approx([0, 1, 0])
    one = shares["Nothing", "system-1"]
    assert (one.low or 0) < 0.9 < (one.high or 0)
    assert one.count == 20


def test_differences_of_shares_are_paired_and_corrected_over_all_categories() -> None:
    found = {
        row["category"].value: row
        for row in cells_of(rated_by_name().project, "systems", "share-differences")
    }
    d = np.array([0.0] * 2 + [1.0] * 18)
    reach = 2.093024 * d.std(ddof=1) / np.sqrt(20)
    nothing = found["Nothing"]
    assert [nothing["difference"].value, nothing["difference"].low] == pytest.approx(
        [0.9, 0.9 - reach], abs=1e-6
    )
    assert found["Slips"]["difference"].value == pytest.approx(-0.9)
    assert (
        nothing["p_adjusted"].value == found["Slips"]["p_adjusted"].value
    )  # of two tests, twice the smaller p
    assert found["Nonsense"]["p_adjusted"].reason == "Both have the same score on every document."


def test_ordered_dimensions_keep_their_means(client: Client) -> None:
    cast = rated_by_name(level="ordinal")
    page = current_page(project=cast.project, result=result_of(cast.project, "systems"))
    assert page.table("shares") is None
    assert page.table("means") is not None
    client.force_login(cast.researcher)
    assert client.get(reverse("results_page", args=[cast.project.slug, "systems"])).status_code == 200


def test_agreement_page_compares_rater_models_with_the_majority() -> None:
    cast = make_project(documents=10, annotators=3, raters_per_item=3)
    dimension = cast.dimensions[0]
    Dimension.objects.filter(pk=dimension.pk).update(measurement_level="nominal", scale_maximum=2)
    ScalePoint.objects.filter(dimension=dimension).delete()
    for value, label in enumerate(LABELS[:2], start=1):
        ScalePoint.objects.create(dimension=dimension, value=value, label=label)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for index, annotator in enumerate(cast.annotators):
            # The third rater says "Slips" whatever the text is; the others differ on one item.
            rate(cast, round, annotator, item, 2 if index == 2 or (index and number == 0) else 1 + number % 2)
    found = {row["category"].value: row for row in cells_of(cast.project, "agreement", "categories-of-units")}
    assert found["Nothing"]["majority"].value == pytest.approx(9 / 20)
    assert found["Nothing"]["raters"].value == pytest.approx(19 / 60)
    assert (found["Nothing"]["dawid_skene"].value or 0) > 0.4
    raters = cells_of(cast.project, "agreement", "raters-of-categories")
    knows = [row["competence"].value or 0 for row in raters]
    assert max(knows) == knows[0]
    assert min(knows) == knows[2]
    assert knows[2] < 0.1
    third = list(cells_of(cast.project, "agreement", "confusion-of-raters"))[-2:]
    assert [(row["true"].value, row["given"].value, row["probability"].value) for row in third] == [
        ("Nothing", "Slips", pytest.approx(1)),
        ("Slips", "Slips", pytest.approx(1)),
    ]


def test_of_two_raters_there_is_a_majority_and_no_model() -> None:
    found = cells_of(rated_by_name().project, "agreement", "categories-of-units")
    assert [row["majority"].value for row in found] == pytest.approx([0.45, 0.55, 0])
    assert "2 raters gave values" in found[0]["mace"].reason
