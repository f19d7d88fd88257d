"""A judge's error next to a random person's, compared with loops over the definitions and with SciPy."""

from dataclasses import replace

import numpy as np
import pytest
import scipy

from agreement.comparison import Scores
from agreement.reliability import (
    ErrorStatistic,
    JudgeUse,
    Shown,
    correction_gain,
    find_uses,
    judge_error,
)

pytestmark = [pytest.mark.fast, pytest.mark.once]


def scores_of(human, judge):
    """Scores of people (raters, documents, systems) and a judge (documents, systems)."""
    raters, documents, systems = human.shape
    return Scores(
        systems=np.tile(np.arange(systems), documents),
        documents=np.repeat(np.arange(documents), systems),
        human=human.reshape(raters, -1),
        judge=np.asarray(judge).reshape(-1),
    )


def panel(generator, *, raters=3, documents=30, systems=6, noise=0.5, quality=0.5, texts=0.6):
    truth = 3 + quality * np.linspace(-1, 1, systems) + texts * generator.normal(size=(documents, systems))
    people = truth + 0.1 * generator.normal(size=(raters, 1, 1))
    return people + noise * generator.normal(size=(raters, documents, systems)), truth


def found_for(human, judge, **options):
    return judge_error(scores_of(human, judge), generator=np.random.default_rng(1), replicates=200, **options)


def half_width(low, high):
    return (high - low) / 2


@pytest.fixture
def given():
    generator = np.random.default_rng(7)
    human, truth = panel(generator, documents=9, systems=4)
    human[generator.random(human.shape) < 0.2] = np.nan
    return human, np.round(truth + 0.4 * generator.normal(size=truth.shape) + 0.3)


@pytest.mark.oracle("loops over the definitions", of="judge_error", within=1e-06)
def test_bias_and_advantage_follow_their_definitions_with_gaps(given):
    human, judge = given
    raters, documents, systems = human.shape
    biases, advantages, squares = [], [], []
    for rater in range(raters):
        for cell in np.ndindex(documents, systems):
            own = human[(rater, *cell)]
            others = [human[(each, *cell)] for each in range(raters) if each != rater]
            others = [each for each in others if not np.isnan(each)]
            if np.isnan(own):
                continue
            biases.append(judge[cell] - own)
            squares.append((rater, (judge[cell] - own) ** 2))
            if others:
                mean = np.mean([(each - own) ** 2 for each in others])
                advantages.append((rater, mean - (judge[cell] - own) ** 2))
    shares = np.bincount([rater for rater, _ in squares]) / len(squares)
    by_rater = [np.mean([value for rater, value in advantages if rater == each]) for each in range(raters)]
    found = found_for(human, judge)
    assert found.bias.value == pytest.approx(np.mean(biases))
    assert found.error == pytest.approx(np.sqrt(np.mean([value for _, value in squares])))
    assert found.advantage.value == pytest.approx(float(shares @ by_rater))


@pytest.mark.oracle("package SciPy 1.17.1, kendalltau and pearsonr", of="judge_error", within=1e-06)
def test_orders_follow_scipy():
    human, truth = panel(np.random.default_rng(8), documents=9, systems=4)
    judge = np.round(truth * 2) / 2
    taus = [scipy.stats.kendalltau(judge.mean(axis=0), each.mean(axis=0)).statistic for each in human]
    within = [
        np.mean([scipy.stats.pearsonr(judge[:, system], each[:, system])[0] for system in range(4)])
        for each in human
    ]
    found = found_for(human, judge)
    assert found.order_of_systems.value == pytest.approx(np.mean(taus))
    assert found.order_within_systems.value == pytest.approx(np.mean(within))


def test_interval_of_bias_has_the_two_way_variance():
    """The mean of a complete table of documents and raters, both random: mean squares in closed form."""
    human, truth = panel(np.random.default_rng(9), raters=5, documents=60, systems=3)
    human += 0.5 * np.arange(5)[:, None, None]
    found = judge_error(scores_of(human, truth), generator=np.random.default_rng(1), replicates=4000)
    table = (truth - human).mean(axis=2)  # (raters, documents)
    of_raters, of_documents = table.mean(axis=1), table.mean(axis=0)
    left = table - of_raters[:, None] - of_documents + table.mean()
    squares = (5 * of_documents.var(ddof=1) + 60 * of_raters.var(ddof=1) - np.sum(left**2) / (4 * 59)) / (
        5 * 60
    )
    reach = half_width(found.bias.low, found.bias.high)
    freedom = 4  # the raters' part is nearly all of it
    assert reach == pytest.approx(scipy.stats.t.ppf(0.975, freedom) * np.sqrt(squares), rel=0.05)
    panel_reach = half_width(found.bias.panel_low, found.bias.panel_high)
    wanted = scipy.stats.t.ppf(0.975, 59) * np.sqrt(of_documents.var(ddof=1) / 60)
    assert panel_reach == pytest.approx(wanted, rel=0.05)


