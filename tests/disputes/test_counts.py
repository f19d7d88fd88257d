"""One number of disputes with its breakdown: the parts add up to the whole."""

import re
from itertools import product

import pytest
from django.utils.translation import override

from annotate.disputes.queries.activity import DisputeCounts

EVERY = [DisputeCounts(*counts) for counts in product((0, 1, 7), repeat=5)]


@pytest.mark.parametrize("language", ["en", "de"])
def test_breakdown_adds_up_to_the_unresolved(language: str) -> None:
    with override(language):
        for each in EVERY:
            assert sum(map(int, re.findall(r"\d+", each.breakdown))) == each.unresolved, each


def test_breakdown_names_no_status_without_disputes() -> None:
    assert all(not re.search(r"\b0\b", each.breakdown) for each in EVERY)
    assert DisputeCounts(left_open=7, irresolvable=2).breakdown == "7 left open, 2 irresolvable by discussion"


def test_total_is_settled_adjudicated_and_unresolved() -> None:
    assert all(each.total == each.settled + each.adjudicated + each.unresolved for each in EVERY)
