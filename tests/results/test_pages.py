"""Results pages: the figures of the functions, kept while the data are the same, and who may see them."""

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agreement import krippendorff_alpha, root_mean_squared_error
from annotate.core.jobs import run_job
from annotate.core.models import ComputedResult, Dispute, System
from annotate.core.rounds import rounds_of
from annotate.disputes.commands.disputes import answer_dispute
from annotate.quality.commands import decide_counting
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from annotate.rating.queries import own_items
from annotate.results import figures, shown
from annotate.results.commands import ask_for_page, current_page
from annotate.results.queries.kept import KeptPage, plain_result
from annotate.results.queries.reliability_data import rated_items
from annotate.results.registry import PAGES, Result, result_of
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import csv_of, expect_in_files_and_api

pytestmark = pytest.mark.django_db

VALUES = {0: [1, 2, 3, 4, 5, 4], 1: [1, 2, 3, 2, 4, 4], 2: [2, 2, 3, 4, 5, 5]}


def make_scene() -> Cast:
    """Three raters on six items of three documents; one unit was disputed, and one rater came nearer."""
    made = make_project(documents=3, annotators=3)
    round = opened(made)
    for index, values in VALUES.items():
        for item, value in zip(made.items, values, strict=True):
            rate(made, round, made.annotators[index], item, value, comment=f"Because of {value}.")
    close_round_one(project=made.project, by=made.admin)
    open_round_two(project=made.project, by=made.admin)
    answer_dispute(dispute=Dispute.objects.get(), rater=made.annotators[1], value=3)
    return made


@pytest.fixture
def reader(client: Client, cast: Cast) -> Client:
    client.force_login(cast.researcher)
    return client


def asked(client: Client, cast: Cast, *names: str, route: str = "results_page", **query: str) -> Any:
    return client.get(reverse(route, args=[cast.project.slug, *names]), query)


def rows(client: Client, cast: Cast, page: str, key: str) -> list[dict[str, str]]:
    answer = asked(client, cast, page, key, "csv", route="result_file")
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))


def test_alpha_matches_the_agreement_page_in_both_rounds(reader: Client, cast: Cast) -> None:
    (row,) = rows(reader, cast, "agreement", "alpha")
    (beside,) = rows(reader, cast, "agreement", "rounds")
    for number, round in rounds_of(cast.project).items():
        data = rated_items(round)["fluency"].data
        assert float(row[f"round_{number}"]) == krippendorff_alpha(data).value
        for part in ("_low", "_high", "_count", ""):
            assert row[f"round_{number}{part}"] == beside[f"round_{number}_alpha{part}"]
        assert row[f"round_{number}_count"] == "6"


def test_rating_subsets_match_the_functions(reader: Client, cast: Cast) -> None:
    rated = rated_items(rounds_of(cast.project)[1])["fluency"]
    pairs = rows(reader, cast, "agreement", "round-1-pairs")
    assert [row["pair"] for row in pairs] == ["Rater A – Rater B", "Rater A – Rater C", "Rater B – Rater C"]
    assert float(pairs[0]["fluency"]) == krippendorff_alpha(rated.data.of_raters([0, 1])).value
    without = rows(reader, cast, "agreement", "round-1-with-one-rater-left-out")
    assert float(without[2]["fluency"]) == float(pairs[0]["fluency"])
    systems = rows(reader, cast, "agreement", "round-1-by-system")
    first = [item.system_id == cast.items[0].system_id for item in cast.items]
    assert float(systems[0]["fluency"]) == krippendorff_alpha(rated.data.of_units(first)).value
    (other,) = rows(reader, cast, "agreement", "round-1-coefficients")
    one, two = np.triu_indices(3, 1)
    values = rated.data.values
    assert float(other["rmse"]) == root_mean_squared_error(values[one].ravel(), values[two].ravel()).value


def test_disputed_unit_moves_from_two_points_difference_to_one(reader: Client, cast: Cast) -> None:
    everything, fluency = rows(reader, cast, "agreement", "movement")
    assert (everything["dimension"], fluency["dimension"]) == ("all", "Fluency")
    for row in (everything, fluency):
        assert [row[f"apart_{points}"] for points in range(3)] == ["0", "1", "0"]
        assert row["apart_before"] == "2"


