from math import log

import pytest

from annotate.core.guideline import FrozenDimension
from judges.methods import METHODS
from judges.methods.base import Readable, Unreadable
from tests.judges.methods.dimensions import FIVE, HUNDRED, TEN, TOPICS

G_EVAL = METHODS["g_eval"]


def value(logprobs: dict[str, float], scale: FrozenDimension = FIVE, method: str = "g_eval") -> float:
    reading = METHODS[method].weighted_score(logprobs, scale)
    assert isinstance(reading, Readable), reading
    return reading.value


def test_a_score_is_the_mean_of_the_candidates_by_their_probabilities():
    assert value({"4": log(0.75), "3": log(0.25)}) == pytest.approx(3.75)


def test_other_tokens_do_not_count():
    """(4 x 0.6 + 5 x 0.2) / 0.8"""
    assert value({"4": log(0.6), "5": log(0.2), "The": log(0.1), "7": log(0.1)}) == pytest.approx(4.25)


def test_forms_of_one_token_are_one_answer():
    assert value({" 4": log(0.25), "4": log(0.25), "2": log(0.5)}) == pytest.approx(3)


def test_too_little_probability_on_the_scale_is_no_score():
    reading = G_EVAL.weighted_score({"4": log(0.3), "The": log(0.7)}, FIVE)
    assert reading == Unreadable("The answers on the scale carry 30% of the probability, less than half.")


@pytest.mark.parametrize("logprobs", [{}, {"4": float("-inf")}, {"4": float("nan")}])
def test_nothing_likely_is_no_score(logprobs):
    reading = G_EVAL.weighted_score(logprobs, FIVE)
    assert reading == Unreadable("The answers on the scale carry 0% of the probability, less than half.")


@pytest.mark.parametrize("chance", [0.0, 1e-9, 1000.0])
def test_a_certain_token_is_the_score_whatever_the_rounding(chance):
    assert value({"5": chance}) == 5


def test_first_token_of_a_longer_score_is_no_score():
    reading = G_EVAL.weighted_score({"8": log(0.9), "7": log(0.1)}, HUNDRED)
    assert reading == Unreadable("The token 8 may be the beginning of a longer score.")


def test_tokens_that_are_whole_scores_are_read():
    assert value({"80": log(0.5), "90": log(0.5)}, HUNDRED) == pytest.approx(85)
    assert value({"1": log(0.5), "10": log(0.5)}, TEN) == pytest.approx(5.5)


def test_letters_have_the_values_of_their_options():
    assert value({"D": log(0.5), "E": log(0.5)}, method="mcq") == pytest.approx(4.5)
    assert value({"A": log(0.75), "B": log(0.25)}, method="h2h") == pytest.approx(0.75)


def test_categories_have_no_mean():
    reading = G_EVAL.weighted_score({"Sport": log(1.0)}, TOPICS)
    assert reading == Unreadable("Named categories have no mean, so probabilities give no score.")
    assert isinstance(METHODS["mcq"].weighted_score({"A": log(1.0)}, TOPICS), Unreadable)


def test_options_are_read_at_the_first_token_that_carries_any() -> None:
    """(1 x 0.1 + 3 x 0.3) / 0.4"""
    tokens = [
        {"The": log(0.9), "a text": log(0.1)},
        {" text": log(0.6), "A": log(0.06), " A": log(0.04), "c": log(0.3)},
        {"E": log(1.0)},
    ]
    reading = METHODS["mcq"].weighted_score_of_first(tokens, FIVE)
    assert isinstance(reading, Readable)
    assert reading.value == pytest.approx(2.5)
    assert reading.rationale == "The options carry 0.4 of the probability."


def test_options_that_hardly_have_a_chance_are_no_choice() -> None:
    """The model was about to say that it cannot judge."""
    reading = METHODS["mcq"].weighted_score_of_first([{"I": log(0.99), " A": log(0.009)}], FIVE)
    assert reading == Unreadable("The options carry only 0.009 of the probability.")


def test_tokens_without_options_are_no_choice_and_numbers_of_scores_are_not_looked_for() -> None:
    assert METHODS["mcq"].weighted_score_of_first([{"The": log(1.0)}], FIVE) is None
    assert METHODS["mcq"].weighted_score_of_first([], FIVE) is None
    assert METHODS["direct"].weighted_score_of_first([{"4": log(1.0)}], FIVE) is None
