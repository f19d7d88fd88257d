"""Every measure of a bias finds one that was planted, and none in a judge without it."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from agreement import Stream, spearman
from agreement.biases import (
    Bias,
    Control,
    anchoring,
    correlated_errors,
    correlation_beyond_people,
    decline_with_quality,
    distribution_distance,
    later_places,
    modal_excess,
    option_order,
    order,
    perplexity_by_rating,
    place_preference,
    ranges_of,
    round_numbers,
    scores_given_before,
    self_preference,
    severity,
    slope_beyond_quality,
    spread_of_samples,
    spread_ratio,
)
from agreement.comparison import Scores, Verdicts
from agreement.reliability import meta_correlation

STREAM = Stream(20_261)
DOCUMENTS, SYSTEMS, PEOPLE = 60, 4, 3
ITEMS = DOCUMENTS * SYSTEMS
OF_SYSTEM = np.tile(np.arange(SYSTEMS), DOCUMENTS)
OF_DOCUMENT = np.repeat(np.arange(DOCUMENTS), SYSTEMS)
Values = npt.NDArray[np.float64]
RUNS = 200
TOO_OFTEN = 0.095
"""Three standard errors of 200 runs above 5 %."""


class Scene:
    """Texts with a quality and a length, three people who see it with errors of their own, and a judge."""

    def __init__(self, seed: int) -> None:
        self.dice = dice = np.random.default_rng(seed)
        of_documents = dice.normal(size=DOCUMENTS)[OF_DOCUMENT]
        self.length = dice.normal(size=ITEMS) + 0.5 * OF_SYSTEM
        self.quality = 0.6 * of_documents + 0.3 * OF_SYSTEM + 0.5 * self.length
        self.people = self.quality + 0.5 * dice.normal(size=(PEOPLE, ITEMS))

    @property
    def noise(self) -> Values:
        """Errors of a judge; those of one document are alike."""
        return 0.4 * self.dice.normal(size=DOCUMENTS)[OF_DOCUMENT] + 0.5 * self.dice.normal(size=ITEMS)

    def scores(self, judge: Values) -> Scores:
        return Scores(systems=OF_SYSTEM, documents=OF_DOCUMENT, human=self.people, judge=judge)

    def on_a_scale(self, judge: Values) -> Scores:
        """Whole points from 1 to 5."""
        points = [np.clip(np.round(each + 3), 1, 5) for each in (self.people, judge)]
        return Scores(systems=OF_SYSTEM, documents=OF_DOCUMENT, human=points[0], judge=points[1])


def why(bias: Bias) -> str:
    assert bias.measured.value is None
    return bias.measured.reason or ""


def control_of(bias: Bias) -> Control:
    assert bias.control
    return bias.control


def value_of(bias: Bias) -> float:
    assert bias.measured.value is not None
    return bias.measured.value


def length_bias(scene: Scene, planted: float, stream: Stream) -> Bias:
    judge = scene.quality + scene.noise + planted * scene.length
    return slope_beyond_quality(scene.scores(judge), scene.length, "length", "Length", generator=stream)


def severity_bias(scene: Scene, planted: float, stream: Stream) -> Bias:
    return severity(scene.scores(scene.quality + scene.noise + planted), generator=stream)


def range_bias(scene: Scene, planted: float, stream: Stream) -> Bias:
    judge = scene.quality + 0.5 * scene.dice.normal(size=ITEMS)  # as people
    return spread_ratio(scene.scores((1 + planted) * judge), generator=stream)


def family_bias(scene: Scene, planted: float, stream: Stream) -> Bias:
    own = (OF_SYSTEM == 2).astype(float)
    return self_preference(scene.scores(scene.quality + scene.noise + planted * own), own, generator=stream)


def halo_bias(scene: Scene, planted: float, stream: Stream) -> Bias:
    halo, dimensions = scene.dice.normal(size=ITEMS), []
    for _ in range(3):
        scene.people = scene.quality + 0.5 * scene.dice.normal(size=(PEOPLE, ITEMS))
        judge = scene.quality + 0.5 * scene.dice.normal(size=ITEMS) + planted * halo
        dimensions.append(scene.scores(judge))
    return correlated_errors(dimensions, generator=stream)


def call_of(scene: Scene, planted: float) -> tuple[Scores, Values]:
    """A dimension whose score, unless it is asked first, is drawn to that of another one."""
    positions = scene.dice.integers(0, 4, size=ITEMS).astype(float)
    another = 1.5 * scene.dice.normal(size=ITEMS) + 1
    return scene.scores(scene.quality + scene.noise + planted * another * (positions > 0)), positions


def position_in_call_bias(scene: Scene, planted: float, stream: Stream) -> Bias:
    scores, positions = call_of(scene, planted)
    return later_places(scores, positions, generator=stream).correlation


def shift_in_call_bias(scene: Scene, planted: float, stream: Stream) -> Bias:
    scores, positions = call_of(scene, planted)
    return later_places(scores, positions, generator=stream).shift


def neighbours_bias(scene: Scene, planted: float, stream: Stream) -> Bias:
    """Two dimensions that follow each other in a call: the second is drawn to the error of the first."""
    first = scene.scores(scene.quality + scene.noise)
    scene.people = scene.quality + 0.5 * scene.dice.normal(size=(PEOPLE, ITEMS))
    error = first.judge - first.human_means
    after = scene.scores(scene.quality + 0.5 * scene.dice.normal(size=ITEMS) + planted * error)
    return correlated_errors([first, after], generator=stream)


def option_bias(scene: Scene, planted: float, stream: Stream) -> Bias:
    forward = scene.quality + scene.noise - planted
    return option_order(forward, scene.quality + scene.noise + planted, OF_DOCUMENT, generator=stream)[0]


def position_bias(scene: Scene, planted: float, stream: Stream) -> Bias:
    """A judge that sees noisy qualities, and adds to the text shown first."""
    quality = scene.quality.reshape(DOCUMENTS, SYSTEMS)
    first: list[int] = []
    second: list[int] = []
    documents: list[int] = []
    points: list[float] = []
    for one, other in [(0, 1), (1, 0), (2, 3), (3, 2)]:
        seen = quality[:, one] - quality[:, other] + planted + 2 * scene.dice.normal(size=DOCUMENTS)
        first += [one] * DOCUMENTS
        second += [other] * DOCUMENTS
        documents += range(DOCUMENTS)
        points += (seen > 0).astype(float).tolist()
    verdicts = Verdicts(first=first, second=second, documents=documents, points=points)
    return place_preference(verdicts, generator=stream).bias


def round_bias(scene: Scene, planted: float, stream: Stream) -> Bias:
    answers = scene.dice.integers(1, 101, size=(ITEMS, 2)).astype(float)
    is_rounded = scene.dice.random(answers.shape) < planted
    answers = np.where(is_rounded, np.clip(np.round(answers / 5) * 5, 5, 100), answers)
    return round_numbers(answers, OF_DOCUMENT, 1, 100, generator=stream).fives


# What is planted, and what the measure must then be: None where that is not the planted number itself.
Measured = Callable[[Scene, float, Stream], Bias]
PLANTED: dict[Measured, tuple[float, float | None]] = {
    length_bias: (0.3, 0.3),
    severity_bias: (-0.5, -0.5),
    range_bias: (-0.4, 0.6),
    family_bias: (0.6, 0.6),
    halo_bias: (0.6, None),
    neighbours_bias: (0.8, None),
    position_in_call_bias: (0.8, None),
    shift_in_call_bias: (0.6, 0.6),
    option_bias: (0.3, 0.3),
    position_bias: (1.0, None),
    round_bias: (0.4, 0.4 * 0.8),
}


@pytest.mark.oracle(
    "planted bias, simulation",
    of=(
        "slope_beyond_quality",
        "severity",
        "self_preference",
        "correlated_errors",
        "correlation_beyond_people",
        "later_places",
        "place_preference",
        "round_numbers",
    ),
    within=0.12,
)
@pytest.mark.parametrize("measure", PLANTED, ids=lambda each: each.__name__)
def test_planted_bias_is_detected_outside_the_control(measure):
    planted, expected = PLANTED[measure]
    found = measure(Scene(3), planted, STREAM)
    assert found.is_apart
    if expected is not None:
        assert value_of(found) == pytest.approx(expected, abs=0.12)
    if found.control:
        assert not control_of(found).least <= value_of(found) <= control_of(found).largest


@pytest.mark.parametrize("measure", PLANTED, ids=lambda each: each.__name__)
def test_a_judge_without_the_bias_is_called_biased_no_more_often_than_the_level_says(
    measure: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The answer follows from the interval alone, and controls take longest.
    for module in (anchoring, order):
        monkeypatch.setattr(module, "CONTROLS", 1)
    found = [measure(Scene(seed), 0.0, Stream(seed)).is_apart for seed in range(RUNS)]
    reached = np.mean([bool(each) for each in found])
    assert reached <= TOO_OFTEN


@pytest.mark.oracle("fraction worked by hand", of="spread_ratio", within=1e-06)
def test_the_ratio_of_spreads_has_a_jackknife_interval_of_its_logarithm():
    judge, person = np.array([1.0, 3, 5, 2]), np.array([2.0, 3, 4, 1])
    scores = Scores(systems=[0] * 4, documents=range(4), human=[person], judge=judge)
    without = [np.log(np.delete(judge, each).std() / np.delete(person, each).std()) for each in range(4)]
    whole = np.log(judge.std() / person.std())
    reach = 3.182446305 * np.sqrt(3 / 4 * np.sum((without - np.mean(without)) ** 2))  # t of 3 degrees, .975
    found = spread_ratio(scores, generator=STREAM).measured
    assert found.value == pytest.approx(np.exp(whole))
    assert found.interval
    assert [found.interval.low, found.interval.high] == pytest.approx(
        [np.exp(whole - reach), np.exp(whole + reach)]
    )


def test_a_judge_with_one_value_has_a_ratio_of_0_and_no_interval():
    scores = Scores(systems=[0] * 4, documents=range(4), human=[[2.0, 3, 4, 1]], judge=[3.0] * 4)
    found = spread_ratio(scores, generator=STREAM).measured
    assert (found.value, found.interval) == (0, None)
    assert "do not vary" in (found.interval_reason or "")


@pytest.mark.oracle("planted bias", of="correlation_beyond_people")
def test_dimensions_more_correlated_than_for_people_are_detected():
    scene, judged = Scene(5), []
    shared, halo = scene.dice.normal(size=(2, ITEMS))
    for _ in range(3):
        quality = 0.7 * shared + scene.dice.normal(size=ITEMS)
        scene.people = quality + 0.3 * scene.dice.normal(size=(PEOPLE, ITEMS))
        errors = 1.5 * halo, 1.5 * scene.dice.normal(size=ITEMS)
        judged.append([scene.scores(quality + each) for each in errors])
    coloured, plain = (
        correlation_beyond_people(list(each), generator=STREAM) for each in zip(*judged, strict=True)
    )
    assert coloured.is_found
    assert value_of(coloured) > 0.2
    assert not plain.is_found


@pytest.mark.oracle("fraction worked by hand", of="scores_given_before")
def test_scores_are_grouped_by_the_preceding_score():
    before = np.array([[1.0, 1.0], [3.0, np.nan], [3.0, 3.0]])
    after = np.array([[2.0, 2.5], [3.0, 1.0], [np.nan, 1.0]])
    points = ranges_of([1, 2, 3])
    assert scores_given_before(before, after, points, points).tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 1]]


def test_long_scale_is_split_into_ten_ranges():
    ranges = ranges_of(range(1, 101))
    assert (len(ranges), ranges[0], ranges[-1]) == (10, (1, 10), (91, 100))
    counts = scores_given_before(np.array([10.0, 11.0]), np.array([1.0, 100.0]), ranges, ranges)
    assert (counts[0, 0], counts[1, 9], counts.sum()) == (1, 1, 2)


FIVE_POINTS = np.arange(1.0, 6.0)


@pytest.mark.oracle("planted bias", of="modal_excess")
def test_a_judge_that_gives_one_point_too_often_is_outside_what_people_do():
    scene = Scene(6)
    same = scene.quality + 0.5 * scene.dice.normal(size=ITEMS)
    for judge, is_like_people in ((same, True), (0.2 * same + 1.5, False)):
        scores = scene.on_a_scale(judge)
        for measure in (modal_excess, distribution_distance):
            bias = measure(scores, FIVE_POINTS, generator=STREAM)
            assert (value_of(bias) <= control_of(bias).largest + 0.08) is is_like_people, measure


@pytest.mark.oracle("fraction worked by hand", of="distribution_distance", within=1e-06)
def test_distance_of_distributions_is_the_distance_values_move():
    scores = Scores(systems=[0, 0], documents=[0, 1], human=[[1, 2], [1, 2]], judge=[2, 4])
    bias = distribution_distance(scores, FIVE_POINTS, generator=STREAM)
    assert value_of(bias) == pytest.approx((1 + 2) / 2)  # 1 to 2, and 2 to 4
    assert control_of(bias).largest == 0
    assert modal_excess(scores, FIVE_POINTS, generator=STREAM).measured.value == 0


@pytest.mark.oracle("planted bias", of="decline_with_quality")
def test_agreement_that_falls_with_quality_is_below_the_control():
    dice = np.random.default_rng(9)
    systems = np.tile(np.arange(10), 80)
    documents = np.repeat(np.arange(80), 10)
    quality = dice.normal(size=800)
    people = quality + systems + 0.3 * dice.normal(size=(2, 800))
    for noise, declines in ((0.2 + 0.25 * systems, True), (np.full(800, 1.0), False)):
        judge = people.mean(axis=0) + noise * dice.normal(size=800)
        scores = Scores(systems=systems, documents=documents, human=people, judge=judge)
        found = decline_with_quality(scores, meta_correlation(scores, spearman), generator=STREAM)
        assert (value_of(found) < control_of(found).least) is declines


@pytest.mark.oracle("fraction worked by hand", of="spread_of_samples", within=1e-06)
def test_spread_of_samples_appears_with_the_spread_of_people():
    samples = np.array([[1.0, 3.0], [2.0, 2.0], [5.0, np.nan]])
    human = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 5.0]])
    bias = spread_of_samples(samples, human, [0, 1, 2], generator=STREAM)
    # Variances 2 and 0 of the judge, 2 and 0 of people; the item with one sample does not count.
    assert value_of(bias) == pytest.approx(1)
    assert control_of(bias).mean == pytest.approx(1)
    assert bias.beyond
    assert bias.beyond.value == pytest.approx(0)


@pytest.mark.parametrize("number", [PEOPLE, 10])
@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_samples_that_vary_as_people_do_are_not_found(spread: float, number: int) -> None:
    """People's spread is .5, with three raters; the judge has as many samples or ten."""
    found = []
    for seed in range(RUNS):
        scene = Scene(seed)
        samples = scene.quality[:, None] + spread * scene.dice.normal(size=(ITEMS, number))
        found.append(spread_of_samples(samples, scene.people, OF_DOCUMENT, generator=Stream(seed)))
    apart = [not low <= 0 <= high for low, high in map(limits_beyond, found)]
    if spread > 0.5:
        assert all(bias.is_found for bias in found)
    else:
        assert np.mean(apart) <= TOO_OFTEN


