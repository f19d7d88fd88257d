"""The laboratory's pages: a judge and itself, and biases."""

import csv
import json
from io import StringIO

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from scipy.spatial.distance import jensenshannon
from scipy.stats import kendalltau

from annotate.core.models import ItemTag
from tests.factories import make_project
from tests.judges.factories import make_judge, make_judgment, make_metric
from tests.judges.measured import MCQ, PEOPLE, RTS, measured_project
from tests.judges.pages import text_of
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client):
    """People and two judges of one model, of which the first was asked three times."""
    cast = measured_project(people=PEOPLE)
    judge = cast.project.judges.get(name="Reasoner")
    for sample in (1, 2):
        for value, item in zip(RTS, cast.items, strict=True):
            other = 6 - value if sample == 2 and item == cast.items[0] else value
            make_judgment(judge, item, cast.dimensions[0], value=other, sample=sample)
    client.force_login(cast.admin)
    return cast


def page_of(cast, name="self-consistency"):
    return reverse("results_page", args=[cast.project.slug, name])


def rows(client, cast, key, name="self-consistency", judge=None, **chosen):
    if judge or name == "self-consistency":
        chosen["judge"] = cast.project.judges.get(name=judge or "Reasoner").pk
    answer = client.get(reverse("result_file", args=[cast.project.slug, name, key, "csv"]), chosen)
    assert answer.status_code == 200
    return list(csv.DictReader(StringIO(answer.content.decode())))


def test_judges_of_one_sample_state_the_self_agreement_requirement(client, cast):
    once, repeated = (
        row for name in ("Chooser", "Reasoner") for row in rows(client, cast, "self-agreement", judge=name)
    )
    assert (once["judge"], once["alpha"]) == ("Chooser", "")
    assert "more than once" in once["alpha_reason"]
    # Eleven of twelve items have the same value thrice, of the first only one pair of three is the same.
    assert float(repeated["repeated"]) == pytest.approx((11 + 1 / 3) / 12)
    assert float(repeated["among_people"]) == pytest.approx(float(once["among_people"]))


def test_rater_agreement_with_the_others_uses_the_chosen_coefficient(client, cast):
    found = rows(client, cast, "raters")
    assert len(found) == cast.project.memberships.filter(role="annotator").count() > 1
    assert {row["dimension"] for row in found} == {"Fluency"}
    for row in found:
        assert float(row["dataset_with_own"]) > float(row["dataset"])
    kendall = rows(client, cast, "raters", coefficient="kendall_tau_b")
    assert [row["dataset"] for row in kendall] != [row["dataset"] for row in found]


def test_curve_ends_with_the_value_of_the_judges_page(client, cast):
    for level, column in (("dataset", "spearman_dataset"), ("document", "spearman_document")):
        curve = rows(client, cast, "curve", level=level)
        assert [row["number"] for row in curve] == ["1", "2", "3"]
        correlations = {row["judge"]: row for row in rows(client, cast, "correlations", "judges")}
        assert curve[-1]["quality"] == pytest.approx(correlations["Reasoner"][column])
        assert curve[-1]["gain_reason"] == "These are all samples."
    (row,) = rows(client, cast, "samples")
    assert (row["judge"], row["samples"]) == ("Reasoner", "3")


def people_and_samples(cast):
    """Return people's values and the judge's three samples of each item."""
    people = list(zip(*PEOPLE, strict=True))
    return people, [(value, value, 6 - value if index == 0 else value) for index, value in enumerate(RTS)]


def test_distribution_of_samples_equals_scipy_item_by_item(client, cast):
    (row,) = rows(client, cast, "distributions")
    assert (row["judge"], row["samples"], row["items"]) == ("Reasoner", "3", "12")
    shares = [
        [np.bincount(values, minlength=6)[1:] / len(values) for values in both]
        for both in zip(*people_and_samples(cast), strict=True)
    ]
    distances = [jensenshannon(one, two, base=2) for one, two in shares]
    assert float(row["js_whole"]) == pytest.approx(np.mean(distances))
    assert float(row["tv_whole"]) == pytest.approx(np.mean([abs(one - two).sum() / 2 for one, two in shares]))
    assert float(row["tv_people"]) == pytest.approx(
        np.mean([one != other for one, other in zip(*PEOPLE, strict=True)])
    )
    assert row["energy"]
    assert row["energy_control"]


