"""Letters of systems that do not surely differ."""

from itertools import combinations

import numpy as np
import pytest

from agreement.ranks import share_letters


def test_letters_of_a_worked_example():
    # Piepho 2004: of four means in order, the first differs from the last two and the second from the last.
    found = share_letters(["A", "B", "C", "D"], [("A", "C"), ("A", "D"), ("D", "B")])
    assert found == {"A": "a", "B": "ab", "C": "bc", "D": "c"}


def test_systems_share_one_group_if_no_pair_differs():
    assert share_letters(["x", "y"], []) == {"x": "a", "y": "a"}
    assert share_letters([], []) == {}


@pytest.mark.parametrize("seed", range(20))
def test_two_systems_share_a_group_exactly_if_they_do_not_differ(seed):
    generator = np.random.default_rng(seed)
    names = [str(index) for index in range(7)]
    differing = [pair for pair in combinations(names, 2) if generator.random() < 0.4]
    letters = {name: set(own) for name, own in share_letters(names, differing).items()}
    for pair in combinations(names, 2):
        assert bool(letters[pair[0]] & letters[pair[1]]) == (pair not in differing)
    assert "a" in letters["0"]
