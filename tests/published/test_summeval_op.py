"""What is published about Round I of SummEval-OP comes out of the product's own import and report."""

import csv
import json
from io import StringIO
from itertools import combinations

import numpy as np
import pytest
from django.core.management import call_command

from annotate.core.models import Assignment, Dispute, Item, Membership, Rating, RatingChange
from annotate.rating.commands.rounds import close_round_one
from tests.factories import make_user
from tests.published.summeval_op import imported
from tests.reference import reference_data

pytestmark = [pytest.mark.once, pytest.mark.django_db]

DIMENSIONS = {
    "fl": "fluency",
    "co": "coherence",
    "re": "relevance",
    "fa": "faithfulness",
    "ac": "aspect coverage",
    "sc": "sentiment consistency",
    "sp": "specificity",
}


def test_imported_release_reproduces_the_published_round_one_values():
    project = imported(make_user())
    assert (Item.objects.count(), Rating.objects.count()) == (416, 8736)
    assert RatingChange.objects.filter(cause="imported").count() == 8736
    assert set(Assignment.objects.values_list("plan", "inclusion_probability")) == {("imported", 1.0)}
    close_round_one(project=project, by=None)
    units = [row for row in published() if row["quantity"] == "units_with_range_2_or_more"]
    assert Dispute.objects.count() == sum(int(row["recomputed"]) for row in units) == 1030
    tables, labels = reported(project)
    check_published_figures(tables, labels)
    check_rmse_of_table_7(tables, labels)


def reported(project):
    """Ask the command for everything; return its tables, and the raters' names in the release."""
    out = StringIO()
    call_command("agreement", project.slug, "--json", stdout=out)
    labels = dict(Membership.objects.filter(project=project).values_list("alias", "label"))
    sections = json.loads(out.getvalue())["sections"]
    tables = {table["key"]: table for section in sections for table in section["tables"]}
    return tables, {f"Rater {alias}": label for alias, label in labels.items()}


def published():
    path = reference_data() / "published" / "summeval_op_round1.csv"
    return list(csv.DictReader(path.read_text().splitlines()))


def check_published_figures(tables, labels):
    compared = 0
    for row in published():
        if row["quantity"] == "units_with_range_2_or_more":
            continue
        cell = figure(tables, row, labels)
        assert cell["value"] == pytest.approx(float(row["recomputed"]), abs=5e-7), row
        assert cell["low"] < cell["value"] < cell["high"]
        if row["quantity"] == "krippendorff_alpha":
            assert cell["count"] == 416
            assert "cross checked: by krippendorff" in cell["how"]
        compared += 1
    assert compared == 7 * (4 + 3 + 12)


def check_rmse_of_table_7(tables, labels):
    """A1 and A3 on fluency: 1.00 in the paper; every other cell by NumPy from the release alone."""
    path = reference_data() / "summeval_op" / "summeval-op-detailed.jsonl"
    products = [json.loads(line) for line in path.read_text().splitlines()]
    row = {"quantity": "", "coefficient": "rmse-by-document", "dimension": "fluency", "raters": "A1-A3"}
    assert round(figure(tables, row, labels)["value"], 2) == 1.00
    for key, dimension in DIMENSIONS.items():
        values = np.array([product[key] for product in products])
        for one, other in combinations(range(3), 2):
            expected = np.sqrt(np.square(values[..., one] - values[..., other]).mean(axis=1)).mean()
            cell = figure(
                tables, {**row, "dimension": dimension, "raters": f"A{one + 1}-A{other + 1}"}, labels
            )
            assert cell["value"] == pytest.approx(expected, abs=1e-12)


def figure(tables, row, labels):
    """Return the cell of a published figure."""
    dimension = row["dimension"].replace(" ", "-")
    if row["quantity"] == "krippendorff_alpha":
        table = tables["round-1-alpha"]
        (cells,) = (each for each in table["rows"] if each[0]["key"] == dimension)
        return cells[[column["key"] for column in table["columns"]].index(row["coefficient"])]
    table = tables[f"round-1-{'rmse' if row['quantity'] == 'rmse' else row['coefficient']}"]
    column = [each["key"] for each in table["columns"]].index(dimension)
    for line in table["rows"]:
        if "-".join(labels.get(each, each) for each in line[0]["value"].split(" – ")) == row["raters"]:
            return line[column]
    raise AssertionError(row)
