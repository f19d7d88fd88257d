"""Judgments and metrics of bridging items, which belong to an earlier part and count in no result."""

import numpy as np
import pytest

from annotate.core.models import BridgingItem, GoldItem, Item
from annotate.core.rounds import last_round
from judges.core.models import Judge, Judgment, MetricValue
from judges.core.stages import JudgeStage
from judges.laboratory.tables.kinds_of_bias import load_call_positions
from judges.results.queries.answers import answers_beside_people
from judges.results.queries.confidences import Kind, evidence_of
from judges.results.queries.scores import Material, guideline_of, material_of, samples_of, verdicts_of
from judges.results.queries.texts import texts_of
from judges.results.tables.columns import count_judged
from judges.results.tables.metrics import metrics_sections
from tests.factories import Cast
from tests.judges.factories import make_judge, make_judgment, make_metric
from tests.judges.measured import measured_project
from tests.judges.questions.projects import answer_of, make_mixed_project

pytestmark = pytest.mark.django_db


def bridge(*items: Item) -> None:
    """Make items bridging items, of another item of their project."""
    for item in items:
        gold = GoldItem.objects.create(item=item, use=GoldItem.Use.HIDDEN)
        original = Item.objects.filter(document__project=item.document.project).exclude(pk=item.pk)[0]
        BridgingItem.objects.create(gold=gold, original=original)


@pytest.fixture
def cast() -> Cast:
    return measured_project()


def make_bridging(cast: Cast) -> list[Item]:
    """Make the first and the last item bridging items, so that one has a later key than all others."""
    made = [cast.items[0], cast.items[-1]]
    bridge(*made)
    return made


def material(cast: Cast) -> Material:
    return material_of(cast.project, last_round(cast.project))


def test_values_of_bridging_items_do_not_count(cast: Cast) -> None:
    judge = Judge.objects.get(name="Reasoner")
    before = samples_of([judge], material(cast))[judge.pk, "fluency"].values
    people = material(cast).human("fluency")
    make_bridging(cast)
    after = material(cast)
    assert np.array_equal(samples_of([judge], after)[judge.pk, "fluency"].values, before[1:-1])
    assert np.array_equal(after.human("fluency"), people[:, 1:-1])


def test_verdicts_about_bridging_items_do_not_count(cast: Cast) -> None:
    judge = make_judge(cast.project, "h2h")
    for first, second in ((0, 1), (1, 2), (10, 11)):
        make_judgment(judge, cast.items[first], cast.dimensions[0], other=cast.items[second], value=1)
    make_bridging(cast)
    found = verdicts_of(judge, material(cast))["fluency"]
    assert (list(found.pairs), len(found.points)) == ([("system-2", "system-3")], 1)


def test_metrics_of_bridging_items_do_not_count(cast: Cast) -> None:
    make_metric(cast, range(1, 13))
    bridging = make_bridging(cast)
    chosen = {"dimension": "fluency", "coefficient": "spearman"}
    ((table,),) = [each.tables for each in metrics_sections(cast.project, chosen)]
    MetricValue.objects.filter(item__in=bridging).delete()
    ((without,),) = [each.tables for each in metrics_sections(cast.project, chosen)]
    assert table.rows == without.rows


def test_perplexities_of_bridging_items_do_not_count(cast: Cast) -> None:
    make_metric(cast, range(1, 13), name="Perplexity")
    make_bridging(cast)
    found = texts_of(cast.project).log_perplexity
    assert found is not None
    assert np.array_equal(found, np.log(range(2, 12)))


def test_call_positions_of_bridging_items_do_not_count(cast: Cast) -> None:
    judge, dimension = make_judge(cast.project, "several"), cast.dimensions[0]
    for item in cast.items:
        make_judgment(judge, item, dimension, asked_dimensions=[dimension.pk])
    make_bridging(cast)
    found = load_call_positions(judge, material(cast).items.tolist())
    assert found[dimension.pk].positions.tolist() == [0] * 10


def test_probabilities_of_bridging_items_do_not_count(cast: Cast) -> None:
    judge, dimension = make_judge(cast.project, "mcq", score_from="mean"), cast.dimensions[0]
    for index, item in enumerate(cast.items):
        share = 0.5 if 0 < index < 11 else 0.9
        make_judgment(judge, item, dimension, log_probabilities={"3": float(np.log(share))})
    make_bridging(cast)
    now = material(cast)
    evidence = evidence_of(
        Kind.CHOSEN_PROBABILITY, JudgeStage(1, judge, None), now, samples_of([judge], now), "fluency"
    )
    assert evidence.confidences == pytest.approx(0.5)


def test_unread_replies_about_bridging_items_are_no_gaps(cast: Cast) -> None:
    judge = Judge.objects.get(name="Reasoner")
    assert count_judged([judge], {}) == {(judge.pk, "fluency"): (12, 12)}
    bridging = make_bridging(cast)
    Judgment.objects.filter(judge=judge, item__in=bridging).update(
        status="unreadable", value=None, reason="No score."
    )
    assert count_judged([judge], {}) == {(judge.pk, "fluency"): (10, 10)}


def test_answers_about_bridging_items_do_not_count() -> None:
    cast = make_mixed_project()
    judge, labels = make_judge(cast.project, "questions"), cast.project.dimensions.get(key="labels")
    for item in cast.items[:3]:
        make_judgment(judge, item, labels, data=answer_of("labels", item))
    guideline = guideline_of(cast.project, None)
    (before,) = answers_beside_people(cast.project, [judge], guideline, None)
    bridge(cast.items[0])
    (after,) = answers_beside_people(cast.project, [judge], guideline, None)
    assert (before.items, after.items) == (3, 2)
