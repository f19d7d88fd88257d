"""Estimates: the page and the command say what the pure functions say."""

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agreement import Stream, rank_sets
from agreement.reliability import (
    About,
    Betting,
    RatedSample,
    beyond_batch,
    correct_systems,
    correction_gain,
    cut_to_scale,
    guaranteed_mean,
    humans_only,
    judge_only,
    pairwise_differences,
    prediction_powered,
    projected_widths,
    regression_estimate,
    stratified_estimate,
    weighted_estimate,
)
from annotate.core.models import Assignment, Rating, Role
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.table import Cell
from annotate.templatetags.figures import decimals
from judges.core.models import DevelopmentDocument, Judge, Judgment
from judges.results.queries.estimates import estimates_report
from judges.results.tables.estimates import corrected_sentence
from judges.routing.commands.policies import make_policy, route
from tests.api.client import ApiClient
from tests.factories import Cast, make_member, make_project
from tests.judges.factories import make_judge
from tests.judges.measured import as_scores, let_judge, rated_at_once, routed_at_once
from tests.judges.pages import address, text_of, text_of_tabs
from tests.judges.routing.project import TRUSTED, routing_project, rts_value, sent_by, spec_of
from tests.results.reading import cells_of, csv_of

pytestmark = pytest.mark.django_db
PAGE = "estimates/"
DOCUMENTS, SYSTEMS = 12, 2
JUDGE = [4, 2, 5, 1, 3, 2, 4, 3, 5, 2, 3, 1, 4, 4, 2, 2, 5, 3, 3, 1, 4, 2, 5, 2]
GIVEN = [5, 2, 5, 2, 3, 1, 4, 4, 4, 2, 4, 1, 5, 3, 1, 2]  # the first eight documents are rated
PEOPLE = GIVEN + [None] * 8


def estimated(**people) -> Cast:
    cast = make_project(documents=DOCUMENTS, systems=SYSTEMS, annotators=1, raters_per_item=1)
    let_judge(make_judge(cast.project, name="Reasoner"), cast, JUDGE)
    return cast


def make_scene():
    cast = estimated()
    rated_at_once(cast, [PEOPLE])
    return cast


@pytest.fixture
def cast(client, cast):
    client.force_login(cast.admin)
    return cast


def means(cast, **chosen):
    """Return the first table, a row for each system."""
    return cells_of(cast.project, "estimates", "means", **chosen)


def says_of(cast, title):
    """Return what a section says."""
    page = current_page(project=cast.project, result=result_of(cast.project, "estimates"))
    return next(section.says for section in page.sections if section.title == title)


def of_system(index):
    values = [np.nan if value is None else value for value in PEOPLE]
    return RatedSample(judge=JUDGE[index::SYSTEMS], human=values[index::SYSTEMS])


def bounds(estimate):
    """Return value and interval of an estimate as a table has it, or as a function gives it."""
    if isinstance(estimate, Cell):
        return [estimate.value, estimate.low, estimate.high]
    interval = estimate.interval
    return [estimate.value, interval and interval.low, interval and interval.high]


def stream_of(cast):
    judge = Judge.objects.get(project=cast.project)
    return Stream(cast.project.seed).of("judge", judge.name, cast.dimensions[0].key)


def test_page_files_command_and_api_have_equal_values(cast, client):
    html = client.get(address(cast, f"{PAGE}?table=means"), follow=True).content.decode()
    out = StringIO()
    call_command("estimates", cast.project.slug, "--json", stdout=out)
    printed = json.loads(out.getvalue())["sections"]
    answered = (
        ApiClient(cast.admin).get(f"projects/{cast.project.slug}/results/estimates/").json()["sections"]
    )
    assert printed == answered
    for row, cells in zip(csv_of(client, cast.project, "estimates", "means"), means(cast), strict=True):
        for kind in ("humans", "judge", "combined", "guaranteed"):
            held = [row.get(f"{kind}{part}") or None for part in ("", "_low", "_high")]
            assert [each and float(each) for each in held] == bounds(cells[kind])
        assert decimals(float(row["combined"])) in html


def test_page_states_that_raters_are_fixed(client, cast):
    assert "other raters may rank systems otherwise" in text_of_tabs(client, address(cast, PAGE))


