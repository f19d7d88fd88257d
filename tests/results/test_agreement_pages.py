import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agreement import Coefficient
from annotate.core.models import ComputedResult, Dimension, Dispute
from annotate.disputes.commands.disputes import answer_dispute
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from tests.factories import make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of, csv_of

pytestmark = pytest.mark.django_db

FIRST, SECOND = [1, 2, 3, 4], [1, 2, 3, 2]


def rated(*rows, documents=2):
    """Rate the items with these values, a row for each annotator; return the cast."""
    cast = make_project(documents=documents, annotators=len(rows), raters_per_item=len(rows))
    round = opened(cast)
    for annotator, values in zip(cast.annotators, rows, strict=True):
        for item, value in zip(cast.items, values, strict=True):
            if value is not None:
                rate(cast, round, annotator, item, value)
    return cast


def discuss(cast):
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    return Dispute.objects.order_by("number").first()


@pytest.fixture
def scene(client):
    """Two raters gave 1 2 3 4 and 1 2 3 2; then the first went from 4 to 3. The admin is signed in."""
    cast = rated(FIRST, SECOND)
    dispute = discuss(cast)
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=3)
    client.force_login(cast.admin)
    return client, cast


def address(cast):
    return reverse("results_page", args=[cast.project.slug, "agreement"])


def page(client, cast, **query):
    return client.get(address(cast), query).content.decode()


def only(cast, key, **chosen):
    (row,) = cells_of(cast.project, "agreement", key, **chosen)
    return row


def values(row):
    return {key: cell.value for key, cell in row.items()}


# Both rounds side by side


def test_values_of_both_rounds_are_in_the_first_table(scene):
    # Round I: n = 8, sum 18, squares 48; observed 2 (4 - 2)^2 = 8, expected 2 (8 * 48 - 18^2) = 120,
    # alpha = 1 - 7 * 8 / 120 = 8/15. Round II, with 3 for 4: sum 17, squares 41; observed 2, expected 78,
    # alpha = 1 - 7 * 2 / 78 = 32/39. Three of four units are within one, then all.
    _, cast = scene
    row = only(cast, "rounds")
    assert values(row) == {
        **{"dimension": "Fluency", "level": "interval"},
        **{"round_1_alpha": pytest.approx(8 / 15), "round_1_within_one": 0.75},
        **{"round_1_raters": 2, "round_1_values": 8},
        **{"opened": 1, "settled": 1, "adjudicated": 0, "irresolvable": 0, "left_open": 0},
        **{"round_2_alpha": pytest.approx(32 / 39), "round_2_within_one": 1.0},
        **{"round_2_raters": 2, "round_2_values": 8},
    }
    assert row["round_1_alpha"].count == 4


def test_pairable_units_raters_and_values_count():
    # The third unit has one value, the fourth three: 2 + 2 + 3 values of three raters in three of four units.
    row = only(rated([1, 2, 3, 4], [1, 2, None, 2], [None, None, None, 1]), "rounds")
    assert (row["round_1_alpha"].count, row["round_1_raters"].value, row["round_1_values"].value) == (3, 3, 7)


def test_page_shows_the_values_of_its_files(scene):
    client, cast = scene
    (row,) = csv_of(client, cast.project, "agreement", "rounds")
    html = page(client, cast)
    assert float(row["round_1_alpha"]) == pytest.approx(8 / 15)
    for key in ("round_1_alpha", "round_2_alpha"):
        assert f"{float(row[key]):.2f}" in html
        low, high = (f"{float(row[f'{key}_{end}']):.2f}".replace("-", "−") for end in ("low", "high"))
        assert f"[{low}, {high}]" in html


def test_columns_of_a_missing_round_two_state_it(client):
    cast = rated(FIRST, SECOND)
    client.force_login(cast.admin)
    assert only(cast, "rounds")["round_2_alpha"].reason == "Round II has not been opened."
    assert "Round I is still open: values may change." in page(client, cast)
    close_round_one(project=cast.project, by=cast.admin)
    assert "still open" not in page(client, cast)
    assert only(cast, "rounds")["opened"].value == 1


def test_old_agreement_urls_redirect_to_the_current_page(scene):
    client, cast = scene
    for rest in ("", "fluency/", "rounds.csv", "fluency/round-1-pairs.csv"):
        answer = client.get(f"{reverse('agreement', args=[cast.project.slug])}{rest}", {"drawn": "documents"})
        assert answer.url == f"{address(cast)}?drawn=documents"


