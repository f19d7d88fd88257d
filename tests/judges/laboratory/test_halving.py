"""Which combinations a search tries, and which go on: by hand, and its reached level by simulation."""

import numpy as np
import pytest

from agreement.comparison import Scores, compare_two_judges, holm_over_pairs
from judges.laboratory.halving import (
    CandidateRank,
    Stage,
    choose_best,
    combine_parts,
    keep_half,
    largest_plan,
    plan_stages,
)


def test_parts_alone_come_first_then_all_additions_then_pairs():
    assert combine_parts([], ["a", "b", "c"], 6) == [
        ("a",),
        ("b",),
        ("c",),
        ("a", "b", "c"),
        ("a", "b"),
        ("a", "c"),
    ]
    assert combine_parts(["w", "v"], ["a"], 9) == [("w",), ("v",), ("a",), ("w", "a"), ("v", "a")]


def test_each_stage_has_half_the_candidates_and_twice_the_documents():
    assert plan_stages(8, 12) == [Stage(8, 3), Stage(4, 6), Stage(2, 12)]
    assert plan_stages(3, 4) == [Stage(3, 2), Stage(2, 4)]
    assert plan_stages(1, 5) == [Stage(1, 5)]
    with pytest.raises(ValueError, match="two documents"):
        plan_stages(2, 1)


def test_fewer_calls_take_fewer_documents_and_too_few_take_none():
    def calls(stages):
        return sum(stage.candidates * stage.documents for stage in stages)

    assert largest_plan(4, 20, lambda stages: calls(stages) <= 40) == [Stage(4, 5), Stage(2, 10)]
    assert largest_plan(4, 20, lambda stages: calls(stages) <= 3) is None


def test_better_half_continues_with_the_simplest_of_equals_first():
    standings = [
        CandidateRank(1, 0.1, 1.0, parts=1),
        CandidateRank(2, 0.4, 1.0, parts=2),
        CandidateRank(3, 0.4, 1.0, parts=1),
        CandidateRank(4, 0.9, 0.5, parts=1),  # it said nothing on half of the items
        CandidateRank(5, None, 1.0, parts=1),
    ]
    assert keep_half(standings) == [3, 2, 1]
    assert choose_best(standings) == 3


def test_selection_keeps_the_current_judge_unless_another_is_better():
    assert choose_best([CandidateRank(1, 0.0, 1.0, 1), CandidateRank(2, -0.1, 1.0, 1)]) is None
    assert choose_best([CandidateRank(1, None, 1.0, 1)]) is None
    assert choose_best([]) is None


DOCUMENTS, SYSTEMS, CANDIDATES, TIMES = 36, 3, 8, 200
DEVELOPMENT = 12


def scores_of(human, judge, documents):
    systems = [f"s{index % SYSTEMS}" for index in range(len(human))]
    return Scores(systems=systems, documents=documents, human=human[None], judge=judge, as_read=judge)


def gain_of(human, judges, documents, which, seed):
    _, figures = compare_two_judges(
        *(scores_of(human[which], judge[which], documents[which]) for judge in judges),
        generator=np.random.default_rng(seed),
        replicates=200,
    )
    return figures["alpha"]


def search(human, base, candidates, documents, seed):
    """Halve the candidates on development documents; return the best one's gain there and held out."""
    left = list(range(len(candidates)))
    for stage in plan_stages(len(candidates), DEVELOPMENT):
        which = documents < stage.documents
        gains = [gain_of(human, (candidates[one], base), documents, which, seed) for one in left]
        standings = [CandidateRank(one, gain.value, 1.0, 1) for one, gain in zip(left, gains, strict=True)]
        left = keep_half(standings)
    chosen = choose_best([each for each in standings if each.candidate in left])
    if chosen is None:
        return None
    pair = (candidates[chosen], base)
    parts = (documents < DEVELOPMENT, documents >= DEVELOPMENT)
    development, held_out = (gain_of(human, pair, documents, which, seed) for which in parts)
    (compared,) = holm_over_pairs([("chosen", "base", 0, {"alpha": held_out})])
    return development, held_out, compared.adjusted["alpha"]


def test_among_pure_noise_the_held_out_documents_claim_an_improvement_no_more_often_than_they_may():
    """Base and candidates have errors of the same law; the best of eight looks better where it was chosen."""
    documents = np.repeat(np.arange(DOCUMENTS), SYSTEMS)
    rng = np.random.default_rng(20261125)
    gains, claimed = [], 0
    for seed in range(TIMES):
        human = rng.integers(1, 6, len(documents)).astype(float)
        base, *candidates = np.clip(human + rng.normal(0, 1.2, (CANDIDATES + 1, len(documents))), 1, 5)
        found = search(human, base, candidates, documents, seed)
        if found is not None:
            development, held_out, p_value = found
            gains.append((development.value, held_out.value))
            claimed += p_value < 0.05 and held_out.value > 0
    # At .05 two-sided .025 are expected to be better; three standard errors above it are .058.
    assert claimed / TIMES <= 0.025 + 3 * (0.025 * 0.975 / TIMES) ** 0.5
    learned, kept = np.mean(gains, axis=0)
    assert learned > 0.05, "The best of many looks better on the documents that it was chosen on"
    assert abs(kept) < 0.03