def test_confidence_is_compared_with_peoples_mode_and_mean(client, cast):
    (row,) = rows(client, cast, "confidence")
    people, samples = people_and_samples(cast)
    confidence = [max(map(said.count, said)) / 3 for said in samples]
    modes = [max(said, key=said.count) for said in samples]
    # Of two people who differ, each value is a mode: half of it counts.
    right = [given.count(mode) / 2 for given, mode in zip(people, modes, strict=True)]
    within = [abs(sum(given) / 2 - mode) <= 1 for given, mode in zip(people, modes, strict=True)]
    assert float(row["confidence"]) == pytest.approx(np.mean(confidence))
    assert float(row["mode_right"]) == pytest.approx(np.mean(right))
    assert float(row["within_right"]) == pytest.approx(np.mean(within))
    assert float(row["mode_over"]) == pytest.approx(np.mean(confidence) - np.mean(right))
    # The first item has a bin of its own.
    error = abs(confidence[0] - right[0]) + abs(sum(confidence[1:]) - sum(right[1:]))
    assert float(row["mode_error"]) == pytest.approx(error / 12)
    curve = rows(client, cast, "reliability-curve")
    assert [(each["confidence"], each["items"]) for each in curve] == [("0.667", "1"), ("1.0", "11")]
    assert float(curve[1]["accuracy"]) == pytest.approx(np.mean(right[1:]))


def test_judge_page_reports_the_sufficient_number_of_samples(client, cast):
    judge = cast.project.judges.get(name="Reasoner")
    url = reverse("judge", args=[cast.project.slug, judge.pk])
    assert "?part=self-consistency" in client.get(url).content.decode()
    answer = client.get(page_of(cast), {"judge": judge.pk, "table": "confidence"}, follow=True)
    assert answer.redirect_chain[0][0].startswith(f"{url}?part=self-consistency")
    words = text_of(answer)
    assert "Alpha over the judge’s samples is" in words
    assert "enough on" in words or "more samples may still improve" in words
    assert "choice-judge" not in answer.content.decode(), "another judge cannot be chosen here"


def test_page_of_a_judge_takes_few_queries(client, cast):
    url = reverse("judge", args=[cast.project.slug, cast.project.judges.get(name="Reasoner").pk])
    client.get(url, {"part": "self-consistency"})
    with CaptureQueriesContext(connection) as asked:
        client.get(url, {"part": "self-consistency"})
    assert len(asked) == 15


def test_reliability_curve_is_a_chart_with_the_line_of_calibrated_judges(client, cast):
    judge = cast.project.judges.get(name="Reasoner")
    html = client.get(page_of(cast), {"judge": judge.pk, "table": "confidence"}, follow=True).content.decode()
    data = html.partition('type="application/json">')[2].partition("</script>")[0]
    points = json.loads(data)["points"]
    line = [(each["x"], each["value"]) for each in points if each["series"] == "calibrated"]
    assert line == [(0, 0), (1, 1)]
    assert len(points) == 4


def test_judge_with_one_sample_states_its_requirement(client, cast):
    judge = cast.project.judges.get(name="Chooser")
    words = text_of(client.get(page_of(cast), {"judge": judge.pk}, follow=True))
    assert "one sample of each item" in words
    assert "no two samples of an item" in words


def test_judge_without_values_has_no_agreement_with_itself(client):
    cast = make_project()
    client.force_login(cast.admin)
    assert "judge" in text_of(client.get(page_of(cast)))
    judge = make_judge(cast.project)
    url = reverse("judge", args=[cast.project.slug, judge.pk])
    assert "part=self-consistency" not in client.get(url).content.decode()
    assert client.get(url, {"part": "self-consistency"}).status_code == 200


def test_an_annotator_does_not_see_it(client, cast):
    client.force_login(cast.annotators[0].user)
    assert client.get(page_of(cast)).status_code == 404


def biases(client, cast, key, judge):
    return rows(client, cast, key, "biases", judge=judge)


def test_chosen_judge_has_bias_values_and_missing_data_is_reported(client, cast):
    (fluency,) = biases(client, cast, "severity", "Chooser")
    assert float(fluency["severity_control_low"]) <= float(fluency["severity_control_high"])
    chooser, reasoner = (
        {row["measure"]: row for row in biases(client, cast, "biases", name)}
        for name in ("Chooser", "Reasoner")
    )
    assert chooser["severity"]["tested_on"] == "1"
    assert "SD of samples" not in chooser
    assert reasoner["SD of samples"]["tested_on"] == "1"
    found = [name for name, row in reasoner.items() if row["found"].startswith("Fluency")]
    assert [reasoner[name]["found_on"] for name in found] == ["1"] * len(found)
    words = text_of(client.get(page_of(cast, "biases")))
    assert f"{len(found) or 'None'} of " in words
    assert "Needs a judge that compares two outputs" in words
    assert "“perplexity” in its name" in words
    assert "Tag outputs with the family of their model" in words


