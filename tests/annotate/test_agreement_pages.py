import csv
import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.commands.disputes import answer_dispute
from annotate.commands.rounds import close_round_one, open_round_two
from annotate.models import Dimension, Dispute
from annotate.queries.agreement import agreement_table, dimension_details
from annotate.templatetags.figures import decimals
from tests.annotate.rounds import opened, rate
from tests.factories import make_project

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


def page(client, cast, **query):
    return client.get(reverse("agreement", args=[cast.project.slug]), query).content.decode()


def dimension_page(client, cast, **query):
    address = reverse("agreement_dimension", args=[cast.project.slug, "fluency"])
    return client.get(address, query).content.decode()


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).strip()


def cells(html):
    """Return the table's row as the texts of its cells, without intervals and how figures were computed."""
    html = re.sub(r'<p class="how">.*?</p>', "", html, flags=re.S)
    row = html[html.index("<tbody>") : html.index("</tbody>")]
    return [re.sub(r" ?\[.*\]", "", text(cell)) for cell in re.findall(r"<td.*?</td>", row, flags=re.S)]


def file_of(client, html, key):
    """Return the rows of a table's CSV by the address that a page gives."""
    (address,) = re.findall(rf'href="([^"]*/{key}\.csv[^"]*)"', html)
    return list(csv.DictReader(StringIO(client.get(address).content.decode())))


def test_tables_of_agreement_are_taken_away_with_its_figures(scene):
    client, cast = scene
    html = page(client, cast, drawn="documents")
    (row,) = file_of(client, html, "rounds")
    table = agreement_table(cast.project, drawn="documents")
    assert table
    (found,) = table.dimensions
    assert found.round_two
    for key, figures in (("round_1", found.round_one), ("round_2", found.round_two)):
        assert float(row[f"{key}_alpha"]) == figures.alpha.value
        assert float(row[f"{key}_within_one"]) == figures.within_one.value
        assert decimals(float(row[f"{key}_alpha"])) in html
    assert (row["opened"], row["settled"]) == ("1", "1")


def test_tables_of_a_dimension_are_taken_away_with_its_figures(scene):
    client, cast = scene
    html = dimension_page(client, cast)
    (first, second) = (
        detail
        for number in (1, 2)
        for detail in dimension_details(cast.project.rounds.get(number=number), keys=frozenset({"fluency"}))
    )
    for number, detail in ((1, first), (2, second)):
        values = [row["value"] for row in file_of(client, html, f"round-{number}-coefficients")]
        expected = [*detail.levels.values(), *detail.coefficients]
        assert values == ["" if each.value is None else str(each.value) for each in expected]
        pairs = file_of(client, html, f"round-{number}-pairs")
        assert [float(row["rmse"]) for row in pairs] == [each.coefficient.value for each in detail.rmse]
        assert all(decimals(float(row["rmse"])) in html for row in pairs)
    together = file_of(client, html, "round-1-values")[0]
    assert [together[f"value_{value}"] for value in range(1, 6)] == ["2", "3", "2", "1", "0"]


# Both rounds side by side


def test_round_one_is_called_reliability_and_round_two_agreement_after_discussion(scene):
    client, cast = scene
    html = page(client, cast)
    assert re.findall(r'scope="colgroup">([^<]*)', html) == [
        "Round I: reliability",
        "Disputes",
        "Round II: agreement after discussion",
    ]
    headings = re.findall(r"<h2>(.*?)</h2>", dimension_page(client, cast))
    assert headings[:2] == ["Round I: reliability", "Round II: agreement after discussion"]


def test_the_figures_of_both_rounds_stand_in_the_table(scene):
    # Round I: n = 8, sum 18, squares 48; observed 2 (4 - 2)^2 = 8, expected 2 (8 * 48 - 18^2) = 120,
    # alpha = 1 - 7 * 8 / 120 = 8/15. Round II, with 3 for 4: sum 17, squares 41; observed 2, expected 78,
    # alpha = 1 - 7 * 2 / 78 = 32/39. Three of four units are within one, then all.
    client, cast = scene
    assert cells(page(client, cast)) == [
        *("0.533", "", "75 %", "4 2 raters 8 values"),
        *("1", "1"),
        *("0.821", "", "100 %", "4 2 raters 8 values"),
    ]