def test_systems_have_means_ranks_and_corrected_differences(reader: Client, cast: Cast) -> None:
    # Each of three documents: system 1 gives (1 1 2) (3 3 3) (5 4 5), system 2 (2 2 2) (4 3 4) (4 4 5).
    first, second = rows(reader, cast, "systems", "means")
    assert float(first["fluency"]) == pytest.approx((4 / 3 + 3 + 14 / 3) / 3)
    assert float(second["fluency"]) == pytest.approx((2 + 11 / 3 + 13 / 3) / 3)
    (difference,) = csv_of(reader, cast.project, "systems", "differences", about="documents")
    assert float(difference["difference"]) == pytest.approx(-1 / 3)
    # D = -2/3, -2/3, 1/3: mean -1/3, s = 1/sqrt(3), t = -1/3 / (s / sqrt 3) = -1 with 2 degrees of freedom.
    assert float(difference["p"]) == pytest.approx(1 - 1 / np.sqrt(3))
    assert difference["p_adjusted"] == difference["p"]
    by_mean = csv_of(reader, cast.project, "systems", "means", order="mean-fluency")
    assert [row["system"] for row in by_mean] == ["system-2", "system-1"]
    ranks = asked(reader, cast, "systems", "ranks", "md", route="result_file").content.decode()
    assert "| system-1 | 1–2 |" in ranks


def test_agreement_after_discussion_is_never_called_reliability(reader: Client, cast: Cast) -> None:
    html = asked(reader, cast, "agreement").content.decode()
    assert "Round I, reliability: alpha" in html
    assert "Round II, agreement after discussion: alpha" in html
    assert "Round II, reliability" not in html
    api = plain_result(*_current(cast))
    (section,) = (each for each in api["sections"] if "this is agreement after discussion" in each["says"])
    assert {table["key"].startswith("round-2-") for table in section["tables"]} == {True}


def _current(cast: Cast) -> tuple[Result, KeptPage]:
    result = result_of(cast.project, "agreement")
    return result, current_page(project=cast.project, result=result)


def test_every_value_opens_its_method_and_every_table_has_files(reader: Client, cast: Cast) -> None:
    html = asked(reader, cast, "agreement").content.decode()
    table = html[html.index('<table class="sortable">') : html.index("</table>")]
    assert table.count("function krippendorff_alpha") == 2
    assert "n = 6" in table
    contents = {
        "csv": "text/csv",
        "json": "application/json",
        "md": "text/markdown",
        "tex": "application/x-tex",
    }
    for format, content_type in contents.items():
        answer = asked(reader, cast, "agreement", "rounds", format, route="result_file")
        assert answer["Content-Type"].startswith(content_type)
        assert f"agreement-rounds.{format}" in answer["Content-Disposition"]
        assert reverse("result_file", args=[cast.project.slug, "agreement", "rounds", format]) in html
    for nothing in (
        ("agreement", "alpha", "doc"),
        ("agreement", "round-1-rmse", "svg"),
        ("agreement", "x", "csv"),
    ):
        assert asked(reader, cast, *nothing, route="result_file").status_code == 404
    assert asked(reader, cast, "nothing").status_code == 404


def test_json_of_a_table_matches_the_api(reader: Client, cast: Cast) -> None:
    file = asked(reader, cast, "agreement", "alpha", "json", route="result_file").json()
    result = result_of(cast.project, "agreement")
    api = plain_result(result, current_page(project=cast.project, result=result))
    (table,) = (each for part in api["sections"] for each in part["tables"] if each["key"] == "alpha")
    assert file == json.loads(json.dumps({key: table[key] for key in table if key != "rows_in_all"}))


# What is in view


def tables_of(html: str) -> list[str]:
    return re.findall(r'<section class="result" id="([^"]+)"', html)


def chart_in(html: str) -> Any:
    return json.loads(html.partition('type="application/json">')[2].partition("</script>")[0])


def test_a_page_shows_its_answer_one_chart_and_one_table(reader: Client, cast: Cast) -> None:
    html = asked(reader, cast, "agreement").content.decode()
    assert "Alpha of Round I is" in html
    assert tables_of(html) == ["rounds"]
    chart = chart_in(html)
    assert (chart["key"], chart["lines"]) == ("alpha", [0.667, 0.8])
    assert html.count('<figure class="chart"') == 1


def test_tab_has_a_separate_url_and_is_a_fragment_for_htmx(reader: Client, cast: Cast) -> None:
    whole = asked(reader, cast, "agreement", table="by-system").content.decode()
    assert tables_of(whole) == ["round-1-by-system"]
    assert chart_in(whole)["key"] == "round-1-by-system"
    address = reverse("results_page", args=[cast.project.slug, "agreement"])
    headers = {"HX-Request": "true", "HX-Target": "view"}
    part = reader.get(address, {"table": "by-system"}, headers=headers).content.decode()
    assert tables_of(part) == ["round-1-by-system"]
    assert "<h1" not in part


