"""Agreement of raters on marked passages: Krippendorff's unitizing alpha, gamma, and F1 of words.

All three compare raters' passages in a whole output (a continuum of characters), and pool outputs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
import scipy

from agreement.bootstrap import Resampling
from agreement.coefficient import Coefficient, Counts
from agreement.data import FloatArray, divide_where
from agreement.estimate import Weighted
from agreement.streams import Randomness, Stream, generator_of, substream
from agreement.student import sum_by_document

Span = tuple[int, int]
"""Characters from the first to before the second."""

_BY_DOCUMENTS = Resampling(by="documents")
_SHIFTS = 4000  # pairs of shifted markings for gamma's expected disorder, if there are few outputs
_FEWEST, _MOST = 5, 200
_NOTHING = "No text has passages marked by two raters; ask raters to mark what they base the same values on."


@dataclass(frozen=True)
class MarkedText:
    """An output of `length` characters with the passages of each rater who marked any in it.

    document: the unit that intervals resample. words: the start and end of each word. passages: by rater,
    disjoint.
    """

    document: str
    length: int
    words: Sequence[Span]
    passages: Mapping[str, Sequence[Span]]

    @property
    def markings(self) -> list[Sequence[Span]]:
        """The passages of each rater."""
        return [self.passages[rater] for rater in sorted(self.passages)]


def unitizing_alpha(
    texts: Sequence[MarkedText],
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Krippendorff's alpha of marked and unmarked characters, over outputs with m raters.

    With l_m and l_g the characters marked and not marked, summed over raters and outputs, l = l_m + l_g, o
    the characters that one rater marked and another did not (each ordered pair of raters, over m - 1), and c
    = sum over passages of length^2 + l_g, the share of a passage with itself:

    alpha = 1 - o (l - c / l) / (l_m l_g)

    A passage is one unit: with long passages, chance agreement is less certain than with the same number of
    single characters. For passages of one character it is nominal alpha. 1 for identical passages, 0 for
    chance. Undefined if no output was marked by two raters, or if each of them marked all of it. Source:
    Krippendorff 2019, Content Analysis, 4th edition, section 12.6.4; Krippendorff, Mathet, Bouvry and
    Widloecher 2016, Quality and Quantity 50, 2347-2364.
    """

    def statistic(sums: FloatArray) -> FloatArray:
        marked, gap, differing, with_itself = sums.T
        total = marked + gap
        # Undefined sums give NaN or infinity here, which the last line replaces.
        with np.errstate(divide="ignore", invalid="ignore"):
            found = 1 - differing * (total - with_itself / total) / (marked * gap)
        return np.where(marked * gap > 0, found, np.nan)

    return _pool(
        ("unitizing_alpha", "Krippendorff's unitizing alpha", "Krippendorff 2019, section 12.6.4"),
        texts,
        _alpha_sums,
        statistic,
        "Every rater marked the whole text, so marking cannot be told from chance.",
        generator,
        resampling,
    )