@pytest.mark.parametrize("beyond", [True, False])
def test_every_estimate_matches_its_function(cast, beyond):
    for index, row in enumerate(means(cast, about="documents" if beyond else "texts")):
        sample, stream = of_system(index), stream_of(cast).of(f"system-{index + 1}")
        humans, combined = humans_only(sample), regression_estimate(sample)
        expected = {
            "humans": beyond_batch(humans, sample) if beyond else humans,
            "judge": judge_only(sample),
            "combined": beyond_batch(combined, sample) if beyond else combined,
            "prediction_powered": prediction_powered(sample),
            "guaranteed": guaranteed_mean(sample, low=1, high=5, generator=stream, beyond_batch=beyond),
        }
        for name, estimate in expected.items():
            assert bounds(row[name]) == pytest.approx(bounds(cut_to_scale(estimate, 1, 5))), name
        assert (row["rated"].value, row["items"].value) == (8, 12)
        assert row["worth"].value == pytest.approx(expected["combined"].effective_sample_size)


def test_another_level_of_confidence_can_be_chosen(cast):
    (wide, _), (narrow, _) = (means(cast, confidence=level, about="texts") for level in ("0.99", "0.9"))
    assert bounds(wide["humans"]) == pytest.approx(bounds(humans_only(of_system(0), confidence_level=0.99)))
    assert wide["humans"].low < narrow["humans"].low


@pytest.mark.parametrize("beyond", [True, False])
def test_differences_are_paired_and_ranks_follow(cast, beyond):
    about = "documents" if beyond else "texts"
    scores = as_scores(JUDGE, [PEOPLE], documents=DOCUMENTS, systems=SYSTEMS)
    (expected,) = pairwise_differences(scores, betting=Betting(1, 5, stream_of(cast)), beyond=beyond)
    (difference,) = cells_of(cast.project, "estimates", "differences", about=about)
    assert difference["paired"].value == "yes"
    assert bounds(difference["difference"]) == pytest.approx(bounds(expected.estimate))
    assert bounds(difference["guaranteed"]) == pytest.approx(bounds(expected.guaranteed))
    assert difference["adjusted_p_value"].value == pytest.approx(expected.adjusted_p_value)
    sets = {each.system: (each.best, each.worst) for each in rank_sets(scores.system_names, [expected])}
    for row in means(cast, about=about):
        best, worst = sets[row["system"].value]
        assert row["ranks"].value == (str(best) if best == worst else f"{best} to {worst}")


def test_widths_are_projected_for_more_ratings_and_plotted(client, cast):
    humans = [beyond_batch(humans_only(of_system(index)), of_system(index)) for index in range(SYSTEMS)]
    widths = [projected_widths(each, [5, 10]) for each in humans]
    expected = np.mean(np.array(widths, dtype=float), axis=0)
    now, *more = cells_of(cast.project, "estimates", "widths")
    assert [each["ratings"].value for each in more] == [5, 10]
    assert [each["humans"].value for each in more] == pytest.approx(list(expected))
    assert (now["now"].value, now["ratings"].value) == ("yes", 8)
    there = [cut_to_scale(each, 1, 5).width for each in humans]
    assert now["humans"].value == pytest.approx(np.mean(np.array(there, dtype=float)))
    assert now["guaranteed"].value > now["humans"].value
    assert more[1]["guaranteed"].value < more[0]["guaranteed"].value
    plot = client.get(reverse("result_file", args=[cast.project.slug, "estimates", "widths", "svg"]))
    assert "ratings of each system" in plot.content.decode()


def test_the_page_names_each_kind_of_interval_and_says_when_the_round_is_open(client, cast):
    page = text_of_tabs(client, address(cast, PAGE))
    assert "people only, asymptotic judge only combined, asymptotic" in page
    assert "first minus second, asymptotic guaranteed, people only" in page
    assert "at the end of Round I, which is still open" in page
    assert "Guaranteed intervals are valid at any number of ratings" in page


def test_a_skewed_scale_is_warned_about():
    cast = estimated()
    rated_at_once(cast, [[5] * 14 + [4, 4] + [None] * 8])
    says = "The ratings have only 2 distinct values; trust the guaranteed interval."
    assert all(says in row["caution"].value for row in means(cast))