def test_units_raters_and_values_are_those_that_can_be_paired(client):
    # The third unit has one value, the fourth three: 2 + 2 + 3 values of three raters in three of four units.
    cast = rated([1, 2, 3, 4], [1, 2, None, 2], [None, None, None, 1])
    client.force_login(cast.admin)
    assert cells(page(client, cast))[3] == "3 of 4 3 raters 7 values"


def test_every_figure_opens_how_it_was_computed(scene):
    client, cast = scene
    figures = re.findall(r"<summary[^>]*>(.*?)</summary>\s*<p class=\"how\">\s*([^.]*)\.", page(client, cast))
    assert [(text(figure), label) for figure, label in figures] == [
        ("0.533", "Krippendorff&#x27;s alpha"),
        ("75 %", "Agreement within one point"),
        ("0.821", "Krippendorff&#x27;s alpha"),
        ("100 %", "Agreement within one point"),
    ]
    tables = re.findall(r"<table>(.*?)</table>", dimension_page(client, cast), flags=re.S)
    with_coefficients = [table for table in tables if "How often" not in table]
    assert len(with_coefficients) == 2 * 4  # coefficients, RMSE, Spearman and Kendall of both rounds
    for table in with_coefficients:
        rows = re.findall(r"<tr>.*?</tr>", table.split("<tbody>")[1], flags=re.S)
        assert rows
        assert all('<p class="how">' in row for row in rows)


def test_without_round_two_its_columns_say_so(client):
    cast = rated(FIRST, SECOND)
    client.force_login(cast.admin)
    html = page(client, cast)
    assert cells(html) == ["0.533", "", "75 %", "4 2 raters 8 values", "0", "0", "not opened"]
    assert "Round I is still open: these are its figures so far." in html
    close_round_one(project=cast.project, by=cast.admin)
    assert "still open" not in page(client, cast)
    assert cells(page(client, cast))[4:] == ["1", "0", "not opened"]


def test_before_round_one_there_is_nothing_to_measure(client):
    cast = make_project()
    client.force_login(cast.admin)
    assert "Round I has not been opened, so there is nothing to measure yet." in page(client, cast)
    address = reverse("agreement_dimension", args=[cast.project.slug, "fluency"])
    assert client.get(address).status_code == 404


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
def test_what_is_undefined_says_why(client, rows, reason):
    cast = rated(*rows)
    client.force_login(cast.admin)
    html = page(client, cast)
    assert cells(html)[0].startswith(f"undefined {reason}")
    assert "nan" not in text(html).split()
    details = dimension_page(client, cast)
    assert reason in details
    assert "nan" not in text(details).split()


def test_an_interval_that_is_missing_says_why(client):
    cast = rated([1, None, None, None], [3, None, None, None])
    client.force_login(cast.admin)
    says = "An interval needs at least two units with values from two raters."
    assert cells(page(client, cast))[1] == says


# Intervals

# 24 units of 12 documents: enough to resample both.
MANY = [1, 2, 3, 4, 5, 2] * 4, [1, 2, 4, 4, 4, 5] * 4


def intervals(html):
    return re.findall(r"\[[−\d.]+, [−\d.]+\]", html)


def test_an_interval_is_the_same_whenever_it_is_asked_for(client):
    cast = rated(*MANY, documents=12)
    client.force_login(cast.admin)
    once, again = intervals(page(client, cast)), intervals(page(client, cast))
    assert len(once) == 1
    assert once == again
    assert once[0] in intervals(dimension_page(client, cast))


def test_intervals_can_be_drawn_by_documents(client):
    cast = rated(*[values * 2 for values in MANY], documents=24)
    client.force_login(cast.admin)
    units, documents = page(client, cast), page(client, cast, drawn="documents")
    assert "percentile bootstrap of units, 1000 replicates" in units
    assert "percentile bootstrap of documents, 1000 replicates" in documents
    assert "<strong>documents</strong>" in documents
    assert intervals(units) != intervals(documents)
    assert intervals(documents)[0] in dimension_page(client, cast, drawn="documents")


def test_another_word_for_what_is_drawn_means_units(client):
    cast = rated(FIRST, SECOND)
    client.force_login(cast.admin)
    assert "<strong>units</strong>" in page(client, cast, drawn="raters")


