"""Metrics that are computed here: lengths, and overlap with references by kept packages; no Django.

ROUGE is that of `rouge-score`, chrF and BLEU that of `sacrebleu`. Both are an extra, which
`requirements-metrics.txt` installs, and are loaded when they are used.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any


class PackageMissingError(Exception):
    """What a measure is computed with is not installed."""


@dataclass(frozen=True)
class MetricTexts:
    """A text, the document that it was written for, and other texts that it is held against."""

    text: str
    document: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextMeasure:
    """key: its word on the command line. label: the metric's name, which its references follow.

    says: how it is computed. function: its value for a text, None where it has none.
    """

    key: str
    label: str
    says: str
    function: Callable[[MetricTexts], float | None]
    needs_references: bool = False

    def name(self, references: Sequence[str]) -> str:
        """Return what its metric is called."""
        return f"{self.label} to {', '.join(references)}" if self.needs_references else self.label

    def value(self, texts: MetricTexts) -> float | None:
        """Return its value for a text. Raises PackageMissingError, ValueError where there is no reference."""
        if self.needs_references and not texts.references:
            raise ValueError(f"{self.label} needs a reference.")
        return self.function(texts)


def count_words(text: str) -> int:
    """Return how many words there are between spaces; of scripts without spaces it is no count of words."""
    return len(text.split())


def _compression(texts: MetricTexts) -> float | None:
    """Return the words of the document for each word of the text (Grusky and others 2018, equation 3)."""
    words = count_words(texts.text)
    return count_words(texts.document) / words if words else None


def _rouge(kind: str) -> Callable[[MetricTexts], float]:
    return lambda texts: float(_rouge_scorer(kind).score_multi(texts.references, texts.text)[kind].fmeasure)


def _chrf(texts: MetricTexts) -> float:
    return float(_sacrebleu().sentence_chrf(texts.text, list(texts.references)).score)


def _bleu(texts: MetricTexts) -> float:
    return float(_sacrebleu().sentence_bleu(texts.text, list(texts.references)).score)


@cache
def _rouge_scorer(kind: str) -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise PackageMissingError("rouge-score") from error
    return RougeScorer([kind], use_stemmer=True)


@cache
def _sacrebleu() -> Any:
    try:
        import sacrebleu
    except ImportError as error:
        raise PackageMissingError("sacrebleu") from error
    return sacrebleu


_ROUGE_SAYS = "rouge-score, F-measure with stemming, the best of several references"
_MEASURES = (
    TextMeasure("words", "Length in words", "words between spaces", lambda texts: count_words(texts.text)),
    TextMeasure("characters", "Length in characters", "characters", lambda texts: len(texts.text)),
    TextMeasure(
        "compression", "Compression", "words of the document for each word of the text", _compression
    ),
    TextMeasure("rouge1", "ROUGE-1", _ROUGE_SAYS, _rouge("rouge1"), True),
    TextMeasure("rouge2", "ROUGE-2", _ROUGE_SAYS, _rouge("rouge2"), True),
    TextMeasure("rougeL", "ROUGE-L", _ROUGE_SAYS, _rouge("rougeL"), True),
    TextMeasure("chrf", "chrF", "sacrebleu, sentence level, its defaults, 0 to 100", _chrf, True),
    TextMeasure("bleu", "BLEU", "sacrebleu, sentence level, its defaults, 0 to 100", _bleu, True),
)
MEASURES: Mapping[str, TextMeasure] = {measure.key: measure for measure in _MEASURES}
