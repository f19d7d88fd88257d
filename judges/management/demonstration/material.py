"""Twelve invented articles of a local paper: summaries by six invented systems, remarks, and replies."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from agreement.streams import Stream

SYSTEMS = ("first-two", "last-two", "headline", "small-model", "large-model", "editor")


@dataclass(frozen=True)
class Article:
    """A document and its summaries.

    sentences: the article. headline, small_model, large_model, editor: the summaries of these systems; the
    others copy sentences. flaw: the error of the small model. missing: the content that the terse summaries
    omit.
    """

    key: str
    title: str
    sentences: Sequence[str]
    headline: str
    small_model: str
    large_model: str
    editor: str
    flaw: str
    missing: str

    @property
    def summaries(self) -> tuple[str, ...]:
        """One summary for each of SYSTEMS, in that order."""
        first, last = " ".join(self.sentences[:2]), " ".join(self.sentences[-2:])
        return first, last, self.headline, self.small_model, self.large_model, self.editor


_FOLDER = Path(__file__).parent
ARTICLES = [Article(**each) for each in json.loads((_FOLDER / "articles.json").read_text("utf-8"))]
SCALE_PICTURE = (_FOLDER / "scale.png").read_bytes()

# How good each system's summaries are, by dimension, before raters differ about it.
QUALITY = {
    "coherence": (3.2, 2.4, 3.0, 1.9, 4.4, 4.3),
    "consistency": (5.0, 4.9, 4.3, 1.4, 4.8, 4.6),
    "fluency": (4.7, 4.6, 3.7, 2.3, 4.9, 4.7),
    "relevance": (3.1, 2.3, 2.2, 1.9, 4.5, 4.0),
}


WHY_LOW = {
    "consistency": "{flaw}.",
    "relevance": "It leaves out {missing}.",
    "fluency": "“{words} ...” reads badly: compare it with the article.",
    "coherence": "The sentences stand side by side; nothing leads from one to the next.",
}
WHY_HIGH = {
    "consistency": "I looked each statement up, and each is in the article.",
    "relevance": "What a reader of the paper would retell is there.",
    "fluency": "I stumbled over nothing; short is not the same as wrong.",
    "coherence": "One can follow it from the first word to the last without the article.",
}
YIELDS = (
    "You are right, I had overlooked that.",
    "With the description of the point in front of me, I agree.",
    "Read again: yes.",
    "I had counted this under another dimension.",
)
ASKS = {
    "consistency": "Which statement do you mean? I looked for each in the article.",
    "relevance": "Which fact would you add to so short a text?",
    "fluency": "Do you count a missing article as an error? I read it as the style of headlines.",
    "coherence": "Can two sentences be badly ordered?",
}
ANSWERS = {
    "consistency": "The last one. Please compare it with the third sentence of the article.",
    "relevance": "What happens next: a reader will ask for that first.",
    "fluency": "The guideline counts what disturbs reading, and I stumbled twice.",
    "coherence": "It is not about length. The second sentence does not follow from the first.",
}
THIRDS = (
    "I see both points. The description of the point decided it for me.",
    "I read it as the second of you did.",
)
DECISIONS = {
    "consistency": "What the article does not say is not consistent with it, however small.",
    "relevance": "The guideline asks for what matters most, not for everything.",
    "fluency": "The description of the point speaks of errors, and there are few.",
    "coherence": "A single sentence can be coherent; what it leaves out belongs to relevance.",
}


def why(dimension: str, article: Article, text: str, *, low: bool, flawed: bool) -> str:
    """Return a reason for a low or a high value; `flawed` summaries contradict the article."""
    if low and dimension == "consistency" and not flawed:
        return "It says more than the article does."
    reason = (WHY_LOW if low else WHY_HIGH)[dimension]
    words = " ".join(text.split()[:5])
    return reason.format(flaw=article.flaw, missing=article.missing, words=words)


INVENTED_MODEL = "invented-model"
# The spread of the judge's values around the quality: large for fluency, small for consistency.
_SPREAD = {"coherence": 0.9, "consistency": 0.4, "fluency": 1.3, "relevance": 0.4}
_LENIENT = 0.3
_ITEMS_DIFFER = 0.9  # standard deviation of a system's summaries
_COMPARED = "relevance"
_SILENT = ("wolf", "headline", "coherence")
Row = dict[str, str]


def rows() -> Iterator[Row]:
    """Yield reasoned scores and multiple choice for every unit, and head to head on relevance."""
    for article in ARTICLES:
        for dimension in QUALITY:
            for position in range(len(SYSTEMS)):
                yield from _iter_replies(article, position, dimension)
        for first, second in combinations(range(len(SYSTEMS)), 2):
            yield _compare(article, first, second)
            yield _compare(article, second, first)


def felt(article: Article, position: int, dimension: str, *, by: str, leaning: float, spread: float) -> int:
    """Return the value of a rater or judge for a summary, from 1 to 5; deterministic for the same names."""
    quality = quality_of(article, position, dimension)
    value = quality + leaning + _chance(by, article, position, dimension) * spread
    return min(max(int(value + 0.5), 1), 5)


def quality_of(article: Article, position: int, dimension: str) -> float:
    """Return the quality of a summary, before individual differences."""
    return QUALITY[dimension][position] + _chance("quality", article, position, dimension) * _ITEMS_DIFFER


def _chance(what: str, article: Article, position: int, dimension: str) -> float:
    """Return a standard normal deviate that depends only on the names."""
    name = (what, article.key, SYSTEMS[position], dimension)
    # A fixed seed, so that the demonstration is the same in every installation.
    return Stream(0).of("demonstration", *name).shuffler().gauss(0, 1)


def _iter_replies(article: Article, position: int, dimension: str) -> Iterator[Row]:
    system, text = SYSTEMS[position], article.summaries[position]
    unit = {"document": article.key, "system": system, "dimension": dimension}
    scored, chosen = (
        felt(article, position, dimension, by=method, leaning=_LENIENT, spread=_SPREAD[dimension])
        for method in ("rts", "mcq")
    )
    reason = why(dimension, article, text, low=scored < 4, flawed=system == "small-model")
    # One unreadable reply, which pages of runs and judges show.
    silent = (article.key, system, dimension) == _SILENT
    reply = "This summary is too short for me to say." if silent else f"{reason}\nScore: {scored}"
    yield {**unit, "judge": "Invented model, reasons first", "method": "rts", "reply": reply}
    yield {
        **unit,
        "judge": "Invented model, multiple choice",
        "method": "mcq",
        "reply": f"{'ABCDE'[chosen - 1]}. {reason}",
    }


def _compare(article: Article, first: int, second: int) -> Row:
    # Both orders use the same chance for each text, so only the position makes a difference.
    one, other = (
        quality_of(article, each, _COMPARED) + _chance("h2h", article, each, _COMPARED) * 0.6
        for each in (first, second)
    )
    better = "A" if one + 0.3 > other else "B"  # the output in first position has a small advantage
    return {
        "document": article.key,
        "system": SYSTEMS[first],
        "other": SYSTEMS[second],
        "dimension": _COMPARED,
        "judge": "Invented model, head to head",
        "method": "h2h",
        "reply": better,
    }