def test_one_rater_is_no_control_and_no_test(client):
    cast = measured_project(people=PEOPLE[:1])
    client.force_login(cast.admin)
    (fluency,) = biases(client, cast, "severity", "Chooser")
    assert fluency["severity"]
    assert fluency["severity_control"] == ""
    assert fluency["severity_control_reason"] == "A second rater is needed for a control."
    assert "severity" not in {row["measure"] for row in biases(client, cast, "biases", "Chooser")}


def test_severity_is_the_bias_of_the_page_of_judges(client, cast):
    differences = {row["judge"]: row["bias"] for row in rows(client, cast, "differences", "judges")}
    for name in ("Chooser", "Reasoner"):
        (severe,) = biases(client, cast, "severity", name)
        assert severe["severity"] == differences[name]


def test_families_are_tags_of_items_that_occur_in_the_model_s_name(client, cast):
    assert "Tag outputs" in text_of(client.get(page_of(cast, "biases")))
    for item in cast.items:
        family = "family: GPT" if item.system.name.endswith("1") else "family: llama"
        ItemTag.objects.create(item=item, name=family)
    (found,) = biases(client, cast, "self-preference", "Reasoner")
    # Of every document the first text is system 1's; its first item was given twice 1 and once 5.
    judge = np.array([(1 + 1 + 5) / 3, *RTS[1:]], dtype=float)
    own = (np.arange(len(judge)) % 3 == 0).astype(float)
    one, other, judge, own = (np.array(each) - np.mean(each) for each in (*PEOPLE, judge, own))
    people = (one + other) / 2
    equations = [[one @ other, people @ own], [people @ own, own @ own]]
    wanted = np.linalg.solve(equations, [people @ judge, own @ judge])[1]
    assert float(found["self_preference"]) == pytest.approx(wanted)


def test_a_perplexity_that_was_imported_gives_familiarity(client, cast):
    make_metric(cast, [2.0 + number for number in range(len(cast.items))], name="Perplexity, small model")
    assert len(biases(client, cast, "familiarity", "Chooser")) == 1
    by_rating = biases(client, cast, "by-rating", "Chooser")
    assert len(by_rating) == 5
    first = {float(row["rating"]): row["judge_mean"] for row in by_rating}
    at_two = [2.0 + index for index, value in enumerate(MCQ) if value == 2]
    assert float(first[2]) == pytest.approx(sum(at_two) / len(at_two))


def test_document_perplexities_have_a_separate_table(client, cast):
    make_metric(cast, [7.0] * len(cast.items), name="Document perplexity under a model")
    found = biases(client, cast, "documents-by-rating", "Chooser")
    means = {row["judge_mean"] for row in found} - {""}
    assert {round(float(mean), 6) for mean in means} == {7}
    assert "“perplexity” in its name" in text_of(client.get(page_of(cast, "biases"))), "outputs have none"


def test_frequencies_of_scores_count_every_sample(client, cast):
    found = biases(client, cast, "frequencies", "Reasoner")
    first = 6 - RTS[0]  # said once of the first item, in place of RTS[0]
    said = [*RTS, *RTS, first, *RTS[1:]]
    assert {float(row["score"]): int(row["answers"]) for row in found} == {
        point: said.count(point) for point in (1, 2, 3, 4, 5)
    }
    assert [float(row["share"]) for row in found] == pytest.approx(
        [said.count(point) / len(said) for point in (1, 2, 3, 4, 5)]
    )
    ratings = [value for values in PEOPLE for value in values]
    assert float(found[3]["people"]) == pytest.approx(ratings.count(4) / len(ratings))


def test_custom_scale_frequencies_list_each_point_and_no_people(client, cast):
    judge = make_judge(cast.project, name="Percent", scale_minimum=1, scale_maximum=100)
    for item, value in zip(cast.items, [60, 70, 70, *[80] * 9], strict=True):
        make_judgment(judge, item, cast.dimensions[0], value=value)
    found = biases(client, cast, "frequencies", "Percent")
    assert [float(row["score"]) for row in found] == list(range(1, 101))
    given = {float(row["score"]): row["answers"] for row in found if row["answers"] != "0"}
    assert given == {60: "1", 70: "2", 80: "9"}
    assert "another scale" in found[0]["people_reason"]


