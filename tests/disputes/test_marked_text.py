from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.disputes.queries.page import Mark, Segment, segments_of

MARKS = st.builds(Mark, st.sampled_from("ABC"), st.integers(-2, 14), st.integers(-2, 14))


def test_marks_that_overlap_share_a_piece():
    marks = [Mark("you", 0, 5), Mark("B", 3, 8), Mark("B", 10, 12)]
    assert segments_of("great boots, really", marks) == [
        Segment("gre", ("you",)),
        Segment("at", ("you", "B")),
        Segment(" bo", ("B",)),
        Segment("ot"),
        Segment("s,", ("B",)),
        Segment(" really"),
    ]


def test_unmarked_string_is_one_segment_and_an_empty_one_has_none():
    assert segments_of("Fine.", []) == [Segment("Fine.")]
    assert segments_of("", [Mark("A", 0, 3)]) == []


@settings(max_examples=60, deadline=None)
@given(text=st.text("ab é\n𝄞", max_size=12), marks=st.lists(MARKS, max_size=5))
def test_every_character_appears_once_with_exactly_its_markers(text, marks):
    found = segments_of(text, marks)
    assert "".join(piece.text for piece in found) == text
    assert all(piece.text for piece in found)
    assert all(one.by != other.by for one, other in pairwise(found))
    names = [set(piece.by) for piece in found for _ in piece.text]
    assert names == [
        {mark.name for mark in marks if mark.start <= index < mark.end} for index in range(len(text))
    ]
