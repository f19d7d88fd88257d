"""Sets of labels: fractions by hand, a second computation over all pairs, and nominal alpha."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import ReliabilityData, Resampling, Stream, krippendorff_alpha
from agreement.alpha import alpha_by_distance, distance_table
from agreement.labels import (
    LabelAnswers,
    LabelSet,
    agreement_by_label,
    jaccard_distance,
    label_alpha,
    label_rates,
    masi_distance,
)

pytestmark = pytest.mark.fast

GAP = float("nan")
A, B, AB, NONE = frozenset("a"), frozenset("b"), frozenset("ab"), frozenset[str]()
BY_HAND: list[list[LabelSet | None]] = [[A, AB, B], [A, A, B]]
sets = st.sampled_from([None, NONE, A, B, AB, frozenset("abc"), frozenset("c")])
tables = st.tuples(st.integers(2, 4), st.integers(1, 12)).flatmap(
    lambda shape: st.lists(
        st.lists(sets, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)


def answers(rows: Sequence[Sequence[LabelSet | None]], labels: str = "abc", **more: object) -> LabelAnswers:
    return LabelAnswers(rows, labels=labels, **more)  # type: ignore[arg-type]


def alpha_over_pairs(
    rows: Sequence[Sequence[LabelSet | None]], distance: Callable[[LabelSet, LabelSet], float]
) -> float | None:
    """Observed over expected disagreement, pair by pair, as the definition has it."""
    units = [[row[unit] for row in rows if row[unit] is not None] for unit in range(len(rows[0]))]
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    observed = sum(
        distance(one, other) / (len(unit) - 1)
        for unit in units
        for one, other in permutations(unit, 2)
        if one is not None and other is not None
    )
    expected = sum(
        distance(one, other)
        for one, other in permutations(values, 2)
        if one is not None and other is not None
    )
    return 1 - (len(values) - 1) * observed / expected if expected else None


@pytest.mark.oracle("fraction worked by hand", of=("jaccard_distance", "masi_distance"), within=1e-06)
@pytest.mark.parametrize(
    ("first", "second", "jaccard", "masi"),
    [
        (A, A, 0, 0),
        (NONE, NONE, 0, 0),
        (NONE, A, 1, 1),
        (A, B, 1, 1),
        (A, AB, Fraction(1, 2), Fraction(2, 3)),
        (frozenset("abc"), AB, Fraction(1, 3), Fraction(5, 9)),
        (AB, frozenset("bc"), Fraction(2, 3), Fraction(8, 9)),
        (frozenset("abc"), frozenset("bcd"), Fraction(1, 2), Fraction(5, 6)),
    ],
)
def test_distances_are_fractions_by_hand(
    first: LabelSet, second: LabelSet, jaccard: Fraction, masi: Fraction
) -> None:
    for one, other in ((first, second), (second, first)):
        assert jaccard_distance(one, other) == pytest.approx(float(jaccard))
        assert masi_distance(one, other) == pytest.approx(float(masi))


def test_alpha_of_the_worked_example() -> None:
    # Of six answers three are {a}, one {a, b}, two {b}; only {a, b} and {a} meet within a unit.
    assert label_alpha(answers(BY_HAND)).value == pytest.approx(9 / 14)
    assert label_alpha(answers(BY_HAND), jaccard_distance).value == pytest.approx(12 / 17)


@pytest.mark.oracle("sum over all pairs of answers, random tables", of="label_alpha", within=1e-06)
@settings(max_examples=80, deadline=None)
@given(rows=tables, distance=st.sampled_from([jaccard_distance, masi_distance]))
def test_alpha_equals_the_sum_over_all_pairs(
    rows: list[list[LabelSet | None]], distance: Callable[[LabelSet, LabelSet], float]
) -> None:
    found = label_alpha(answers(rows), distance)
    expected = alpha_over_pairs(rows, distance)
    assert found.value == (None if expected is None else pytest.approx(expected))
    assert (found.value is None) == bool(found.reason)


@pytest.mark.oracle("nominal alpha of the same values", of="alpha_by_distance", within=1e-06)
def test_with_distance_one_it_is_nominal_alpha_with_its_interval() -> None:
    generator = np.random.default_rng(5)
    values = np.where(generator.random((3, 120)) < 0.7, generator.integers(0, 4, 120), 2).astype(float)
    values[generator.random(values.shape) < 0.1] = GAP
    documents = np.arange(120) // 4
    table = 1 - np.eye(4)
    plan = Resampling(by="documents")
    found = alpha_by_distance(
        values, "wxyz", table, documents=documents, generator=Stream(3), resampling=plan
    )
    data = ReliabilityData(values, measurement_level="nominal", value_domain=range(4), documents=documents)
    nominal = krippendorff_alpha(data, generator=Stream(3), resampling=plan)
    assert found.value == pytest.approx(nominal.value)
    assert found.interval is not None
    assert nominal.interval is not None
    assert found.interval.low == pytest.approx(nominal.interval.low)
    assert found.interval.high == pytest.approx(nominal.interval.high)
    assert found.counts == nominal.counts


def test_many_distinct_answers_give_the_same_as_few() -> None:
    # 300 distinct answers use sparse counts.
    generator = np.random.default_rng(2)
    codes = generator.integers(0, 300, (3, 400)).astype(float)
    points = generator.normal(size=300)
    table = np.abs(points[:, None] - points)
    found = alpha_by_distance(codes, range(300), table)
    values = points[codes.astype(int)]
    observed = sum(np.abs(one - other).mean() for one, other in permutations(values, 2)) / 6
    spread = np.abs(values.ravel()[:, None] - values.ravel()).sum() / (1200 * 1199)
    assert found.value == pytest.approx(1 - observed / spread)


def test_equal_answers_have_no_alpha_but_a_reason() -> None:
    found = label_alpha(answers([[A, A], [A, A]]), generator=Stream(1))
    assert found.value is None
    assert found.reason is not None
    assert "without variation" in found.reason
    # Different answers at distance 0 are no variation either.
    assert alpha_by_distance([[0, 1], [1, 0]], "xy", np.zeros((2, 2))).value is None
    assert "Only one rater" in (label_alpha(answers([[A, B]])).reason or "")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (np.zeros((3, 3)), "There are 2 answers, but the distances have the shape (3, 3)."),
        ([[0, -1], [-1, 0]], "Distances must be finite and not negative."),
        ([[0, GAP], [GAP, 0]], "Distances must be finite and not negative."),
        ([[1, 2], [2, 0]], "An answer must have the distance 0 to itself."),
        ([[0, 1], [2, 0]], "Distances must be the same in both directions."),
    ],
)
def test_invalid_distance_raises_an_error(table: object, said: str) -> None:
    with pytest.raises(ValueError, match="istance") as caught:
        distance_table("xy", table)  # type: ignore[arg-type]
    assert str(caught.value) == said


@pytest.mark.oracle("fraction worked by hand", of="agreement_by_label", within=1e-06)
def test_f1_of_a_label_by_hand() -> None:
    label_a, label_b, label_c = agreement_by_label(answers(BY_HAND))
    assert (label_a.f1.value, label_a.given) == (1, 4)
    assert label_b.f1.value == pytest.approx(2 / 3)
    assert label_c.f1.value == 1  # neither gave it
    assert label_c.alpha.value is None
    assert label_b.alpha.value == krippendorff_alpha(answers(BY_HAND).of_label(1)).value


def test_f1_averages_over_pairs_and_by_rater() -> None:
    # Raters 0 and 1 agree on the first unit alone, rater 2 shares only the last unit.
    rows: list[list[LabelSet | None]] = [[A, A, NONE], [A, NONE, NONE], [None, None, A]]
    (found,) = agreement_by_label(answers(rows, "a"))
    pairs = {(0, 1): 2 / 3, (0, 2): 0.0, (1, 2): 0.0}
    assert found.f1.value == pytest.approx(np.mean(list(pairs.values())))
    assert found.f1_of_raters == pytest.approx((1 / 3, 1 / 3, 0.0))


def test_f1_without_a_shared_unit_has_a_reason() -> None:
    rows: list[list[LabelSet | None]] = [[A, None], [None, A]]
    (found,) = agreement_by_label(answers(rows, "a"))
    assert (
        found.f1.reason == "No unit has values from two raters; have the raters rate some of the same units."
    )
    assert found.f1_of_raters == (None, None)


@pytest.mark.oracle("fraction worked by hand", of="label_rates", within=1e-06)
def test_rates_by_system_by_hand() -> None:
    rows: list[list[LabelSet | None]] = [[A, A, NONE, None], [A, NONE, None, None]]
    found = label_rates(answers(rows, "a", documents=[1, 2, 1, 2]), ["S", "S", "T", "U"])
    rates = {each.system: each.rate for each in found}
    assert rates["S"].value == pytest.approx(0.75)
    assert rates["S"].interval is not None
    assert rates["T"].value == 0
    assert rates["T"].interval_reason == "An interval needs answers on two documents."
    assert rates["U"].reason == "No rater has answered for an output of this system yet."


def test_answers_that_do_not_fit_are_errors() -> None:
    with pytest.raises(ValueError, match="The label d is not one of: a, b, c"):
        answers([[frozenset("d")]])
    with pytest.raises(ValueError, match="as many answers as there are units"):
        answers([[A], [A, B]])
    with pytest.raises(ValueError, match="There are 3 units, but 1 systems"):
        label_rates(answers(BY_HAND), ["S"])


def test_four_hundred_items_take_no_time_to_speak_of() -> None:
    """Every set of six labels may occur; the interval has 1,999 resamples and stays inside its bounds."""
    generator = np.random.default_rng(1)
    truth = generator.random((400, 6)) < 0.4
    seen = truth ^ (generator.random((3, 400, 6)) < 0.15)
    rows = [[frozenset(np.flatnonzero(unit).tolist()) for unit in row] for row in seen]
    made = LabelAnswers(rows, labels=range(6), documents=np.arange(400) // 4)
    plan = Resampling(by="documents", replicates=1999)
    found = label_alpha(made, generator=Stream(1), resampling=plan)
    assert found.value is not None
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high
    assert found.interval.replicates == 1999
