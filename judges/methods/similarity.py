"""Similarity of outputs by their words: tf-idf and cosine, the same on every machine."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

LEAST_LETTERS = 4
_WORD = re.compile(rf"[^\W\d_]{{{LEAST_LETTERS},}}")

WordWeights = Mapping[str, float]


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def inverse_frequencies(texts: Sequence[Iterable[str]]) -> WordWeights:
    """Return log((1 + n) / k) for each word in k of the n word lists."""
    found = Counter(word for words in texts for word in set(words))
    return {word: math.log((1 + len(texts)) / times) for word, times in found.items()}


def weigh_words(words: Iterable[str], frequencies: WordWeights) -> WordWeights:
    """Return the words that have a frequency with their tf-idf."""
    return {word: times * frequencies[word] for word, times in Counter(words).items() if word in frequencies}


def cosine(first: WordWeights, second: WordWeights) -> float:
    """Return the cosine of two word weightings, 0 if one of them has no words."""
    product = sum(weight * second.get(word, 0.0) for word, weight in first.items())
    lengths = math.hypot(*first.values()) * math.hypot(*second.values())
    return product / lengths if lengths else 0.0
