"""Agreement on spans with a category and a severity, such as errors of a translation, and MQM scores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

import numpy as np

from agreement.alpha import krippendorff_alpha
from agreement.bootstrap import Resampling
from agreement.coefficient import Coefficient, Counts, why_not_pairable
from agreement.data import FloatArray, IntArray, ReliabilityData, index_documents
from agreement.passages import MarkedText, Span, unitizing_alpha
from agreement.streams import Randomness, substream
from agreement.student import RatioName, ratio_coefficient, sum_by_document

_BY_DOCUMENTS = Resampling(by="documents")


@dataclass(frozen=True)
class MarkedSpan:
    """Characters from `start` to before `end`, the kind of error and its severity.

    A span without characters (start = end), such as an omission, is a point.
    """

    start: int
    end: int
    category: str
    severity: str


@dataclass(frozen=True)
class SpannedText:
    """An output of `length` characters with the spans of each rater who answered; no spans is an answer, too.

    document: the unit that intervals resample. Raises ValueError for a span that leaves the output.
    """

    document: str
    length: int
    spans: Mapping[str, Sequence[MarkedSpan]]

    def __post_init__(self) -> None:
        for span in (each for spans in self.spans.values() for each in spans):
            if not 0 <= span.start <= span.end <= self.length:
                raise ValueError(
                    f"The span {span.start} to {span.end} leaves the text of {self.length} characters."
                )


@dataclass(frozen=True)
class SpanOverlap:
    """Spans of one rater against another's over the items that both answered, by characters.

    credit: characters that both marked, half of one if their severities differ. first_marked, second_marked:
    characters that each marked. `first` is judged, `second` is the reference.
    """

    first: str
    second: str
    texts: int
    credit: float
    first_marked: int
    second_marked: int

    @property
    def precision(self) -> float:
        """Credit / characters that the first marked; 1 without any."""
        return self.credit / self.first_marked if self.first_marked else 1.0

    @property
    def recall(self) -> float:
        """Credit / characters that the second marked; 1 without any."""
        return self.credit / self.second_marked if self.second_marked else 1.0

    @property
    def f1(self) -> float:
        """2 credit / characters of both; 1 if neither marked any."""
        marked = self.first_marked + self.second_marked
        return 2 * self.credit / marked if marked else 1.0


def span_overlaps(texts: Sequence[SpannedText]) -> tuple[SpanOverlap, ...]:
    """Every pair of raters who share an item, raters in alphabetical order."""
    pairs, sums = _sums_by_text(texts)
    return tuple(
        SpanOverlap(*pair, int(shared), float(credit), int(one), int(other))
        for pair, (credit, one, other, shared) in zip(pairs, sums.sum(axis=0), strict=True)
    )


def span_f1(texts: Sequence[SpannedText], *, confidence_level: float = 0.95) -> Coefficient:
    """The mean over pairs of raters of F1 by characters, 2 credit / (one + other), with outputs pooled.

    A character counts as shared if both raters marked it: 1 if they gave it a severity in common, 1/2 if not.
    Categories do not count. Overlapping spans of one rater mark a character once, a point marks the character
    at its start. A pair of raters who marked nothing has an F1 of 1. F1 is not corrected for chance. The
    interval is `mean_ratio_interval`'s over documents. Source: Blain and others 2023, Findings of the WMT
    2023 shared task on quality estimation, 629-653: its script task2_evaluate.py pools segments, too.
    Undefined if no output has answers of two raters.
    """
    _, sums = _sums_by_text(texts)
    documents = _documents(texts)
    credit, one, other, shared = np.moveaxis(sums, 2, 0)
    kept = shared.any(axis=1)
    of_text = np.unique(documents[kept], return_inverse=True)[1]
    # F1 = 2 credit / (one + other), so its divisor is the mean of the two.
    hits, sizes = (sum_by_document(each[kept], of_text) for each in (credit, (one + other) / 2))
    # A unit is an output; a rating is the list of spans that a rater marked in it, even if empty.
    raters = {rater for text in texts for rater in text.spans}
    answers = np.array([len(text.spans) for text in texts], dtype=np.intp)
    counts = Counts.of_answers(answers, len(raters))
    named = RatioName(
        "span_f1",
        "F1 of marked characters, mean of pairs of raters",
        "Blain and others 2023",
        why_not_pairable(counts) or "",
        "An interval needs marked characters in two documents.",
    )
    return ratio_coefficient(named, hits, sizes, counts, confidence_level)


def _sums_by_text(texts: Sequence[SpannedText]) -> tuple[list[tuple[str, str]], FloatArray]:
    """Pairs of raters, and (outputs, pairs, 4): credit, characters of one and other, 1 if both answered."""
    names = sorted({rater for text in texts for rater in text.spans})
    together = {pair for text in texts for pair in combinations(sorted(text.spans), 2)}
    pairs = [pair for pair in combinations(names, 2) if pair in together]
    positions = {pair: index for index, pair in enumerate(pairs)}
    severities = sorted({span.severity for text in texts for spans in text.spans.values() for span in spans})
    sums = np.zeros((len(texts), len(pairs), 4))
    for row, text in zip(sums, texts, strict=True):
        # (severities, characters + 1): the last is a point behind the characters.
        marks = {rater: np.zeros((len(severities), text.length + 1), dtype=bool) for rater in text.spans}
        for rater, spans in text.spans.items():
            for span in spans:
                end = max(span.end, span.start + 1)
                marks[rater][severities.index(span.severity), span.start : end] = True
        for first, second in combinations(sorted(text.spans), 2):
            one, other = marks[first], marks[second]
            both = one.any(axis=0) & other.any(axis=0)
            # 1 for a severity in common and 1/2 without is half the sum of both counts.
            credit = (both.sum() + (one & other).any(axis=0).sum()) / 2
            row[positions[first, second]] = credit, one.any(axis=0).sum(), other.any(axis=0).sum(), 1
    return pairs, sums


def _documents(texts: Sequence[SpannedText]) -> IntArray:
    return index_documents([text.document for text in texts], len(texts))


@dataclass(frozen=True)
class SpanWeights:
    """The weight of a span, by its category and severity, else by its category, else by its severity.

    MQM of Freitag and others 2021 has minor 1 and major 5, minor punctuation .1 and non-translation 25.
    """

    severities: Mapping[str, float]
    categories: Mapping[str, float] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def of_span(self, span: MarkedSpan) -> float:
        """Return the weight; ValueError without one."""
        if (span.category, span.severity) in self.pairs:
            return self.pairs[span.category, span.severity]
        if span.category in self.categories:
            return self.categories[span.category]
        if span.severity not in self.severities:
            raise ValueError(f"The severity {span.severity} has no weight.")
        return self.severities[span.severity]


def mqm_scores(
    texts: Sequence[SpannedText], weights: SpanWeights, *, per_1000_characters: bool = False
) -> FloatArray:
    """(raters, outputs): sums of the weights of a rater's spans in an output, NaN if the rater did not
    answer.

    Lower is better. Raters are in alphabetical order. Scores are by segment, like published ones;
    per_1000_characters divides by the length, and is NaN for an output without characters. Source: Freitag
    and others 2021, TACL 9, 1460-1474.
    """
    scores = _by_rater(texts, lambda spans: sum(weights.of_span(span) for span in spans))
    if per_1000_characters:
        lengths = np.array([text.length or np.nan for text in texts], dtype=float)
        scores = 1000 * scores / lengths
    return np.asarray(np.round(scores, 9))  # sums of tenths in another order differ behind these


def mqm_alpha(
    texts: Sequence[SpannedText],
    weights: SpanWeights,
    *,
    per_1000_characters: bool = False,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The interval `krippendorff_alpha` of `mqm_scores`; the interval resamples documents.

    Undefined if no output has answers of two raters, or if all scores are the same.
    """
    scores = mqm_scores(texts, weights, per_1000_characters=per_1000_characters)
    return _interval_alpha(texts, scores, substream(generator, "mqm"), resampling)