# One dimension


def test_a_dimension_has_every_level_pairs_and_distributions(scene):
    # Nominal: 2, 3, 2, 1 values of a kind among 8; observed 2, expected 64 - 18 = 46, alpha = 1 - 14/46.
    # RMSE sqrt(4/4) = 1, then sqrt(1/4), with the mean of both half of each. Spearman: 1 in the first
    # document, -1 in the second, mean 0; after discussion the second has no variation for rater A, so the
    # first alone counts.
    client, cast = scene
    html = dimension_page(client, cast)
    before, after = html.split("<h2>Round II: agreement after discussion")
    assert [found(part, "alpha, interval") for part in (before, after)] == ["0.533", "0.821"]
    assert found(before, "alpha, nominal") == "0.696"
    assert between(before, "Rater A – Rater B") == ["1.000", "0.000", "0.000"]
    assert between(after, "Rater A – Rater B") == ["0.500", "1.000", "1.000"]
    for rater in ("Rater A", "Rater B"):
        assert between(before, f"mean – {rater}")[0] == "0.500"
        assert between(after, f"mean – {rater}")[0] == "0.250"
    assert distribution(before) == [
        ["All", "2", "3", "2", "1", "0", "2.250", "8"],
        ["Rater A", "1", "1", "1", "1", "0", "2.500", "4"],
        ["Rater B", "1", "2", "1", "0", "0", "2.000", "4"],
    ]


def between(html, pair):
    """Return RMSE, Spearman and Kendall of a pair."""
    return re.findall(rf"{pair}</th>\s*<td[^>]*>\s*<details[^>]*>\s*<summary[^>]*>([^<]*)", html)


def test_pairs_that_are_undefined_say_why(client):
    cast = rated([1, 2, None, None], [None, None, 3, 4])
    client.force_login(cast.admin)
    html = dimension_page(client, cast)
    shown = re.findall(r"Rater A – Rater B</th>\s*<td >(.*?)</td>", html, flags=re.S)
    assert len(shown) == 3
    for each in shown:
        assert re.search(
            r"undefined</span></summary>.*<span class=\"small\">[A-Z][^<]+\.</span>", each, flags=re.S
        )


def test_named_categories_have_no_distance_and_the_page_says_so(client):
    cast = make_project()
    Dimension.objects.update(measurement_level="nominal")
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 2, 2), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    client.force_login(cast.admin)
    assert cells(page(client, cast))[2].startswith("undefined Nominal values have no distance")


def found(html, label):
    match = re.search(rf"Krippendorff’s {label}.*?</th>\s*<td class=\"number\">([^<]*)", html, flags=re.S)
    return match and match[1]


def distribution(html):
    rows = html.split("How often each value was given")[1].split("<tbody>")[1].split("</tbody>")[0]
    return [re.findall(r">([^<>\s][^<>]*)</t[hd]>", row) for row in rows.split("</tr>") if row.strip()]


def test_a_scale_below_zero_has_no_ratio_level(client):
    cast = make_project()
    Dimension.objects.update(scale_minimum=-2, scale_maximum=2)
    opened(cast)
    client.force_login(cast.admin)
    html = dimension_page(client, cast)
    assert re.findall(r"Krippendorff’s alpha, (\w+)", html) == ["nominal", "ordinal", "interval"]


def test_a_dimension_that_the_project_does_not_have_is_not_found(scene):
    client, cast = scene
    address = reverse("agreement_dimension", args=[cast.project.slug, "charm"])
    assert client.get(address).status_code == 404


# Access, what is sent, queries


def addresses(cast):
    return [
        reverse("agreement", args=[cast.project.slug]),
        reverse("agreement_dimension", args=[cast.project.slug, "fluency"]),
    ]


def test_researchers_read_what_admins_read(scene):
    client, cast = scene
    client.force_login(cast.researcher)
    assert cells(page(client, cast))[0] == "0.533"
    assert found(dimension_page(client, cast), "alpha, interval") == "0.533"


@pytest.mark.parametrize("who", ["annotator", "outsider"])
def test_who_may_not_read_results_finds_nothing(scene, who):
    client, cast = scene
    client.force_login(cast.annotators[0].user if who == "annotator" else cast.outsider)
    for address in addresses(cast):
        assert client.get(address).status_code == 404


