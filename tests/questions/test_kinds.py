"""Each kind accepts, stores and compares answers; fractions are computed by hand."""

from typing import Any

import pytest

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.questions import KINDS, Given, ItemContent
from annotate.questions.labels import DISTANCES
from annotate.questions.preference import choice_name
from tests.questions.asking import OPTIONS

THREE_SIDES = ItemContent(sides=("a", "b", "c"), order=(2, 0, 1))
TWO_SIDES = ItemContent(sides=("a", "b"), order=(1, 0))
THREE_PARTS = ItemContent(parts=("One.", "Two.", "Three."))
EMPTY = ItemContent()
TEXT = ItemContent(texts=("0123456789", "the document"))


def question(kind: str, **options: Any) -> FrozenDimension:
    made = KINDS[kind].read_options({**OPTIONS[kind], **options})
    return FrozenDimension(1, kind, kind, "", "", 0, 1, "interval", (), kind=kind, options=made)


def stored(kind: str, data: Any, item: ItemContent = EMPTY, **options: Any) -> Given:
    """Return the stored form of an answer, which must be complete."""
    value, kept = KINDS[kind].clean(question(kind, **options), None, data, item)
    assert value is not None
    return Given(value, kept)


def ranked(*ranks: int | None) -> Given:
    return Given(1, {"ranks": list(ranks)})


def span(
    start: int, end: int, severity: str = "minor", category: str = "fluency", part: int = 0
) -> dict[str, Any]:
    return {"part": part, "start": start, "end": end, "category": category, "severity": severity}


def marked(*spans: dict[str, Any]) -> Given:
    return Given(0, {"spans": list(spans)})


def test_labels_keep_the_list_order() -> None:
    asked = question("labels")
    given = stored("labels", {"labels": ["wrong-word", "grammar"]})
    assert given == Given(2, {"labels": ["grammar", "wrong-word"]})
    assert KINDS["labels"].clean(asked, None, {"labels": []}, ItemContent()) == (0, {"labels": []})
    assert KINDS["labels"].describe(asked, given) == "Grammar, Wrong word"


@pytest.mark.parametrize("data", [None, {"labels": ["unknown"]}, {"labels": "grammar"}, {"other": []}])
def test_unlisted_labels_are_rejected(data: Any) -> None:
    with pytest.raises(InvalidValueError):
        KINDS["labels"].clean(question("labels"), None, data, ItemContent())


@pytest.mark.parametrize(
    ("one", "other", "jaccard", "masi"),
    [
        ("", "", 0, 0),
        ("ab", "ab", 0, 0),
        ("ab", "abc", 1 / 3, 1 - 2 / 3 * 2 / 3),
        ("ab", "bc", 2 / 3, 1 - 1 / 3 * 1 / 3),
        ("ab", "cd", 1, 1),
        ("", "a", 1, 1),
    ],
)
def test_distances_of_sets(one: str, other: str, jaccard: float, masi: float) -> None:
    assert DISTANCES["jaccard"](frozenset(one), frozenset(other)) == pytest.approx(jaccard)
    assert DISTANCES["masi"](frozenset(one), frozenset(other)) == pytest.approx(masi)


def test_a_preference_keeps_the_order_shown() -> None:
    asked = question("preference")
    assert KINDS["preference"].clean(asked, -2, None, TWO_SIDES) == (-2, {"order": [1, 0]})
    # Value -2 is for the first side, which stood on the right.
    assert KINDS["preference"].describe(asked, Given(-2, {"order": [1, 0]})) == choice_name(2, 2)
    with pytest.raises(InvalidValueError):
        KINDS["preference"].clean(asked, 3, None, TWO_SIDES)
    with pytest.raises(InvalidValueError, match="no tie"):
        KINDS["preference"].clean(question("preference", ties=False), 0, None, TWO_SIDES)


def test_another_winner_is_a_dispute_and_a_tie_only_by_choice() -> None:
    kind, asked = KINDS["preference"], question("preference")
    strict = question("preference", tie_disputes=True)
    opens, settles = kind.rule(None, None)
    assert kind.spread(asked, [Given(-2), Given(1)]) == 1 >= opens
    assert kind.spread(asked, [Given(-2), Given(-1)]) == 0
    assert settles >= kind.spread(asked, [Given(0), Given(1)]) == 0.5 < opens
    assert kind.spread(strict, [Given(0), Given(1)]) == 1


def test_ranks_have_no_gaps_and_define_the_first() -> None:
    asked = question("ranking")
    cleaned = stored("ranking", {"ranks": [3, 1, 3]}, THREE_SIDES)
    assert cleaned == Given(2, {"ranks": [2, 1, 2], "order": [2, 0, 1]})
    assert KINDS["ranking"].describe(asked, cleaned) == "3 > 1 = 2"
    assert KINDS["ranking"].clean(asked, None, {"ranks": [None, 1, None]}, THREE_SIDES)[0] is None