def limits_beyond(bias: Bias) -> tuple[float, float]:
    assert bias.beyond
    assert bias.beyond.interval
    return bias.beyond.interval.low, bias.beyond.interval.high


def test_one_rater_is_no_control() -> None:
    scene = Scene(3)
    scene.people = scene.people[:1]
    alone = scene.on_a_scale(scene.quality + scene.noise - 1)
    samples = np.column_stack([alone.judge, alone.judge + 1])
    for bias in (
        severity(alone, generator=STREAM),
        spread_ratio(alone, generator=STREAM),
        modal_excess(alone, FIVE_POINTS, generator=STREAM),
        distribution_distance(alone, FIVE_POINTS, generator=STREAM),
        spread_of_samples(samples, alone.human, OF_DOCUMENT, generator=STREAM),
    ):
        assert bias.measured.defined
        assert (bias.is_tested, bias.is_found) == (False, False)
        assert bias.control_reason == "A second rater is needed for a control."


@pytest.mark.parametrize(("spread", "defined"), [(1, (False, False)), (4, (True, False)), (12, (True, True))])
def test_peaked_answers_are_no_liking_for_round_numbers(spread: float, defined: tuple[bool, bool]) -> None:
    answers = np.round(85 + spread * np.random.default_rng(5).normal(size=(ITEMS, 2)))
    found = round_numbers(np.clip(answers, 1, 100), OF_DOCUMENT, 1, 100, generator=STREAM)
    both = found.fives, found.tens
    assert tuple(each.measured.defined for each in both) == defined
    assert not any(each.is_found for each in both)
    assert all("three multiples" in why(each) for each in both if not each.measured.defined)