def test_raters_appear_under_their_aliases(scene):
    client, cast = scene
    for html in (page(client, cast), dimension_page(client, cast)):
        for annotator in cast.annotators:
            assert annotator.label not in html


def test_a_dimensions_name_is_shown_as_text(client):
    cast = make_project()
    Dimension.objects.update(name="<b>شكرا</b>")
    opened(cast)
    client.force_login(cast.admin)
    for html in (page(client, cast), dimension_page(client, cast)):
        assert "<b>" not in html
        assert "&lt;b&gt;شكرا" in html


@pytest.mark.parametrize(("documents", "raters"), [(2, 2), (10, 4)])
def test_queries_are_the_same_whatever_the_number_of_ratings(client, documents, raters):
    values = [[1 + (item + rater * item) % 5 for item in range(2 * documents)] for rater in range(raters)]
    cast = rated(*values, documents=documents)
    assert discuss(cast)
    client.force_login(cast.researcher)
    # session, user, place, rates, rounds, ratings and raters of each round, disputes, roles for the tabs
    # (the dimension's page has no disputes nor raters left out), answers without a value of Round I (on that
    # page of each round)
    for address, expected in zip(addresses(cast), (13, 12), strict=True):
        with CaptureQueriesContext(connection) as counted:
            client.get(address)
        assert len(counted) == expected


# The command


def command(capsys, *arguments):
    call_command("agreement", *arguments)
    return capsys.readouterr().out


def test_the_command_prints_the_same_figures(scene, capsys):
    _, cast = scene
    out = command(capsys, cast.project.slug)
    head, row = out.strip().splitlines()
    assert "Round I reliability" in head
    assert "agreement after discussion" in head
    counts = "4 units, 2 raters, 8 values"
    assert re.fullmatch(rf"Fluency +0\.533 \[.*\] {counts} +1  0\.821 \[.*\] {counts}", row)


def test_the_commands_json_holds_the_pages_numbers(scene, capsys):
    client, cast = scene
    before, after = json.loads(command(capsys, cast.project.slug, "--json"))["dimensions"]
    assert (before["round"], before["measures"]) == (1, "reliability")
    assert (after["round"], after["measures"]) == (2, "agreement after discussion")
    alphas = [each["krippendorff_alpha"]["interval"] for each in (before, after)]
    assert [alpha["value"] for alpha in alphas] == [pytest.approx(8 / 15), pytest.approx(32 / 39)]
    shown = [f"[{a['interval']['low']:.3f}, {a['interval']['high']:.3f}]" for a in alphas]
    assert [each.replace("-", "−") for each in shown] == intervals(page(client, cast))
    assert before["distributions"][0] == {
        "rater": None,
        "values": [1, 2, 3, 4, 5],
        "counts": [2, 3, 2, 1, 0],
    }
    assert before["rmse"][0]["value"] == 1


def test_the_command_draws_documents_when_asked(capsys):
    cast = rated(*[values * 2 for values in MANY], documents=24)
    figures = json.loads(command(capsys, cast.project.slug, "--json", "--drawn", "documents"))
    interval = figures["dimensions"][0]["krippendorff_alpha"]["interval"]["interval"]
    assert interval["method"] == "percentile bootstrap of documents"


def test_the_command_says_why_a_figure_is_undefined_in_either_round(capsys):
    cast = rated([1, 3], [3, 3], documents=1)
    dispute = discuss(cast)
    out = command(capsys, cast.project.slug)
    assert "undefined" not in out
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=3)
    out = command(capsys, cast.project.slug)
    assert "undefined 2 units, 2 raters, 4 values" in out
    assert "Fluency, Round II: Every value is 3: without variation" in out


def test_the_command_names_the_projects_that_there_are():
    first, second = make_project().project, make_project().project
    with pytest.raises(CommandError, match=f"there are: {first.slug}, {second.slug}"):
        call_command("agreement", "no-such-project")


def test_the_command_says_that_round_one_has_not_been_opened():
    with pytest.raises(CommandError, match="Round I has not been opened"):
        call_command("agreement", make_project().project.slug)