def _count_category(category: str, spans: Sequence[MarkedSpan]) -> int:
    return sum(each.category == category for each in spans)


def alpha_by_category(
    texts: Sequence[SpannedText],
    categories: Sequence[str],
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> dict[str, Coefficient]:
    """The interval alpha of each category's number of spans in an output; undefined as `mqm_alpha`."""
    found = {}
    for category in categories:
        numbers = _by_rater(texts, partial(_count_category, category))
        drawn_with = substream(generator, "category", category)
        found[category] = _interval_alpha(texts, numbers, drawn_with, resampling)
    return found


def unitizing_alpha_by_category(
    texts: Sequence[SpannedText],
    categories: Sequence[str],
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> dict[str, Coefficient]:
    """`unitizing_alpha` of the spans of one category at a time, independent of their severity.

    A rater who answered without such a span marked nothing, and counts. Overlapping spans of a rater are one;
    points have no characters and do not count. Each category is compared with the rest of the output: this is
    not the joint coefficient of several categories in Krippendorff and others 2016. Undefined as
    `unitizing_alpha`, and if the category was never marked.
    """
    found = {}
    for category in categories:
        marked = []
        for text in texts:
            own = {
                rater: _merge([(each.start, each.end) for each in spans if each.category == category])
                for rater, spans in text.spans.items()
            }
            marked.append(MarkedText(text.document, text.length, (), own))
        alpha = unitizing_alpha(
            marked, generator=substream(generator, "category", category), resampling=resampling
        )
        marked_any = any(spans for text in marked for spans in text.passages.values())
        if alpha.value is None and alpha.counts.pairable_units and not marked_any:
            alpha = replace(alpha, reason="No rater marked a span of this category.")
        found[category] = replace(alpha, parameters={"category": category})
    return found


def _by_rater(texts: Sequence[SpannedText], statistic: Callable[[Sequence[MarkedSpan]], float]) -> FloatArray:
    """(raters, outputs): a number of each rater's spans, NaN if the rater did not answer."""
    names = sorted({rater for text in texts for rater in text.spans})
    table = np.full((len(names), len(texts)), np.nan)
    for row, name in zip(table, names, strict=True):
        for index, text in enumerate(texts):
            if name in text.spans:
                row[index] = statistic(text.spans[name])
    return table


def _interval_alpha(
    texts: Sequence[SpannedText],
    values: FloatArray,
    generator: Randomness | None,
    resampling: Resampling | None,
) -> Coefficient:
    data = ReliabilityData(
        values,
        measurement_level="interval",
        value_domain=None,
        documents=_documents(texts),
        raters=sorted({rater for text in texts for rater in text.spans}),
    )
    return krippendorff_alpha(data, generator=generator, resampling=resampling or _BY_DOCUMENTS)


def _merge(spans: Sequence[Span]) -> list[Span]:
    """The spans in order; overlapping ones are merged and points dropped."""
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        # Spans that only touch remain two passages.
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