@pytest.mark.oracle("planted bias", of="perplexity_by_rating")
def test_perplexity_falls_more_steeply_with_judge_than_human_ratings() -> None:
    scene = Scene(5)
    unfamiliar = 0.5 * scene.dice.normal(size=ITEMS)
    points = np.arange(1.0, 6.0)

    def fall(judge: Values) -> tuple[float, float]:
        found = perplexity_by_rating(scene.on_a_scale(judge), unfamiliar, points, generator=STREAM)
        judged, human = zip(*found, strict=True)
        at_two, at_four = (judged[1].value, human[1].value), (judged[3].value, human[3].value)
        assert None not in (*at_two, *at_four)
        return float(np.subtract(at_two, at_four)[0]), float(np.subtract(at_two, at_four)[1])

    honest, people = fall(scene.quality + scene.noise)
    assert abs(honest - people) < 0.25
    drawn, people = fall(scene.quality + scene.noise - 2 * unfamiliar)
    assert drawn > people + 0.3


def test_rating_that_no_output_has_gets_no_mean_perplexity() -> None:
    scores = Scores(systems=[0, 1], documents=[0, 0], human=[[1, 2]], judge=[1.5, 2])
    found = perplexity_by_rating(scores, np.log([3.0, np.nan]), np.array([1.0, 2.0]), generator=STREAM)
    assert [(judge.value, people.value) for judge, people in found] == [
        (None, pytest.approx(3)),
        (pytest.approx(3), None),
    ]