EVERYTHING = [5, 4, 5, 2, 3, 1, 4, 4, 4, 2, 4, 1, 5, 3, 1, 2, 5, 5, 4, 3, 2, 1, 5, 2]


@pytest.mark.parametrize("about", ["documents", "texts"])
def test_only_the_systems_page_compares_fully_rated_systems(about):
    cast = estimated()
    rated_at_once(cast, [EVERYTHING])
    first, _ = means(cast, about=about)
    assert first["ranks"].value == ""
    page = current_page(project=cast.project, result=result_of(cast.project, "estimates", {"about": about}))
    assert page.table("differences") is None
    says = next(section.says for section in page.sections if section.title == "Which systems differ")
    assert "No differences for Fluency: Every output is rated, so a judge adds nothing" in says


def test_only_a_fully_rated_mean_is_known_about_these_outputs():
    cast = estimated()
    rated_at_once(cast, [EVERYTHING])
    first, _ = means(cast, about="texts")
    assert bounds(first["humans"]) == pytest.approx([np.mean(EVERYTHING[::2])] * 3)
    assert first["caution"].value == "Every output is rated, so this mean is known and nothing is estimated."


def test_fully_rated_pair_about_these_outputs_is_known_and_untested():
    cast = make_project(documents=DOCUMENTS, systems=3, annotators=1, raters_per_item=1)
    let_judge(make_judge(cast.project, name="Reasoner"), cast, [*JUDGE, *JUDGE[:12]])
    rated_at_once(cast, [[None if index % 3 == 2 else 1 + index % 5 for index in range(36)]])
    known, *_ = cells_of(cast.project, "estimates", "differences", about="texts")
    assert (known["first"].value, known["second"].value) == ("system-1", "system-2")
    says = "Every output is rated, so the difference is known and nothing is tested."
    assert (known["p_value"].value, known["p_value"].reason) == (None, says)
    assert known["differ"].value == "not tested"


def test_individually_sampled_units_count_by_their_probability(client):
    """System 1 was sent to people throughout; of system 2 a quarter was drawn to audit the judge."""
    cast = estimated()
    drawn = {index: (1.0, value) for index, value in zip(range(0, 24, 2), [5, 4, 3, 5] * 3, strict=True)}
    audited = {index: (0.25, value) for index, value in ((1, 2), (5, 3), (11, 1), (15, 2), (17, 4), (23, 3))}
    routed_at_once(cast, drawn | audited)
    first, second, _ = means(cast, about="texts")
    assert bounds(first["humans"]) == [4.25, 4.25, 4.25]
    human = [audited.get(index, (0, np.nan))[1] for index in range(1, 24, 2)]
    sample = RatedSample(judge=JUDGE[1::2], human=human)
    assert bounds(second["combined"]) == pytest.approx(bounds(regression_estimate(sample)))


@pytest.mark.parametrize("about", ["documents", "texts"])
def test_means_on_systems_and_estimates_have_one_interval(cast: Cast, about: str) -> None:
    own = cells_of(cast.project, "systems", "means", about=about)
    of_people = [row["humans"] for row in means(cast, about=about)]
    assert [bounds(row["fluency"]) for row in own] == [pytest.approx(bounds(each)) for each in of_people]


def test_interval_of_a_mean_ends_with_the_scale(client) -> None:
    cast = estimated()
    rated_at_once(cast, [[5, 1] * 11 + [2, 4]])
    first, second = cells_of(cast.project, "systems", "means")
    reach = 2.200985 * 3 / 12  # eleven values of 5 and one of 2: s / sqrt(12) = 3 / 12
    assert bounds(first["fluency"]) == pytest.approx([4.75, 4.75 - reach, 5], abs=1e-6)
    assert bounds(second["fluency"]) == pytest.approx([1.25, 1, 1.25 + reach], abs=1e-6)