# Undefined


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[None] * 4, [None] * 4], "There are no ratings yet."),
        ([FIRST, [None] * 4], "Only one rater gave values; have a second rater rate the same units."),
        ([[1, 2, None, None], [None, None, 3, 4]], "No unit has values from two raters"),
        ([[3] * 4, [3] * 4], "Every value is 3: without variation, agreement cannot be told from chance."),
    ],
)
def test_undefined_value_has_a_reason(client, rows, reason):
    cast = rated(*rows)
    client.force_login(cast.admin)
    assert only(cast, "rounds")["round_1_alpha"].reason.startswith(reason)
    html = page(client, cast)
    assert reason in html
    assert "nan" not in re.sub(r"<[^>]*>", " ", html).split()


def test_missing_interval_has_a_reason():
    row = only(rated([1, None, None, None], [3, None, None, None]), "rounds")
    says = "An interval needs at least two documents with values from two raters."
    assert row["round_1_alpha"].interval_reason == says


@pytest.mark.parametrize(("systems", "drawn"), [(1, "units"), (2, "documents")])
def test_documents_are_resampled_unless_each_has_one_item(systems, drawn):
    cast = make_project(documents=3, systems=systems)
    assert result_of(cast.project, "agreement").chosen == {"drawn": drawn}


# Intervals

# 24 units of 12 documents: enough to resample both.
MANY = [1, 2, 3, 4, 5, 2] * 4, [1, 2, 4, 4, 4, 5] * 4


def test_values_that_round_two_left_alone_have_one_interval():
    cast = rated(*MANY, documents=12)
    assert discuss(cast)
    row = only(cast, "rounds")
    assert row["round_1_alpha"] == row["round_2_alpha"]
    assert row["round_1_alpha"] == only(cast, "alpha")["round_1"]
    assert row["round_1_alpha"] == only(cast, "round-1-alpha")["interval"]


def test_intervals_can_resample_documents(client):
    cast = rated(*[values * 2 for values in MANY], documents=24)
    client.force_login(cast.admin)
    units, documents = (
        only(cast, "rounds", drawn=drawn)["round_1_alpha"] for drawn in ("units", "documents")
    )
    assert "percentile bootstrap of units, 1000 replicates" in units.how
    assert "percentile bootstrap of documents, 1000 replicates" in documents.how
    assert units.value == documents.value
    assert (units.low, units.high) != (documents.low, documents.high)
    assert '<option value="documents" selected>' in page(client, cast, drawn="documents")
    assert client.get(address(cast), {"drawn": "raters"}).status_code == 404


def test_rmse_resamples_what_the_other_coefficients_resample():
    cast = rated(*[values * 2 for values in MANY], documents=24)
    units, documents = (
        only(cast, "round-1-coefficients", drawn=drawn)["rmse"] for drawn in ("units", "documents")
    )
    assert "percentile bootstrap of units, 1000 replicates" in units.how
    assert "percentile bootstrap of documents, 1000 replicates" in documents.how
    assert units.value == documents.value
    assert (units.low, units.high) != (documents.low, documents.high)


def test_rmse_without_interval_names_what_it_needs():
    cast = rated([1, None, None, None], [3, None, None, None])
    assert "at least two units" in only(cast, "round-1-coefficients", drawn="units")["rmse"].interval_reason


# One dimension