def test_unknown_words_of_a_url_show_the_first_table(reader: Client, cast: Cast) -> None:
    html = asked(reader, cast, "agreement", table="x", round="9", dimension="y", page="z").content.decode()
    assert tables_of(html) == ["rounds"]


def test_agreement_page_leaves_details_to_files_and_api(reader: Client, cast: Cast) -> None:
    details = ("rmse", "rmse-by-document", "kendall", "by-document")
    second = ("pairs", "coefficients", "distribution", "spearman", *details)
    tables = [*(f"round-1-{key}" for key in details), *(f"round-2-{key}" for key in second)]
    left_out: dict[str, list[str]] = {key: [] for key in tables} | {"round-1-coefficients": ["rmse"]}
    expect_in_files_and_api(reader, cast.project, "agreement", left_out)
    assert tables_of(asked(reader, cast, "agreement", table="coefficients", round="2").content.decode()) == [
        "round-1-coefficients"
    ]


def test_a_dimension_filters_rows_and_columns(client: Client) -> None:
    made = make_project(dimensions=("fluency", "coherence"), annotators=2, raters_per_item=2)
    round = opened(made)
    for annotator in made.annotators:
        for index, item in enumerate(made.items):
            for dimension in made.dimensions:
                rate(made, round, annotator, item, 1 + index % 4, key=dimension.key)
    close_round_one(project=made.project, by=made.admin)
    client.force_login(made.admin)
    for table in ("rounds", "pairs"):
        html = asked(client, made, "agreement", table=table, dimension="fluency").content.decode()
        body = html[html.index('<table class="sortable">') : html.index("</table>")]
        assert "fluency" in body.lower()
        assert "coherence" not in body.lower()


def test_a_long_table_has_pages(reader: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "ROWS", 2)
    monkeypatch.setattr(shown, "ORPHANS", 0)
    html = asked(reader, cast, "agreement", table="pairs").content.decode()
    assert html.count('<th scope="row"') == 2
    assert "Page 1 of 2" in html
    html = asked(reader, cast, "agreement", table="pairs", page="2").content.decode()
    assert html.count('<th scope="row"') == 1


def test_missing_values_are_dashes_with_one_reason_below(client: Client) -> None:
    made = make_project(annotators=2, raters_per_item=2)
    opened(made)
    client.force_login(made.admin)
    html = asked(client, made, "agreement").content.decode()
    assert ">undefined<" not in html
    below = html[html.index('<p class="small soft figure-reasons">') :].partition("</p>")[0]
    assert below.count("There are no ratings yet.") == 1


def test_heads_of_tables_are_words_for_people(reader: Client, cast: Cast) -> None:
    for name in PAGES:
        for key in re.findall(r"[?&]table=([\w-]+)", asked(reader, cast, name).content.decode()):
            html = asked(reader, cast, name, table=key).content.decode()
            for head in re.findall(r'<th scope="col"[^>]*>([^<]*)<', html):
                assert head
                assert not re.search(r"[a-z][A-Z]|_", head), f"{name}, {key}: {head}"


# The front page


def test_front_page_has_charts_with_their_summaries(reader: Client, cast: Cast) -> None:
    html = asked(reader, cast, route="results").content.decode()
    assert html.count('<figure class="chart"') == 3  # there is no judge
    assert "Alpha of Round I is" in html
    assert "1 dispute: 1 settled, 0 adjudicated, 0 unresolved." in html
    assert "has the highest mean on 1 of 1 dimensions" in html


def test_front_page_polls_until_a_worker_finishes(
    reader: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "AT_ONCE", 0)
    html = asked(reader, cast, route="results").content.decode()
    assert 'hx-trigger="every 30s"' in html
    assert '<figure class="chart"' not in html


# The worst disagreements


def test_worst_disagreements_have_outputs_and_values(reader: Client, cast: Cast) -> None:
    html = asked(reader, cast, route="disagreements").content.decode()
    first = html[html.index('<article class="worst">') :].partition("</article>")[0]
    assert cast.items[3].text[:30] in first
    assert str(cast.items[3].document) in first
    given = re.findall(r"<span dir=\"auto\">([^<]+)</span> <strong>([^<]+)</strong>", first)
    assert [name for name, _ in given] == ["Rater A", "Rater B", "Rater C"]
    assert [value for _, value in given] == ["4", "2", "4"]
    assert chart_in(html)["kind"] == "shares"


