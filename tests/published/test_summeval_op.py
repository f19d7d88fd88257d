"""What is published about Round I of SummEval-OP comes out of the product's own import and report."""

import csv
import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils.text import slugify

from annotate.commands.rounds import close_round_one
from annotate.models import Assignment, Dispute, Item, Membership, Rating, RatingChange
from annotate.queries.results.agreement import agreement_sections
from tests.factories import make_user
from tests.published.summeval_op import imported
from tests.reference import reference_data

pytestmark = pytest.mark.django_db

CORRELATIONS = {"spearman": "spearman_within_documents", "kendall": "kendall_tau_b_within_documents"}


@pytest.fixture(scope="module")
def reported(django_db_setup, django_db_blocker):
    """Import, close Round I and ask the command for everything, once for all tests of this module."""
    with django_db_blocker.unblock(), transaction.atomic():
        project = imported(make_user())
        close_round_one(project=project, by=None)
        out = StringIO()
        call_command("agreement", project.slug, "--json", stdout=out)
        tables = {each.key: each for part in agreement_sections(project, "units") for each in part.tables}
        labels = dict(Membership.objects.filter(project=project).values_list("alias", "label"))
        counts = {
            "items": Item.objects.count(),
            "ratings": Rating.objects.count(),
            "history": RatingChange.objects.filter(cause="imported").count(),
            "assignments": set(Assignment.objects.values_list("plan", "inclusion_probability")),
            "disputes": Dispute.objects.count(),
        }
        transaction.set_rollback(True)
    by_dimension = {each["dimension"]: each for each in json.loads(out.getvalue())["dimensions"]}
    return by_dimension, {f"Rater {alias}": label for alias, label in labels.items()}, counts, tables


def published():
    path = reference_data() / "published" / "summeval_op_round1.csv"
    return list(csv.DictReader(path.read_text().splitlines()))


def test_the_release_is_imported_whole(reported):
    _, _, counts, _ = reported
    assert (counts["items"], counts["ratings"], counts["history"]) == (416, 8736, 8736)
    assert counts["assignments"] == {("imported", 1.0)}


def test_closing_round_one_opens_a_dispute_for_each_unit_two_or_more_apart(reported):
    units = [row for row in published() if row["quantity"] == "units_with_range_2_or_more"]
    assert reported[2]["disputes"] == sum(int(row["recomputed"]) for row in units) == 1030


def test_every_published_figure_is_what_the_report_says(reported):
    by_dimension, labels, _, _ = reported
    compared = 0
    for row in published():
        if row["quantity"] == "units_with_range_2_or_more":
            continue
        detail = by_dimension[row["dimension"].replace(" ", "-")]
        assert figure(detail, row, labels) == pytest.approx(float(row["recomputed"]), abs=5e-7), row
        compared += 1
    assert compared == 7 * (4 + 3 + 12)


def test_the_tables_of_the_results_pages_say_the_same(reported):
    _, labels, _, tables = reported
    compared = 0
    for row in published():
        dimension = row["dimension"].replace(" ", "-")
        if row["quantity"] == "krippendorff_alpha":
            levels = tables["round-1-alpha"]
            (found,) = (each for each in levels.rows if slugify(each[0].value) == dimension)
            cell = found[[column.key for column in levels.columns].index(row["coefficient"])]
        elif row["quantity"] == "rmse" and not row["raters"].startswith("mean"):
            pairs = tables["round-1-rmse"]
            column = [each.key for each in pairs.columns].index(dimension)
            found = {
                "-".join(labels[each] for each in line[0].value.split(" – ")): line for line in pairs.rows
            }
            cell = found[row["raters"]][column]
        else:
            continue
        assert cell.value == pytest.approx(float(row["recomputed"]), abs=5e-7), row
        assert cell.low < cell.value < cell.high
        compared += 1
    assert compared == 7 * (4 + 3)


def figure(detail, row, labels):
    if row["quantity"] == "krippendorff_alpha":
        alpha = detail["krippendorff_alpha"][row["coefficient"]]
        assert alpha["counts"]["pairable_units"] == 416
        assert alpha["interval"]["low"] < alpha["value"] < alpha["interval"]["high"]
        return alpha["value"]
    table = "rmse" if row["quantity"] == "rmse" else CORRELATIONS[row["coefficient"]]
    pairs = {
        (labels.get(each["first"], each["first"]), labels[each["second"]]): each["value"]
        for each in detail[table]
    }
    first, second = row["raters"].split("-")
    return pairs[first, second]