def test_plain_means_of_routed_units_have_a_warning() -> None:
    cast = estimated()
    certain = {0: (1.0, 5), 2: (1.0, 5), 4: (1.0, 4)}
    audited = dict.fromkeys((8, 12, 16, *range(1, 24, 4)), (0.5, 4))
    routed_at_once(cast, certain | audited)
    first, second = cells_of(cast.project, "systems", "means")
    assert first["fluency"].warning.startswith(means(cast)[0]["humans"].reason)
    assert second["fluency"].warning == ""  # all of its units had the same probability
    (difference,) = cells_of(cast.project, "systems", "differences")
    assert "only a weighted estimate is unbiased" in difference["difference"].warning


def test_system_with_units_sent_for_certain_is_a_stratified_sample(client):
    cast = estimated()
    drawn = {0: (1.0, 5), 2: (1.0, 5), 4: (1.0, 4), 8: (0.5, 4), 12: (0.5, 4), 16: (0.5, 5), 20: (0.5, None)}
    routed_at_once(cast, drawn)
    human = [drawn.get(index, (0, None))[1] for index in range(0, 24, 2)]
    sample = RatedSample(
        judge=JUDGE[::2],
        human=[np.nan if value is None else value for value in human],
        probabilities=[1, 1, 1] + [0.5] * 9,
        assigned=[index in drawn for index in range(0, 24, 2)],
        strata=["certain"] * 3 + ["audited"] * 9,
    )
    first, second, together = means(cast)
    expected = beyond_batch(stratified_estimate(sample), sample)
    assert bounds(first["combined"]) == pytest.approx(bounds(cut_to_scale(expected, 1, 5)))
    assert "only a weighted estimate is unbiased" in first["humans"].reason
    assert "1 assigned units have no rating" in first["guaranteed"].reason
    assert second["combined"].value is None
    assert together["combined"].reason == "1 of 3 systems’ strata have no rating yet."


def test_a_unit_without_a_value_of_the_judge_leaves_the_interval_of_its_system():
    """System 1 stays but for one unit, which nobody has rated yet."""
    cast = estimated()
    audited = {2: (0.5, 5), 4: (0.5, 4), 8: (0.5, 4), 12: (0.5, 2), 16: (0.5, 1), 20: (0.5, 5)}
    routed_at_once(cast, {0: (1.0, None), **audited})
    first, *_ = means(cast)
    assert first["combined"].low is not None
    assert "0 of 1 units of the stratum sent to people are rated" in first["caution"].value


def test_routed_estimates_are_exact_if_rated_and_else_use_the_audit():
    cast = routing_project(raters=1)
    policy = make_policy(project=cast.project, spec=spec_of(cast, raters=1), by=cast.admin)
    policy = route(policy=policy, by=cast.admin)
    sent = sent_by(policy)
    rate_what_was_asked(policy)
    trusted, constant, doubted, _ = of_fluency(cast)
    assert bounds(constant["combined"]) == pytest.approx([4, 4, 4])
    assert bounds(doubted["humans"]) == pytest.approx([3, 3, 3])  # 1 to 5 in turn
    audited = sent[TRUSTED, "fluency", "audit"]
    assert (trusted["combined"].count, trusted["items"].value) == (audited, 30)
    assert 0 < audited < 30
    assert trusted["combined"].value == pytest.approx(3)  # people say what the judge says


def test_active_audit_is_weighted_and_is_thinned_for_the_guarantee():
    cast = routing_project(raters=1)
    spread = [item for number, item in enumerate(cast.items) if number % 4 == 0]
    Judgment.objects.filter(judge__method="mcq", item__in=spread, item__system__name=TRUSTED).update(value=3)
    spec = spec_of(cast, raters=1, audit="active", audit_share=0.4, decided_by="estimate", threshold=0.2)
    policy = route(policy=make_policy(project=cast.project, spec=spec, by=cast.admin), by=cast.admin)
    rate_what_was_asked(policy)
    trusted = next(each for each in of_fluency(cast) if each["system"].value == TRUSTED)
    items = [item for item in cast.items if item.system.name == TRUSTED]
    judge = [rts_value(number, TRUSTED, "fluency") for number in range(1, 31)]
    chances = dict(policy.units.filter(dimension__key="fluency").values_list("item", "inclusion_probability"))
    assert len({chances[item.pk] for item in items if item.pk in chances}) > 1
    sample = RatedSample(
        judge=judge,
        human=[value if item.pk in chances else np.nan for item, value in zip(items, judge, strict=True)],
        probabilities=[chances.get(item.pk, 0.3) for item in items],
    )
    expected = weighted_estimate(sample)
    assert trusted["combined"].value == pytest.approx(expected.value)
    assert trusted["guaranteed"].low < np.mean(judge) < trusted["guaranteed"].high