def test_worst_disagreements_download_with_their_outputs(reader: Client, cast: Cast) -> None:
    answer = asked(reader, cast, route="disagreements_file", apart="2")
    (row,) = csv.DictReader(io.StringIO(answer.content.decode(), newline=""))
    assert (row["document"], row["difference"]) == (cast.items[3].document.key, "2.0")
    assert row["values"] == "Rater A: 4; Rater B: 2; Rater C: 4"
    assert row["text"] == cast.items[3].text
    assert "system" not in row  # hidden until Round II is closed


def test_system_names_are_escaped_on_the_page(client: Client) -> None:
    made = make_project(annotators=2, raters_per_item=2)
    System.objects.filter(pk=made.items[0].system_id).update(name="<b>R&D</b>")
    round = opened(made)
    for annotator in made.annotators:
        for value, item in enumerate(made.items, start=1):
            rate(made, round, annotator, item, value)
    close_round_one(project=made.project, by=made.admin)
    client.force_login(made.admin)
    html = asked(client, made, "systems").content.decode()
    assert "&lt;b&gt;R&amp;D&lt;/b&gt;" in html
    assert "<b>R" not in html


def test_plot_is_stored_until_the_data_change(reader: Client, cast: Cast) -> None:
    address = reverse("result_file", args=[cast.project.slug, "agreement", "alpha", "svg"])
    file = reader.get(address)
    assert file["Content-Type"].startswith("image/svg+xml")
    kept = ComputedResult.objects.get(name="agreement?drawn=documents&plot=alpha")
    assert kept.content == file.content.decode()
    answer_dispute(dispute=Dispute.objects.get(), rater=cast.annotators[0], value=3)
    assert reader.get(address).content != file.content


def test_a_page_is_computed_once_for_the_same_data(reader: Client, cast: Cast) -> None:
    asked(reader, cast, "agreement")
    first = ComputedResult.objects.get(name="agreement?drawn=documents")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        asked(reader, cast, "agreement")
    assert len(queries) <= 14
    assert ComputedResult.objects.get(pk=first.pk).computed_at == first.computed_at
    answer_dispute(dispute=Dispute.objects.get(), rater=cast.annotators[0], value=3)
    asked(reader, cast, "agreement")
    again = ComputedResult.objects.get(pk=first.pk)
    assert again.version != first.version
    assert again.content != first.content


def test_excluded_rater_disappears_from_values_and_files_at_once(reader: Client, cast: Cast) -> None:
    assert len(rows(reader, cast, "agreement", "round-1-pairs")) == 3
    decide_counting(membership=cast.annotators[2], counted=False, note="Rated too fast.", by=cast.admin)
    (pair,) = rows(reader, cast, "agreement", "round-1-pairs")
    assert pair["pair"] == "Rater A – Rater B"
    assert "An admin excluded the ratings of" in asked(reader, cast, "agreement").content.decode()


def test_taking_data_away_computes_nothing_again(reader: Client, cast: Cast) -> None:
    asked(reader, cast, "agreement")
    before = ComputedResult.objects.get().computed_at
    reader.get(reverse("export_one", args=[cast.project.slug, "ratings", "csv"]))
    asked(reader, cast, "agreement")
    assert ComputedResult.objects.get().computed_at == before


