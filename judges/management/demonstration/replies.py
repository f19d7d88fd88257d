"""Replies of the demonstration's judge, in the format of a file of judgments."""

from collections.abc import Iterator
from itertools import combinations

from agreement.streams import Stream
from judges.management.demonstration.articles import ARTICLES, QUALITY, SYSTEMS, Article
from judges.management.demonstration.remarks import why

MODEL = "invented-model"
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
    return Stream(0).of("demonstration", *name).shuffler().gauss(0, 1)


def _iter_replies(article: Article, position: int, dimension: str) -> Iterator[Row]:
    system, text = SYSTEMS[position], article.summaries[position]
    unit = {"document": article.key, "system": system, "dimension": dimension}
    scored, chosen = (
        felt(article, position, dimension, by=method, leaning=_LENIENT, spread=_SPREAD[dimension])
        for method in ("rts", "mcq")
    )
    reason = why(dimension, article, text, low=scored < 4, flawed=system == "small-model")
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