def test_judge_without_spread_or_with_one_sample_gets_a_reason():
    once = spread_of_samples(np.ones((4, 1)), np.ones((2, 4)), np.arange(4), generator=STREAM)
    assert "more than once" in why(once)
    twice = spread_of_samples(np.ones((4, 2)), np.ones((2, 4)), np.arange(4), generator=STREAM)
    assert (value_of(twice), twice.is_apart) == (0, None)


def test_unidentifiable_estimate_states_its_requirement():
    nobody = Scores(systems=[0, 1], documents=[0, 0], human=np.empty((0, 2)), judge=[1, 2])
    length = slope_beyond_quality(nobody, np.array([1.0, 2.0]), "length", "Length", generator=STREAM)
    assert "two people" in why(length)
    people = Scores(systems=[0, 1], documents=[0, 0], human=[[1, 2]], judge=[1, 2])
    unknown = self_preference(people, np.zeros(2), generator=STREAM)
    assert "family" in why(unknown)
    short = round_numbers(np.ones((2, 1)), [0, 1], 1, 5, generator=STREAM)
    assert "1 to 100" in why(short.fives)
    alone = correlated_errors([people], generator=STREAM)
    assert "two dimensions" in why(alone)
    never = option_order(np.array([1.0]), np.array([np.nan]), np.array([0]), generator=STREAM)
    assert "both orders" in why(never[0])
    for positions in ([0.0, 0.0], [1.0, 2.0]):
        in_one_order = later_places(people, np.array(positions), generator=STREAM)
        assert "rotate the order" in why(in_one_order.correlation)
        assert "rotate the order" in why(in_one_order.shift)
    nothing = correlated_errors([], generator=STREAM)
    assert nothing.measured.value is None


@pytest.mark.oracle("fraction worked by hand", of="option_order", within=1e-06)
def test_share_of_changed_options_is_computed():
    shift, share = option_order(
        np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 5, 3]), np.arange(4), generator=STREAM
    )
    assert value_of(share) == 0.5
    assert value_of(shift) == pytest.approx((2 - 1) / 2 / 4)
