"""Values that are fitted on other documents: by hand, and by going through documents one by one."""

import numpy as np
import pytest

from agreement.reliability.confidence import monotone_fit, values_by_group, values_by_length

GAP = np.nan


def test_a_group_has_the_values_of_its_other_documents() -> None:
    human = np.array([[1.0, 1, 2, 5, 5, 3]])
    groups, documents = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2])
    squares, absolutes, means = values_by_group(human, [], groups, documents)
    assert means.tolist() == [1.5, 1.5, 1, 4, 4, 5]
    assert absolutes[[2, 5]].tolist() == [1, 5]  # of 1, 1 and of 5, 5
    assert squares[[2, 5]].tolist() == [1, 5]


def test_a_score_chooses_points_as_a_loop_over_documents_does() -> None:
    generator = np.random.default_rng(2)
    groups, documents = np.tile(np.arange(3), 8), np.repeat(np.arange(8), 3)
    human = generator.integers(1, 6, size=(2, 24)).astype(float)
    human[0, ::5] = GAP
    likes = {point: generator.random(24) for point in np.unique(human[~np.isnan(human)])}
    first, *_ = values_by_group(human, [likes.__getitem__], groups, documents)
    for unit in range(24):
        elsewhere = (groups == groups[unit]) & (documents != documents[unit])
        assert first[unit] == max(likes, key=lambda point: float(likes[point][elsewhere].sum()))


def test_a_group_of_one_document_has_the_values_of_all_others() -> None:
    human = np.array([[1.0, 4, 4, 4]])
    values = values_by_group(human, [], np.array([0, 1, 1, 1]), np.array([0, 0, 1, 2]))
    assert [each[0] for each in values] == [4, 4, 4]


def test_isotonic_regression_pools_neighbours_of_other_folds() -> None:
    # Without the last, 1 3 2 4 pools to 1 2.5 2.5 4; half-way between the lengths 3 and 4 lies 3.25.
    values, lengths = np.array([1.0, 3, 2, 4, 9]), np.array([1.0, 2, 3, 4, 3.5])
    fitted = monotone_fit(values, lengths, np.array([0, 0, 0, 0, 1]))
    assert fitted[4] == pytest.approx(3.25)
    falling = monotone_fit(-values, lengths, np.array([0, 0, 0, 0, 1]))
    assert falling[4] == pytest.approx(-3.25)


def test_units_without_a_fit_to_their_length_have_no_nearest_point() -> None:
    human, lengths = np.array([[3.0, 4, 5]]), np.array([1.0, 2, 3])
    fitted, nearest, *_ = by_length(human, lengths, documents=np.zeros(3, dtype=int))
    assert np.isnan(fitted).all()
    assert np.isnan(nearest).all()


def test_a_value_never_rests_on_its_own_document() -> None:
    generator = np.random.default_rng(3)
    documents, groups = np.repeat(np.arange(12), 4), np.tile(np.arange(4), 12)
    human = generator.integers(1, 6, size=(3, 48)).astype(float)
    changed = human.copy()
    changed[:, documents == 5] = 6 - changed[:, documents == 5]
    lengths = generator.random(48)
    own, moved = documents == 5, 0
    for first, second in zip(
        [*values_by_group(human, [], groups, documents), *by_length(human, lengths, documents)],
        [*values_by_group(changed, [], groups, documents), *by_length(changed, lengths, documents)],
        strict=True,
    ):
        assert np.array_equal(first[own], second[own])
        moved += not np.array_equal(first[~own], second[~own])
    assert moved >= 5


def by_length(human: np.ndarray, lengths: np.ndarray, documents: np.ndarray) -> list[np.ndarray]:
    return values_by_length(human, [], lengths, documents, np.random.default_rng(1))