def test_a_round_has_every_level_pairs_and_distributions(scene):
    # Nominal: 2, 3, 2, 1 values of a kind among 8; observed 2, expected 64 - 18 = 46, alpha = 1 - 14/46.
    # RMSE sqrt(4/4) = 1, then sqrt(1/4), with the mean of both half of each; by document 0 and sqrt(4/2),
    # then 0 and sqrt(1/2), so 1/sqrt(2) of the pooled one. Spearman: 1 in the first
    # document, -1 in the second, mean 0; after discussion the second has no variation for rater A, so the
    # first alone counts.
    _, cast = scene
    assert only(cast, "round-1-alpha")["nominal"].value == pytest.approx(1 - 14 / 46)
    for number, rmse, rank in ((1, 1.0, 0.0), (2, 0.5, 1.0)):
        pairs = {
            key: {
                row["pair"].value: row["fluency"].value
                for row in cells_of(cast.project, "agreement", f"round-{number}-{key}")
            }
            for key in ("rmse", "rmse-by-document", "spearman", "kendall")
        }
        assert pairs["rmse"] == {
            "Rater A – Rater B": pytest.approx(rmse),
            "mean – Rater A": pytest.approx(rmse / 2),
            "mean – Rater B": pytest.approx(rmse / 2),
        }
        assert pairs["rmse-by-document"] == {
            pair: pytest.approx(pooled / 2**0.5) for pair, pooled in pairs["rmse"].items()
        }
        assert pairs["spearman"]["Rater A – Rater B"] == pytest.approx(rank)
        assert pairs["kendall"]["Rater A – Rater B"] == pytest.approx(rank)
    given = [values(row) for row in cells_of(cast.project, "agreement", "round-1-distribution")]
    assert [[row[f"value_{value}"] for value in range(1, 6)] for row in given] == [
        [2, 3, 2, 1, 0],
        [1, 1, 1, 1, 0],
        [1, 2, 1, 0, 0],
    ]
    assert [row["mean"] for row in given] == [2.25, 2.5, 2.0]


def test_named_categories_have_no_distance_and_the_page_states_it():
    cast = make_project()
    Dimension.objects.update(measurement_level="nominal")
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 2, 2), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    within = only(cast, "rounds")["round_1_within_one"]
    assert within.reason.startswith("Nominal values have no distance")


def test_a_scale_below_zero_has_no_ratio_level():
    cast = make_project()
    Dimension.objects.update(scale_minimum=-2, scale_maximum=2)
    opened(cast)
    assert list(only(cast, "round-1-alpha"))[2:] == ["nominal", "ordinal", "interval"]


# The second computation


def test_every_alpha_is_computed_a_second_time_and_says_by_what(scene):
    _, cast = scene
    alpha = only(cast, "rounds")["round_1_alpha"]
    assert re.search(r"cross checked: by krippendorff \d+\.\d+\.\d+", alpha.how)


def test_value_unconfirmed_by_the_package_has_a_warning_everywhere(scene, monkeypatch, capsys):
    client, cast = scene
    monkeypatch.setattr("krippendorff.alpha", lambda **_data: 0.25)
    html = page(client, cast)
    warning = only(cast, "rounds")["round_1_alpha"].warning
    assert re.match(r"krippendorff \S+ finds 0\.25 where Concord finds 0\.533", warning)
    assert html.count('role="alert"') >= 1
    assert warning in html
    with pytest.raises(SystemExit) as left:
        call_command("agreement", cast.project.slug)
    assert left.value.code == 1
    assert warning in capsys.readouterr().err


# Access, what is sent, queries


def test_researchers_read_what_admins_read(scene):
    client, cast = scene
    before = page(client, cast)
    client.force_login(cast.researcher)
    assert "0.533" in page(client, cast)
    assert "0.533" in before


@pytest.mark.parametrize("who", ["annotator", "outsider"])
def test_user_without_results_access_gets_not_found(scene, who):
    client, cast = scene
    client.force_login(cast.annotators[0].user if who == "annotator" else cast.outsider)
    assert client.get(address(cast)).status_code == 404


def test_raters_appear_under_their_aliases(scene):
    client, cast = scene
    html = page(client, cast)
    for annotator in cast.annotators:
        assert annotator.label not in html


def test_dimension_name_is_escaped(client):
    cast = make_project()
    Dimension.objects.update(name="<b>شكرا</b>")
    opened(cast)
    client.force_login(cast.admin)
    html = page(client, cast)
    assert "<b>" not in html
    assert "&lt;b&gt;شكرا" in html


@pytest.mark.parametrize(("documents", "raters"), [(2, 2), (10, 4)])
def test_queries_are_the_same_whatever_the_number_of_ratings(client, documents, raters):
    values = [[1 + (item + rater * item) % 5 for item in range(2 * documents)] for rater in range(raters)]
    cast = rated(*values, documents=documents)
    assert discuss(cast)
    client.force_login(cast.researcher)
    with CaptureQueriesContext(connection) as computing:
        client.get(address(cast))
    with CaptureQueriesContext(connection) as keeping:
        client.get(address(cast))
    assert (len(computing), len(keeping)) == (28, 11)


# The command


def command(capsys, *arguments):
    call_command("agreement", *arguments)
    return capsys.readouterr().out


