"""Judges beat the controls by what they know of an item, and by nothing less."""

import numpy as np
import pytest

from agreement.reliability import AlternativeAnnotatorTest, alternative_annotator_test, share_of_equal_values
from benchmarks.coverage_replacement import Rated, beaten_controls


def test_judge_that_knows_the_system_does_not_pass() -> None:
    """Its mean on other documents: it beat the best constant, and so it passed, in .72 of these projects."""
    shares = beaten_controls(Rated(40), "system", 25)
    assert shares["constant"] >= 0.5
    assert shares["system"] <= 0.08
    assert shares["passes"] <= 0.08


def test_judge_that_knows_the_length_does_not_beat_it() -> None:
    shares = beaten_controls(Rated(40, of_length=0.8), "length", 25)
    assert shares["constant"] >= 0.5
    assert shares["length"] <= 0.12
    assert shares["passes"] <= 0.12


def test_judge_that_knows_the_item_passes() -> None:
    assert beaten_controls(Rated(40), "item", 15)["passes"] >= 0.8


def test_controls_need_systems_and_lengths() -> None:
    values = np.tile(np.arange(1.0, 6), (3, 8))
    found = alternative_annotator_test(values, values[0], epsilon=0.2, generator=np.random.default_rng(1))
    assert list(found.controls) == ["constant", "shuffled"]
    with pytest.raises(ValueError, match="needs the length of its text"):
        alternative_annotator_test(
            values, values[0], epsilon=0.2, generator=np.random.default_rng(1), lengths=[1, 2]
        )


def test_units_without_a_judgment_fit_no_control() -> None:
    generator = np.random.default_rng(5)
    truth = generator.integers(1, 6, 120).astype(float)
    human, judge = np.clip(truth + generator.integers(-1, 2, (3, 120)), 1, 5), truth.copy()
    judge[80:] = np.nan
    documents, systems = np.arange(120) // 4, np.arange(120) % 4

    def tested(upto: int) -> AlternativeAnnotatorTest:
        return alternative_annotator_test(
            human[:, :upto],
            judge[:upto],
            epsilon=0.2,
            generator=np.random.default_rng(7),
            documents=documents[:upto],
            systems=systems[:upto],
            lengths=np.arange(upto),
        )

    assert tested(120) == tested(80)


def test_one_document_gives_no_interval() -> None:
    values = np.tile(np.arange(1.0, 6), (3, 8))
    found = alternative_annotator_test(
        values,
        values[0],
        epsilon=0.2,
        generator=np.random.default_rng(1),
        documents=np.zeros(40),
        systems=np.arange(40) % 2,
        lengths=np.arange(40),
    )
    assert [each.interval for each in found.controls.values()] == [None] * 4


def test_categories_have_the_same_controls() -> None:
    """Each system has its own category on nearly all documents: a judge that says it passes no more."""
    generator = np.random.default_rng(6)
    usual = np.tile([1.0, 2, 3], 40)
    people = np.where(generator.random((3, 120)) < 0.1, 4.0, usual)
    found = alternative_annotator_test(
        people,
        usual,
        epsilon=0.2,
        generator=generator,
        documents=np.repeat(np.arange(40), 3),
        systems=np.tile(np.arange(3), 40),
        alignment=share_of_equal_values,
    )
    assert found.winning_rate == 1
    assert found.controls["constant"].is_beaten
    assert not found.controls["system"].is_beaten
    assert found.verdict == "passes, but so would a control"
