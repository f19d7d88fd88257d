"""Metrics computed here: lengths, and overlap with references by established packages; no Django.

ROUGE comes from `rouge-score`, chrF and BLEU from `sacrebleu`. Both are an extra, which
`requirements-metrics.txt` installs, and are imported on use.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any


class PackageMissingError(Exception):
    """The package of a measure is not installed."""


@dataclass(frozen=True)
class MetricTexts:
    """An output, its document, and the references for comparison."""

    text: str
    document: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextMeasure:
    """key: its word on the command line. label: the metric's name, followed by its references.

    says: a description of the computation. function: its value for an output, None if it has none.
    """

    key: str
    label: str
    says: str
    function: Callable[[MetricTexts], float | None]
    needs_references: bool = False

    def name(self, references: Sequence[str]) -> str:
        return f"{self.label} to {', '.join(references)}" if self.needs_references else self.label

    def value(self, texts: MetricTexts) -> float | None:
        """Return its value for an output.

        Raises PackageMissingError, and ValueError if there is no reference.
        """
        if self.needs_references and not texts.references:
            raise ValueError(f"{self.label} needs a reference.")
        return self.function(texts)


def count_words(text: str) -> int:
    """Return the number of words between spaces; for scripts without spaces it is no word count."""
    return len(text.split())


def _compression(texts: MetricTexts) -> float | None:
    """Return the ratio of the document's words to the output's (Grusky and others 2018, equation 3)."""
    words = count_words(texts.text)
    # An empty output has no ratio, so it is a gap and no 0.
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