def test_command_prints_the_same_values(scene, capsys):
    _, cast = scene
    out = command(capsys, cast.project.slug)
    row = next(line for line in out.splitlines() if line.startswith("| Fluency"))
    assert "0.533" in row
    assert "0.821" in row
    pairs = command(capsys, cast.project.slug, "--table", "round-1-rmse", "--format", "csv")
    assert pairs.startswith("pair,fluency,")
    with pytest.raises(CommandError, match="There is no table 'charm'; there are: rounds, alpha"):
        command(capsys, cast.project.slug, "--table", "charm")


def test_the_commands_json_holds_the_pages_numbers(scene, capsys):
    _, cast = scene
    found = json.loads(command(capsys, cast.project.slug, "--json"))
    tables = {table["key"]: table for section in found["sections"] for table in section["tables"]}
    (row,) = tables["rounds"]["rows"]
    assert row[2]["value"] == only(cast, "rounds")["round_1_alpha"].value
    assert (row[2]["low"], row[2]["high"]) == (
        only(cast, "rounds")["round_1_alpha"].low,
        only(cast, "rounds")["round_1_alpha"].high,
    )
    assert found["chosen"] == {"drawn": "documents"}


def test_command_resamples_units_on_request(capsys):
    cast = rated(*[values * 2 for values in MANY], documents=24)
    found = command(capsys, cast.project.slug, "--json", "--drawn", "units")
    assert "percentile bootstrap of units" in found
    assert "percentile bootstrap of documents" in command(capsys, cast.project.slug, "--json")
    with pytest.raises(CommandError, match="there are: documents, units"):
        command(capsys, cast.project.slug, "--drawn", "raters")


def test_command_explains_undefined_values_of_either_round(capsys):
    cast = rated([1, 3], [3, 3], documents=1)
    dispute = discuss(cast)
    assert "undefined" not in command(capsys, cast.project.slug)
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=3)
    out = command(capsys, cast.project.slug)
    assert "undefined" in out
    assert "Every value is 3: without variation" in out


def test_command_lists_the_existing_projects():
    slugs = sorted(make_project().project.slug for _ in range(2))
    with pytest.raises(CommandError, match=f"there are: {', '.join(slugs)}"):
        call_command("agreement", "no-such-project")


def test_command_reports_missing_measurements():
    with pytest.raises(CommandError, match=r"There is nothing to measure yet\."):
        call_command("agreement", make_project().project.slug)


def test_command_prints_the_stored_result(scene, capsys):
    _, cast = scene
    kept = current_page(project=cast.project, result=result_of(cast.project, "agreement"))
    command(capsys, cast.project.slug)
    assert ComputedResult.objects.get().computed_at == kept.row.computed_at


def test_a_difference_within_rounding_is_no_difference():
    from agreement.alpha import with_comparison
    from agreement.coefficient import Counts

    alpha = Coefficient("alpha", "Alpha", 0.5, Counts(1, 1, 2, 2, 2), "by hand")
    assert with_comparison(alpha, 0.5 + 9e-10).warning == ""
    assert "finds 0.500000002 where" in with_comparison(alpha, 0.5 + 2e-9).warning


def test_nearly_constant_values_add_percent_agreement_and_ac_to_alpha() -> None:
    values = [5] * 11
    cast = rated([*values, 4], [*values, 5], documents=6)
    (row,) = cells_of(cast.project, "agreement", "skewed")
    (alpha,) = cells_of(cast.project, "agreement", "alpha")
    (others,) = cells_of(cast.project, "agreement", "round-1-coefficients")
    assert row["modal_share"].value == pytest.approx(23 / 24)
    assert row["alpha"] == alpha["round_1"]
    assert row["alpha"].value == 0
    assert (row["alpha"].low or 0) < 0.5 < (row["alpha"].high or 0)
    assert "smoothed Bayesian bootstrap of documents" in row["alpha"].how
    assert row["percent_agreement"].value == pytest.approx(11 / 12)
    assert (row["percent_agreement"], row["gwet_ac"]) == (others["percent_agreement"], others["gwet_ac"])


def test_where_values_vary_there_is_no_such_table(scene) -> None:
    _, cast = scene
    found = current_page(project=cast.project, result=result_of(cast.project, "agreement"))
    assert found.table("alpha") is not None
    assert found.table("skewed") is None