def test_large_computation_runs_in_a_worker_and_the_page_reports_it(
    reader: Client,
    cast: Cast,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    monkeypatch.setattr(figures, "AT_ONCE", 0)
    with django_capture_on_commit_callbacks() as told:
        html = asked(reader, cast, "agreement").content.decode()
    assert "Computing results for the current data" in html
    assert 'hx-trigger="every 2s"' in html
    with django_capture_on_commit_callbacks() as told_again:
        poll = reader.get(
            reverse("results_page", args=[cast.project.slug, "agreement"]), headers={"HX-Request": "true"}
        )
    assert poll.status_code == 204
    assert (len(told), len(told_again)) == (1, 0)
    run_job("result", ComputedResult.objects.get().pk)
    html = asked(reader, cast, "agreement").content.decode()
    assert "Computing results" not in html
    assert 'id="rounds"' in html
    answer_dispute(dispute=Dispute.objects.get(), rater=cast.annotators[0], value=3)
    stale = asked(reader, cast, "agreement").content.decode()
    assert "Until then, the page shows the results of" in stale
    assert 'id="rounds"' in stale


def test_stopped_computation_is_reported_and_can_be_retried(
    reader: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "AT_ONCE", 0)
    asked(reader, cast, "agreement")
    row = ComputedResult.objects.get()
    ComputedResult.objects.filter(pk=row.pk).update(problem="An error stopped the computing.", asked_at=None)
    html = asked(reader, cast, "agreement").content.decode()
    assert "An error stopped the computing." in html
    assert "every 2s" not in html
    reader.post(reverse("results_page", args=[cast.project.slug, "agreement"]))
    row.refresh_from_db()
    assert row.asked_at is not None
    run_job("result", row.pk)
    row.refresh_from_db()
    assert not row.problem
    assert not row.asked_at


def test_before_round_one_there_is_nothing_to_measure(client: Client) -> None:
    fresh = make_project()
    client.force_login(fresh.admin)
    for page in ("agreement", "systems"):
        assert "There is nothing to measure yet." in asked(client, fresh, page).content.decode()
    assert asked(client, fresh, route="disagreements").status_code == 200
    unit = asked(client, fresh, str(fresh.items[0].pk), "fluency", route="disagreement")
    assert unit.status_code == 404


def test_rater_in_open_round_one_sees_no_results_even_as_an_admin(client: Client) -> None:
    made = make_project()
    opened(made)
    made.annotators[0].user = made.admin
    made.annotators[0].save()
    client.force_login(made.admin)
    for answer in (
        asked(client, made, route="results"),
        asked(client, made, "agreement"),
        asked(client, made, "agreement", "alpha", "csv", route="result_file"),
        asked(client, made, route="disagreements"),
        asked(client, made, str(made.items[0].pk), "fluency", route="disagreement"),
    ):
        assert answer.status_code == 403


# From a figure to its units


def test_value_links_to_its_units_and_their_answers(reader: Client, cast: Cast) -> None:
    html = asked(reader, cast, "agreement", table="by-system").content.decode()
    listed = reverse("disagreements", args=[cast.project.slug])
    assert f"{listed}?dimension=fluency&amp;system=system-1" in html
    units = reader.get(listed, {"dimension": "fluency", "document": "product-2", "apart": "2"})
    unit = reverse("disagreement", args=[cast.project.slug, cast.items[3].pk, "fluency"])
    assert unit in units.content.decode()
    assert units.content.decode().count('<article class="worst">') == 1
    page = reader.get(unit).content.decode()
    assert cast.items[3].text in page
    assert "Review 1 of product 2." in page
    assert "Because of 2." in page
    assert page.count("<strong>3</strong>") == 1  # what the second rater came to
    assert "Dispute 1" in page


def test_one_of_several_documents_is_selected_by_its_key(
    reader: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_items, "MOST_DOCUMENTS_LISTED", 1)
    listed = reverse("disagreements", args=[cast.project.slug])
    html = reader.get(listed, {"document": "product-2", "apart": "0"}).content.decode()
    assert '<option value="product-2"' not in html
    assert html.count('<article class="worst">') == 2
    html = reader.get(listed, {"document": "nowhere", "apart": "0"}).content.decode()
    assert "No document has this key." in html


def test_systems_stay_hidden_until_nothing_is_decided_any_more(reader: Client, cast: Cast) -> None:
    listed = reverse("disagreements", args=[cast.project.slug])
    html = reader.get(listed, {"system": "system-1"}).content.decode()
    assert "Systems stay hidden" in html
    assert ">system-1<" not in html
    close_round_two(project=cast.project, by=cast.admin)
    html = reader.get(listed, {"system": "system-1", "apart": "0"}).content.decode()
    assert html.count('<article class="worst">') == 3


def test_open_round_values_rest_for_their_computing_time(
    reader: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "AT_ONCE", 0)
    result = result_of(cast.project, "agreement")
    current_page(project=cast.project, result=result)
    taken = {"seconds": 10, "computed_at": timezone.now() - timedelta(minutes=4)}
    ComputedResult.objects.update(**taken, version="of other data")
    assert ask_for_page(project=cast.project, result=result) is None
    assert 'hx-trigger="every 2s"' in asked(reader, cast, "agreement").content.decode()
    close_round_two(project=cast.project, by=cast.admin)
    assert ask_for_page(project=cast.project, result=result)


def test_an_open_page_looks_seldom_where_computing_takes_long(cast: Cast) -> None:
    assert [KeptPage(ComputedResult(seconds=each), "", []).pause for each in (0, 40, 500)] == [2, 10, 30]