def test_controls_do_not_know_the_rater_or_the_document():
    human, _ = panel(np.random.default_rng(10), documents=12, systems=2)
    human = np.round(human)
    human[0] += 10
    found = found_for(human, np.round(human.mean(axis=0)))
    squares = []
    for rater in range(3):
        for document in range(12):
            rest = np.delete(np.delete(human, rater, axis=0), document, axis=1)
            squares += [(human[rater, document, system] - rest.mean()) ** 2 for system in range(2)]
    assert found.controls["constant"].error <= np.sqrt(np.mean(squares)) * 1.2
    assert found.controls["constant"].error > 5, "fitted to the first rater too, it would be closer"


def test_shuffled_control_is_the_expectation_over_other_outputs():
    generator = np.random.default_rng(11)
    human, truth = panel(generator, documents=8, systems=3)
    judge = np.round(truth)
    squares = [
        np.mean(
            [
                (judge[other, system] - human[rater, document, system]) ** 2
                for other in range(8)
                if other != document
            ]
        )
        for rater, document, system in np.ndindex(3, 8, 3)
    ]
    control = found_for(human, judge).controls["shuffled"]
    assert control.error == pytest.approx(np.sqrt(np.mean(squares)))
    assert control.order_within_systems == 0


def test_categories_count_other_values():
    generator = np.random.default_rng(12)
    human = generator.integers(0, 3, size=(3, 20, 2)).astype(float)
    judge = human[0]
    found = found_for(human, judge, loss="unequal")
    others = [human[a] != human[b] for a in range(3) for b in range(3) if a != b]
    assert found.person_error == pytest.approx(np.sqrt(np.mean(others)))
    assert found.error == pytest.approx(np.sqrt(np.mean(human != judge)))
    assert found.bias.value is None
    assert "no order" in found.order_of_systems.reason
    assert found.controls["constant"].order_of_systems is None


@pytest.mark.parametrize(
    ("raters", "documents", "reason"), [(3, 2, "on 2 documents; 3 are needed"), (1, 12, "a second is needed")]
)
def test_too_few_documents_or_raters_give_a_reason(raters, documents, reason):
    human, truth = panel(np.random.default_rng(13), raters=raters, documents=documents)
    found = found_for(human, truth)
    assert found.advantage.value is None
    assert reason in found.advantage.reason
    (_, single, _) = find_uses(found, correction_gain(human.mean(axis=0), truth, share=0.2))
    assert not single.is_granted
    assert reason in single.says


def test_two_raters_have_intervals_for_this_panel_alone():
    human, truth = panel(np.random.default_rng(14), raters=2)
    found = found_for(human, truth)
    assert found.advantage.low is None
    assert found.advantage.panel_low < found.advantage.value < found.advantage.panel_high


def granted(human, judge, lengths=None):
    found = found_for(human, judge, lengths=lengths)
    uses = find_uses(found, correction_gain(human.mean(axis=0), judge, share=0.2), alpha_among_people=0.6)
    return {each.use: each for each in uses}


def test_good_judge_is_granted_every_use():
    generator = np.random.default_rng(15)
    human, truth = panel(generator, raters=5, documents=60, texts=1)
    found = granted(human, truth + 0.1 * generator.normal(size=truth.shape))
    assert {each.shown for each in found.values()} == {Shown.SURELY}
    assert "beats every control" in found[JudgeUse.SCORE].says


def test_advice_for_a_biased_judge_is_to_subtract_its_bias():
    generator = np.random.default_rng(16)
    human, truth = panel(generator, raters=5, documents=60, texts=1)
    found = granted(human, truth + 1.5)
    assert found[JudgeUse.SCORE].shown is Shown.REFUTED
    assert "Subtract its bias (+1." in found[JudgeUse.SCORE].says
    assert found[JudgeUse.RANK].is_granted
    assert found[JudgeUse.MEANS].is_granted