def word_f1(
    texts: Sequence[MarkedText],
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """F1 of the words that two raters marked: 2 both / (one + other), summed over pairs of raters and
    outputs.

    A word counts as marked if a passage contains any of its characters. It is not corrected for chance: two
    raters who each mark half of an output share half of it by chance. Undefined if no word is marked. Source:
    van Rijsbergen 1979, chapter 7; for annotated passages Hripcsak and Rothschild 2005, JAMIA 12, 296-298,
    who show that it is kappa's limit if the unmarked part is very long.
    """

    def statistic(sums: FloatArray) -> FloatArray:
        shared, marked = sums.T
        return divide_where(marked > 0, shared, marked)

    return _pool(
        ("word_f1", "F1 of marked words", "Hripcsak and Rothschild 2005"),
        texts,
        _f1_sums,
        statistic,
        "No passage holds a word.",
        generator,
        resampling,
        least=0.0,
    )


def gamma(
    texts: Sequence[MarkedText],
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """1 - observed / expected disorder of the best alignment of two raters' passages, over pairs of raters.

    Aligning passages u and v costs ((|start_u - start_v| + |end_u - end_v|) / (length_u + length_v))^2, a
    passage without a partner costs 1; the best alignment costs least. The expected disorder is the mean cost
    after the passages of one rater move round the output by a random distance. Only their positions are
    random, not their number and lengths. Sums over pairs (each over m - 1) and outputs. Unlike alpha it
    distinguishes passages: two halves of one are not the whole. Undefined as alpha. Source: Mathet,
    Widloecher and Metivier 2015, Computational Linguistics 41, 437-479, for two annotators and one category;
    of more annotators it is the mean over pairs, not their joint alignment of all annotators.
    """
    pairs = sum(len(text.passages) * (len(text.passages) - 1) // 2 for text in _comparable(texts))
    # Many pairs average out the randomness of shifts, so each needs fewer.
    shifts = int(np.clip(_SHIFTS // max(pairs, 1), _FEWEST, _MOST))
    # The shifts need random numbers even without an interval, and the same ones each time.
    drawn = generator_of(substream(generator, "gamma") or Stream(0), "shifts")

    def statistic(sums: FloatArray) -> FloatArray:
        observed, expected = sums.T
        return 1 - divide_where(expected > 0, observed, expected)

    return _pool(
        ("gamma", "Gamma", "Mathet, Widloecher and Metivier 2015"),
        texts,
        partial(_gamma_sums, drawn=drawn, shifts=shifts),
        statistic,
        "Every rater marked the whole text, so marking cannot be told from chance.",
        generator,
        resampling,
    )


def best_alignment_cost(first: Sequence[Span], second: Sequence[Span]) -> float:
    """The least cost of aligning two raters' passages, each with one of the other's or with none."""
    if not first or not second:
        return float(len(first) + len(second))
    one, other = np.array(first, dtype=float), np.array(second, dtype=float)
    apart = np.abs(one[:, None, :] - other[None, :, :]).sum(axis=2)
    lengths = (one[:, 1] - one[:, 0])[:, None] + (other[:, 1] - other[:, 0])[None, :]
    # A pair saves the cost of two passages without a partner; a pair that saves nothing is not aligned.
    saved = np.maximum(2 - (apart / lengths) ** 2, 0)
    rows, columns = scipy.optimize.linear_sum_assignment(saved, maximize=True)
    return float(len(first) + len(second) - saved[rows, columns].sum())


def _comparable(texts: Sequence[MarkedText]) -> list[MarkedText]:
    return [text for text in texts if len(text.passages) >= 2]


def _alpha_sums(text: MarkedText) -> tuple[float, float, float, float]:
    """(marked, not marked, marked by one and not by another, what passages share with themselves)."""
    raters = len(text.passages)
    lengths = [[end - start for start, end in spans] for spans in text.markings]
    marked = sum(map(sum, lengths))
    gap = raters * text.length - marked
    number = np.zeros(text.length + 1)  # of raters who marked each character, as differences
    for start, end in (span for spans in text.markings for span in spans):
        number[start] += 1
        number[end] -= 1
    counts = np.cumsum(number)[: text.length]
    # Ordered pairs of a rater who marked a character and one who did not, over m - 1.
    differing = float((counts * (raters - counts)).sum()) / (raters - 1)
    return marked, gap, differing, gap + sum(length**2 for each in lengths for length in each)


def _f1_sums(text: MarkedText) -> tuple[float, float]:
    begin, end = np.array(text.words, dtype=int).reshape(-1, 2).T
    # (passages, words): which words have a character in a passage.
    marked = [
        np.array([(begin < stop) & (end > start) for start, stop in spans]).any(axis=0)
        for spans in text.markings
    ]
    pairs = list(combinations(marked, 2))
    return (
        2.0 * sum(int((one & other).sum()) for one, other in pairs),
        float(sum(int(one.sum() + other.sum()) for one, other in pairs)),
    )


def _gamma_sums(text: MarkedText, drawn: np.random.Generator, shifts: int) -> tuple[float, float]:
    over = len(text.passages) - 1
    observed = expected = 0.0
    for first, second in combinations(text.markings, 2):
        observed += best_alignment_cost(first, second) / over
        moved = (_shift(second, text.length, int(by)) for by in drawn.integers(text.length, size=shifts))
        expected += sum(best_alignment_cost(first, each) for each in moved) / shifts / over
    return observed, expected


def _shift(passages: Sequence[Span], length: int, by: int) -> list[Span]:
    """Passages moved to the right; a passage that would start behind the end moves back by the length."""
    return [((start + by) % length, (start + by) % length + end - start) for start, end in passages]


def _pool(
    named: tuple[str, str, str],
    texts: Sequence[MarkedText],
    sums_of: Callable[[MarkedText], tuple[float, ...]],
    statistic: Callable[[FloatArray], FloatArray],
    why_undefined: str,
    generator: Randomness | None,
    resampling: Resampling | None,
    least: float = -1.0,
) -> Coefficient:
    """A coefficient of sums (outputs, terms), with an interval that resamples documents (or outputs)."""
    plan, compared = resampling or _BY_DOCUMENTS, _comparable(texts)
    sums = np.array([sums_of(text) for text in compared])
    if plan.by == "documents" and compared:
        # Documents in the order in which they first occur.
        index_of = {
            name: index for index, name in enumerate(dict.fromkeys(each.document for each in compared))
        }
        sums = sum_by_document(sums, np.array([index_of[each.document] for each in compared]))
    weighted = Weighted(
        *named,
        statistic=lambda weights: statistic(weights @ sums),
        size=len(sums),
        noun=plan.by,
        bounds=(least, 1.0),
    )
    reason = why_undefined if compared else _NOTHING
    raters = {rater for text in texts for rater in text.passages}
    answers = np.array([len(text.passages) for text in texts], dtype=np.intp)
    counts = Counts.of_answers(answers, len(raters))
    return weighted.coefficient(counts, reason, generator, plan)