def of_fluency(cast):
    judge = str(Judge.objects.get(project=cast.project, name="Reasoner").pk)
    return [row for row in means(cast, judge=judge, about="texts") if row["dimension"].key == "fluency"]


def rate_what_was_asked(policy):
    """Give every unit that a policy sent to people the value of its RTS judge."""
    annotator = policy.project.memberships.filter(role=Role.ANNOTATOR).first()
    values = {
        (item, dimension): value
        for item, dimension, value in policy.rts.judgments.values_list("item", "dimension", "value")
    }
    assignments = Assignment.objects.filter(round=policy.round).prefetch_related("units").order_by("pk")
    for position, assignment in enumerate(assignments, start=1):
        assignment.annotator, assignment.position = annotator, position
        assignment.save()
        for unit in assignment.units.all():
            Rating.objects.create(
                assignment=assignment,
                dimension=unit.dimension,
                value=values[assignment.item_id, unit.dimension_id],
                created_at=timezone.now(),
                updated_at=timezone.now(),
            )


def test_without_people_there_is_only_the_judges_mean(client):
    cast = estimated()
    client.force_login(cast.admin)
    page = text_of_tabs(client, address(cast, PAGE))
    assert "There are no ratings yet: there is only the judge’s own mean" in page
    assert f"{np.mean(JUDGE[::2]):.2f}" in page
    assert "No differences for Fluency: No person has rated a unit yet." in page


def test_page_and_command_report_a_missing_judge(client):
    cast = make_project()
    client.force_login(cast.admin)
    assert "No judge that gives scores has judgments yet" in text_of(
        client.get(address(cast, PAGE), follow=True)
    )
    with pytest.raises(CommandError, match="No judge that gives scores has judgments yet"):
        call_command("estimates", cast.project.slug)


def test_missing_judge_is_rejected(client, cast):
    assert client.get(address(cast, PAGE), {"judge": 0}, follow=True).status_code == 404
    with pytest.raises(CommandError, match="There is no Judge “Nobody” here"):
        call_command("estimates", cast.project.slug, "--judge", "Nobody")


def test_rater_in_open_round_one_sees_no_estimates(client, cast):
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    assert client.get(address(cast, PAGE)).status_code == 403
    client.force_login(cast.outsider)
    assert client.get(address(cast, PAGE)).status_code == 404


def test_the_number_of_queries_is_fixed(client, cast, django_assert_num_queries):
    page = reverse("results_page", args=[cast.project.slug, "estimates"])
    client.get(page)
    with django_assert_num_queries(14):
        client.get(page)
    let_judge(make_judge(cast.project, name="Second"), cast, JUDGE)
    client.get(page)
    with django_assert_num_queries(14):
        client.get(page)


def test_the_command_prints_the_table(cast):
    out = StringIO()
    call_command("estimates", cast.project.slug, stdout=out)
    assert f"{humans_only(of_system(0)).value:.3f} \\[" in out.getvalue()
    assert "| Fluency | system-1 | system-2 |" in out.getvalue()
    assert "| Fluency | 8.0 | yes |" in out.getvalue()


def corrected(cast: Cast, **chosen: str) -> list[dict[str, Cell]]:
    """Return the systems by corrected mean."""
    return cells_of(cast.project, "estimates", "corrected", **chosen)