def test_judge_that_only_knows_systems_ranks_them_and_no_more():
    human, truth = panel(np.random.default_rng(17), raters=5, documents=60)
    found = granted(human, np.broadcast_to(truth.mean(axis=0), truth.shape))
    assert found[JudgeUse.RANK].is_granted
    assert not found[JudgeUse.SCORE].is_granted
    assert "one value for each system" in found[JudgeUse.SCORE].says
    assert not found[JudgeUse.MEANS].is_granted


def test_judge_that_only_knows_the_length_is_not_granted():
    generator = np.random.default_rng(18)
    human, truth = panel(generator, raters=5, documents=60)
    lengths = 100 * (truth + 0.3 * generator.normal(size=truth.shape))
    found = granted(human, np.round(lengths / 100), lengths.reshape(-1))
    assert not found[JudgeUse.RANK].is_granted
    assert "length" in found[JudgeUse.RANK].says


def test_perfect_judge_of_a_panel_that_agrees_is_granted():
    human, truth = panel(np.random.default_rng(19), noise=0)
    human[:] = truth
    assert granted(human, truth)[JudgeUse.SCORE].is_granted


def test_error_names_weak_agreement_as_the_cause():
    human, truth = panel(np.random.default_rng(20), noise=1.5, documents=12)
    found = found_for(human, np.full(truth.shape, 3.0))
    margin = ErrorStatistic(0.1, -0.2, 0.4, 0.05, 0.2)
    beyond = ErrorStatistic(0.0, -0.2, 0.2, -0.1, 0.1)
    unsure = {"constant": replace(found.controls["constant"], beyond=beyond)}
    found = replace(found, margin=margin, controls=unsure)
    uses = find_uses(found, correction_gain(human.mean(axis=0), truth, share=0.2), alpha_among_people=0.12)
    assert uses[1].shown is Shown.NOT
    assert uses[1].says.endswith("beat a constant; raters agree too little (alpha 0.12) to tell.")


def test_nothing_that_cannot_be_computed_is_a_number():
    """One system, equal ratings, few ratings of a rater, and raters who share no text."""
    generator = np.random.default_rng(21)
    one_system, truth = panel(generator, systems=1, documents=12)
    equal = np.full((3, 12, 3), 4.0)
    few, of_few = panel(generator, systems=3, documents=12)
    few[2, 2:] = np.nan
    apart, of_apart = panel(generator, systems=3, documents=12)
    for rater in range(3):
        apart[rater, :, [system for system in range(3) if system != rater]] = np.nan
    cases = [(one_system, truth), (equal, equal[0]), (few, of_few), (apart, of_apart)]
    for human, judge in cases:
        found = found_for(human, judge)
        numbers = [found.error, found.person_error]
        for each in (found.bias, found.margin, found.order_of_systems, found.order_within_systems):
            numbers += [each.value, each.low, each.panel_low]
            assert each.value is not None or each.reason
        for control in found.controls.values():
            numbers += [control.error, control.order_of_systems, control.order_within_systems]
        assert not [number for number in numbers if number is not None and np.isnan(number)]
        says = " ".join(each.says for each in find_uses(found, correction_gain(judge, judge, share=0.2)))
        assert "nan" not in says


@pytest.mark.parametrize("loss", ["squared", "unequal"])
def test_controls_without_values_on_other_documents_are_undefined(loss):
    # The second rater alone has only the first document, so no control can be fitted for it elsewhere.
    generator = np.random.default_rng(1)
    human = generator.integers(1, 6, (2, 18)).astype(float)
    human[1, 3:] = np.nan
    scores = Scores(
        judge=generator.integers(1, 6, 18),
        human=human,
        systems=np.tile(np.arange(3), 6),
        documents=np.repeat(np.arange(6), 3),
    )
    found = judge_error(scores, generator=generator, lengths=generator.random(18), loss=loss)
    assert all(each.error is not None for each in found.controls.values())


def test_people_who_agree_perfectly_have_no_error():
    human = np.random.default_rng(0).integers(1, 6, size=(12, 3)).astype(float)
    found = found_for(np.stack([human] * 3), human)
    assert (found.person_error, found.error) == (0, 0)


def test_order_that_no_resample_changes_is_sure():
    generator = np.random.default_rng(22)
    human, truth = panel(generator, systems=4, documents=40, quality=3)
    tau = found_for(human, truth).order_of_systems
    assert (tau.value, tau.low, tau.panel_low) == (1, 1, 1)
