"""Scales of judges' own: asked on, read on, and mapped to those of dimensions."""

import numpy as np
import pytest

from judges.core.values import map_values, nearest_point
from judges.methods import METHODS
from judges.methods.base import Subject
from judges.methods.reading import Readable, Unreadable
from judges.methods.scales import OwnScale
from tests.judges.methods.dimensions import FIVE, HUNDRED, LABELLED, TEN, TOPICS

ONE_TO_TEN = OwnScale(1, 10)
MODIFIED = OwnScale(1, 5, modifiers=True)


def test_a_prompt_says_the_own_scale_and_the_reply_is_read_on_it():
    asked = ONE_TO_TEN.rescale(LABELLED)
    (message,) = METHODS["rts"].messages(METHODS["rts"].default_template, Subject((), "A text."), asked)
    assert "a number from 1 to 10" in message.content
    assert "Well ordered" not in message.content
    assert METHODS["rts"].read("It flows. Score: 7/10", asked) == Readable(7, "It flows.")
    assert isinstance(METHODS["rts"].read("Score: 4/5", asked), Unreadable)
    assert "J: 10 on the scale from 1 to 10" in METHODS["mcq"].own_values(asked)["options"]


def test_labels_stay_if_the_points_are_equal():
    assert MODIFIED.rescale(LABELLED).points == LABELLED.points


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("It flows.\nScore: strong 4", 4.33),
        ("Score: weak 4/5", 3.67),
        ("Score: 3", 3),
        ("**Score:** **Strong** 5", 5.33),
        ("Score: 2 (weak)", 1.67),
        ('{"reason": "It flows.", "score": "weak 1"}', 0.67),
    ],
)
def test_weak_and_strong_are_read(reply, value):
    reading = METHODS["rts"].read(reply, MODIFIED.rescale(FIVE))
    assert isinstance(reading, Readable)
    assert reading.value == pytest.approx(value)


def test_weak_and_strong_count_only_where_the_scale_has_them():
    assert METHODS["rts"].read("Score: strong 4", FIVE) == Readable(4)
    asked = MODIFIED.rescale(FIVE)
    assert isinstance(METHODS["rts"].read("Score: strong 4\nScore: weak 4", asked), Unreadable)
    assert METHODS["rts"].refuses_value(5.33, asked) is None
    assert METHODS["rts"].refuses_value(5.33, FIVE)
    words = METHODS["direct"].json_schema(asked)["properties"]["score"]["enum"]
    assert words[:3] == ["weak 1", "1", "strong 1"]
    assert METHODS["direct"].read_structured('{"score": "strong 1"}', asked) == Readable(1.33)
    assert "weak" in METHODS["rts"].messages("{{ answer }} {{ text }}", Subject((), ""), asked)[0].content


def test_values_are_mapped_ends_to_ends_or_by_the_table():
    assert map_values([1, 5.5, 10, np.nan], ONE_TO_TEN, FIVE).tolist()[:3] == [1, 3, 5]
    assert np.isnan(map_values([np.nan], ONE_TO_TEN, FIVE)).all()
    assert map_values([0.67, 3, 5.33], MODIFIED, TEN) == pytest.approx([1, 5.5, 10])
    table = OwnScale(0, 2, table=(1, 1, 4))
    assert map_values([0, 1, 1.5, 2], table, FIVE).tolist() == [1, 1, 2.5, 4]


def test_value_has_a_nearest_point_on_an_own_scale():
    assert [nearest_point(value, ONE_TO_TEN, FIVE) for value in (1, 2, 3, 5)] == [1, 3, 5, 10]
    table = OwnScale(0, 2, table=(1, 1, 4))
    assert [nearest_point(value, table, FIVE) for value in (1, 2, 3)] == [0, 0, 2]


@pytest.mark.parametrize(
    ("scale", "problem"),
    [
        (OwnScale(5, 5), "ends above"),
        (OwnScale(0, 5000), "1,001 are the most"),
        (OwnScale(-2, 2, modifiers=True), "without negative numbers"),
        (OwnScale(1, 3, table=(1, 2)), "each of the 3 points, and has 2"),
        (OwnScale(1, 3, table=(1, float("nan"), 2)), "a number for each"),
        (OwnScale(1, 3, table=(3, 2, 1)), "must not be a lower value"),
        (OwnScale(1, 3, table=(2, 2, 2)), "say nothing"),
    ],
)
def test_invalid_scale_is_rejected_with_a_message(scale, problem):
    assert problem in scale.problem


def test_custom_scale_fits_amounts_within_the_dimension_scale_only():
    assert "named categories" in (ONE_TO_TEN.refuses(TOPICS) or "")
    table = OwnScale(1, 2, table=(1, 50))
    assert "gives 50" in (table.refuses(FIVE) or "")
    assert table.refuses(HUNDRED) is None
    assert not ONE_TO_TEN.problem


def test_thirds_appear_as_numbers():
    thirds = OwnScale(1, 5, thirds=True)
    asked = thirds.rescale(FIVE)
    (message,) = METHODS["direct"].messages("{{ answer }} {{ text }}", Subject((), ""), asked)
    assert "in steps of a third: 1, 1.33, 1.67" in message.content
    assert METHODS["direct"].read("3.67", asked) == Readable(3.67)
    scores = METHODS["direct"].json_schema(asked)["properties"]["score"]["enum"]
    assert (len(scores), scores[:3], scores[-1]) == (13, [1, 1.33, 1.67], 5)
    assert map_values([1, 3.67, 5], thirds, FIVE).tolist() == [1, 3.67, 5]