@pytest.mark.parametrize("about", ["raters", "documents", "texts"])
def test_corrected_system_means_match_the_function(about: str) -> None:
    cast = estimated()
    other = [None if value is None else max(value - 1, 1) for value in PEOPLE[::-1]]
    second = [*other[8:], *[None] * 8]
    cast.annotators.append(make_member(cast.project, Role.ANNOTATOR))
    rated_at_once(cast, [PEOPLE, second])
    scores = as_scores(JUDGE, [PEOPLE, second], documents=DOCUMENTS, systems=SYSTEMS)
    ratings = np.stack([scores.by_document(row) for row in scores.human])
    names = scores.system_names
    judge = scores.by_document(scores.judge)
    expected = correct_systems(ratings, judge, names, about=About(about))
    rows = corrected(cast, about=about)
    values = [float(row["corrected"].value or 0) for row in rows]
    assert values == sorted(values, reverse=True)
    for row in rows:
        mean = expected.means[names.index(row["system"].value)]
        assert mean.low is not None
        assert mean.high is not None
        low, high = max(mean.low, 1), min(mean.high, 5)
        assert bounds(row["corrected"]) == pytest.approx([mean.value, low, high])
        assert row["people"].value == pytest.approx(mean.people)
        ranks = str(mean.best) if mean.best == mean.worst else f"{mean.best}–{mean.worst}"
        assert (row["ranks"].value, row["letters"].value) == (ranks, mean.letters)
        assert "Only 8 of 12 units are rated" in str(row["caution"].value)
    (pair,) = cells_of(cast.project, "estimates", "corrected-pairs", about=about)
    assert pair["p_value"].value == pytest.approx(expected.differences[0].p_value)


def test_gain_matches_the_function_and_opens_the_page(cast: Cast, client: Client) -> None:
    (row,) = cells_of(cast.project, "estimates", "gain")
    scores = as_scores(JUDGE, [PEOPLE], documents=DOCUMENTS, systems=SYSTEMS)
    people, judge = (scores.by_document(each) for each in (scores.human_means, scores.judge))
    expected = correction_gain(people, judge).means
    assert expected is not None
    assert bounds(row["gain"]) == pytest.approx([expected.value, expected.low, expected.high])
    assert row["saving"].value == pytest.approx(1 - 1 / expected.value)
    assert row["supposed"].value == "no"
    page = text_of(client.get(address(cast, PAGE), follow=True))
    assert f"The judge saves this share of the ratings: Fluency {100 * expected.saving:.0f} %" in page


def test_one_rater_is_treated_as_fixed_and_the_page_states_it(cast: Cast) -> None:
    assert "Fluency: Only one rater gave values" in says_of(cast, "Corrected means")


def test_fully_rated_systems_show_people_s_own_means_and_a_supposed_gain() -> None:
    cast = make_project(documents=DOCUMENTS, systems=SYSTEMS, annotators=1, raters_per_item=1)
    let_judge(make_judge(cast.project, name="Reasoner"), cast, EVERYTHING)
    rated_at_once(cast, [EVERYTHING])
    rows = corrected(cast)
    assert [row["corrected"].value for row in rows] == [row["people"].value for row in rows]
    says = says_of(cast, "Corrected means")
    assert "Fluency: People rated every text, so a correction gains nothing" in says
    # Five of twelve documents, and residuals of 0.
    assert "(5 or more), the judge would save this share of the ratings: Fluency 58 % (interval" in says


def test_judge_that_is_too_noisy_saves_nothing() -> None:
    cast = estimated()
    rated_at_once(cast, [EVERYTHING])
    assert "the judge would save no ratings" in says_of(cast, "Corrected means")


def test_units_sampled_with_different_probabilities_have_no_corrected_means() -> None:
    cast = estimated()
    certain = {0: (1.0, 5), 2: (1.0, 5), 4: (1.0, 4)}
    routed_at_once(cast, certain | dict.fromkeys((8, 12, 16, *range(1, 24, 4)), (0.5, 4)))
    assert "units were sampled with different probabilities" in says_of(cast, "Mean scores")
    page = current_page(project=cast.project, result=result_of(cast.project, "estimates"))
    assert page.table("corrected") is None


def test_values_after_a_discussion_are_cautioned_about(cast: Cast) -> None:
    judge = Judge.objects.get(project=cast.project)
    corrections = estimates_report(cast.project, judge, cast.project.rounds.get()).corrections
    says = [corrected_sentence(corrections, "raters", "", independent=each) for each in (True, False)]
    assert "follow a discussion" not in says[0]
    assert "follow a discussion" in says[1]


def test_development_documents_do_not_correct(cast: Cast) -> None:
    DevelopmentDocument.objects.create(document=cast.items[-1].document)
    assert {row["items"].value for row in corrected(cast)} == {DOCUMENTS - 1}