def several_dimensions():
    """Two raters and a judge with two dimensions in one call, the other way round for every second item."""
    cast = make_project(
        dimensions=("fluency", "coherence"), documents=4, systems=3, annotators=2, raters_per_item=2
    )
    round = opened(cast)
    for annotator, values in zip(cast.annotators, PEOPLE, strict=True):
        for item, value, other in zip(cast.items, values, MCQ, strict=True):
            rate(cast, round, annotator, item, value)
            rate(cast, round, annotator, item, other, key="coherence")
    judge = make_judge(cast.project, "several", name="Several", call_order="rotated")
    fluency, coherence = cast.dimensions
    for index, item in enumerate(cast.items):
        asked = [fluency.pk, coherence.pk] if index % 2 == 0 else [coherence.pk, fluency.pk]
        for dimension, values in ((fluency, RTS), (coherence, RTS)):
            make_judgment(judge, item, dimension, value=values[index], asked_dimensions=asked)
    return cast


def test_scores_of_one_call_are_compared_with_the_previous_score(client):
    cast = several_dimensions()
    client.force_login(cast.admin)
    found = {row["dimension"]: row for row in rows(client, cast, "score-before", "biases")}
    assert found["Coherence"]["before"] == "Fluency"
    assert (found["Coherence"]["items"], found["Fluency"]["items"]) == ("6", "6")
    means = [(first + second) / 2 for first, second in zip(*PEOPLE, strict=True)]
    assert float(found["Coherence"]["judge_r"]) == pytest.approx(1)  # it gave the same on both
    assert float(found["Coherence"]["people_r"]) == pytest.approx(np.corrcoef(means[::2], MCQ[::2])[0, 1])
    assert float(found["Fluency"]["people_r"]) == pytest.approx(np.corrcoef(means[1::2], MCQ[1::2])[0, 1])


def test_judge_score_distributions_appear_next_to_human_ones(client):
    cast = several_dimensions()
    client.force_login(cast.admin)
    found = {
        (row["dimension"], row["score_before"], row["who"]): row
        for row in rows(client, cast, "given-before", "biases")
    }
    # Of the items at even places, fluency first: RTS has two 3s there.
    own = found["Coherence", "3", "judge"]
    assert (own["number"], own["share_3"], own["share_2"]) == ("2", "1.0", "0.0")
    followed = [
        other for values in PEOPLE for value, other in list(zip(values, MCQ, strict=True))[::2] if value == 3
    ]
    people = found["Coherence", "3", "people"]
    assert people["number"] == str(len(followed))
    assert float(people["share_4"]) == pytest.approx(followed.count(4) / len(followed))


def test_call_positions_are_compared_if_the_order_was_rotated(client):
    cast = several_dimensions()
    client.force_login(cast.admin)
    (fluency,) = [row for row in rows(client, cast, "place", "biases") if row["dimension"] == "Fluency"]
    means = [(first + second) / 2 for first, second in zip(*PEOPLE, strict=True)]
    later, first = (np.corrcoef(RTS[start::2], means[start::2])[0, 1] for start in (1, 0))
    assert float(fluency["correlation"]) == pytest.approx(later - first)
    errors = [said - mean for said, mean in zip(RTS, means, strict=True)]
    assert float(fluency["shift"]) == pytest.approx(np.mean(errors[1::2]) - np.mean(errors[::2]))
    assert float(fluency["place_2"]) == pytest.approx(kendalltau(RTS[1::2], means[1::2]).statistic)


def test_judge_of_single_dimension_calls_states_its_order_requirement(client, cast):
    words = text_of(client.get(page_of(cast, "biases")))
    assert "A judge by the method “Several dimensions in one call”, in rotated order, is needed." in words


def test_options_in_reverse_order_show_what_their_order_does(client, cast):
    backwards = make_judge(cast.project, "mcq_reversed", name="Backwards")
    chooser = cast.project.judges.get(name="Chooser")
    for judgment in chooser.judgments.all():
        make_judgment(backwards, judgment.item, cast.dimensions[0], value=min(5, judgment.value + 1))
    (row,) = biases(client, cast, "options", "Chooser")
    moved = [min(5, value + 1) - value for value in MCQ]
    assert float(row["shift"]) == pytest.approx(sum(moved) / len(moved) / 2)
    assert float(row["changed"]) == pytest.approx(sum(move > 0 for move in moved) / len(moved))


def test_biases_without_judges_give_a_message(client):
    cast = make_project()
    client.force_login(cast.admin)
    assert "There is no judge yet" in text_of(client.get(page_of(cast, "biases")))
    make_judge(cast.project)
    assert client.get(page_of(cast, "biases")).status_code == 200