def test_best_and_worst_are_two_outputs() -> None:
    asked = question("ranking", best_worst=True)
    assert KINDS["ranking"].clean(asked, None, {"ranks": [2, 3, 1]}, THREE_SIDES)[0] == 3
    assert KINDS["ranking"].clean(asked, None, {"ranks": [2, 2, 1]}, THREE_SIDES)[0] is None
    with pytest.raises(InvalidValueError, match="best"):
        KINDS["ranking"].clean(asked, None, {"ranks": [1, 3, 1]}, THREE_SIDES)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ((1, 2, 3), (1, 2, 3), 0),
        ((1, 2, 3), (3, 2, 1), 1),
        ((1, 2, 3), (1, 3, 2), 1 / 3),
        ((1, 1, 2), (1, 2, 3), 1 / 6),
    ],
)
def test_kendalls_distance(one: tuple[int, ...], other: tuple[int, ...], distance: float) -> None:
    found = KINDS["ranking"].distance(question("ranking"), ranked(*one), ranked(*other))
    assert found == pytest.approx(distance)


def test_another_first_output_is_a_dispute() -> None:
    kind, asked = KINDS["ranking"], question("ranking")
    assert kind.dispute_distance(asked, ranked(1, 2, 3), ranked(2, 1, 3)) == 1
    assert kind.dispute_distance(asked, ranked(1, 2, 3), ranked(1, 3, 2)) == pytest.approx(1 / 3)


def test_spans_have_weights_and_must_be_within_their_output() -> None:
    kind, asked = KINDS["spans"], question("spans")
    value, data = kind.clean(asked, None, {"spans": [span(4, 6, "major"), span(0, 2)]}, TEXT)
    assert value == 6
    assert data == {"spans": [span(0, 2), span(4, 6, "major")]}
    assert kind.clean(asked, None, {"spans": []}, TEXT) == (0, {"spans": []})
    for wrong in (span(0, 11), span(2, 2), span(0, 1, "heavy"), span(0, 1, part=1), {"start": 1}):
        with pytest.raises(InvalidValueError):
            kind.clean(asked, None, {"spans": [wrong]}, TEXT)
    assert kind.clean(question("spans", where="both"), None, {"spans": [span(0, 1, part=1)]}, TEXT)[0] == 1


def test_distance_of_spans_is_one_less_f1() -> None:
    kind, asked = KINDS["spans"], question("spans")
    assert kind.distance(asked, marked(), marked()) == 0
    assert kind.distance(asked, marked(span(0, 4)), marked()) == 1
    # 2 of 4 and 2 of 2 characters: F1 = 2 * 2 / 6.
    assert kind.distance(asked, marked(span(0, 4)), marked(span(2, 4))) == pytest.approx(1 - 4 / 6)
    # The same characters with another severity count half.
    assert kind.distance(asked, marked(span(0, 4)), marked(span(0, 4, "major"))) == pytest.approx(0.5)
    assert kind.dispute_distance(asked, marked(span(0, 4)), marked(span(3, 4, "major"))) == 1


def test_parts_have_a_share_once_all_are_answered() -> None:
    kind, asked = KINDS["parts"], question("parts")
    assert kind.clean(asked, None, {"parts": ["yes", "no", "yes"]}, THREE_PARTS) == (
        0.67,
        {"parts": ["yes", "no", "yes"]},
    )
    assert kind.clean(asked, None, {"parts": ["yes", None, None]}, THREE_PARTS) == (
        None,
        {"parts": ["yes", None, None]},
    )
    one, other = Given(0.67, {"parts": ["yes", "no", "yes"]}), Given(0.33, {"parts": ["yes", "no", "no"]})
    assert kind.distance(asked, one, other) == pytest.approx(1 / 3)
    with pytest.raises(InvalidValueError):
        kind.clean(asked, None, {"parts": ["yes", "no"]}, THREE_PARTS)


def test_free_answer_has_a_limit_and_no_dispute() -> None:
    kind, asked = KINDS["text"], question("text")
    assert kind.clean(asked, None, {"text": " Fine. "}, ItemContent()) == (5, {"text": "Fine."})
    with pytest.raises(InvalidValueError, match="100"):
        kind.clean(asked, None, {"text": "x" * 101}, ItemContent())
    assert kind.spread(asked, [Given(1, {"text": "a"}), Given(1, {"text": "b"})]) == 0


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("labels", {"labels": [{"name": "One"}]}),
        ("labels", {"labels": [{"name": "A"}, {"name": "a"}]}),
        ("labels", {"labels": [{"name": "A"}, {"name": "B"}], "distance": "cosine"}),
        ("preference", {"strength": 9}),
        ("spans", {"categories": [{"name": "A"}], "severities": [{"name": "minor"}]}),
        ("text", {"longest": 0}),
        ("parts", {"labels": [{"name": "Yes"}, {"name": "No"}], "counts": "maybe"}),
    ],
)
def test_options_are_checked(kind: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        KINDS[kind].read_options(options)
