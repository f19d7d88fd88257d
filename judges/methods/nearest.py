"""A pool of examples. Each prompt shows the nearest ones to its item, as in MemAlign's episodic memory.

The examples are in the template, between {{ nearest_examples: 3 }} and {{ end_of_examples }}. Each follows a
line "--- " with the digest of its document. So the version of a prompt contains everything it can show.
Outputs are compared by their words: tf-idf and cosine, the same on every machine.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

LEAST_LETTERS = 4
_WORD = re.compile(rf"[^\W\d_]{{{LEAST_LETTERS},}}")

WordWeights = Mapping[str, float]


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def inverse_frequencies(texts: Sequence[Iterable[str]]) -> WordWeights:
    """Return log((1 + n) / k) for each word in k of the n word lists."""
    found = Counter(word for words in texts for word in set(words))
    # The 1 keeps the weight of a word in every list above 0.
    return {word: math.log((1 + len(texts)) / times) for word, times in found.items()}


def weigh_words(words: Iterable[str], frequencies: WordWeights) -> WordWeights:
    """Return the words that have a frequency with their tf-idf."""
    return {word: times * frequencies[word] for word, times in Counter(words).items() if word in frequencies}


def cosine(first: WordWeights, second: WordWeights) -> float:
    """Return the cosine of two word weightings, 0 if one of them has no words."""
    product = sum(weight * second.get(word, 0.0) for word, weight in first.items())
    lengths = math.hypot(*first.values()) * math.hypot(*second.values())
    return product / lengths if lengths else 0.0


PLACEHOLDER = "examples"
NEAREST = "nearest_examples"
HEADING = "Examples that people settled:"
MATERIAL = ("Document: ", "Text: ")
"""How the lines begin by which an example is compared with an item."""
_POOL = re.compile(
    r"\{\{\s*nearest_examples:\s*(?P<shown>[1-9]\d?)\s*\}\}\s*?\n(?P<pool>.*?)"
    r"\s*\n\{\{\s*end_of_examples\s*\}\}",
    re.DOTALL,
)
_HIDDEN = f"{{{{ {PLACEHOLDER} }}}}"
_SEPARATOR = re.compile(r"^--- ([0-9a-f]{12})\s*?$\n?", re.MULTILINE)


@dataclass(frozen=True)
class PooledExample:
    """An example, the digest of its document, and its words by weight."""

    text: str
    digest: str
    weights: WordWeights


@dataclass(frozen=True)
class ExamplePool:
    """The examples of a template, and the number that an item shows."""

    shown: int
    examples: Sequence[PooledExample]
    frequencies: WordWeights

    def nearest(self, document: str, text: str) -> str:
        """Return the nearest examples with their heading, the nearest last; never of the same document.

        Ranked by the cosine of tf-idf of document and output; of equal ones the first in the pool is nearer.
        """
        # A word that no example has changes no rank, so the pool's frequencies suffice.
        own = weigh_words(words_of(f"{document} {text}"), self.frequencies)
        # An example of the same document would reveal people's values of its outputs.
        digest = digest_of(document or text)
        others = [each for each in self.examples if each.digest != digest]
        ranked = sorted(others, key=lambda each: -cosine(own, each.weights))
        texts = [each.text for each in reversed(ranked[: self.shown])]
        return "\n\n".join([f"{HEADING}\n{texts[0]}", *texts[1:]]) if texts else ""


def digest_of(document: str) -> str:
    return sha256(document.encode()).hexdigest()[:12]


def write_pool(examples: Sequence[tuple[str, str]], shown: int) -> str:
    """Return pairs of digest and example as the pool of a template."""
    pool = "\n".join(f"--- {digest}\n{text}" for digest, text in examples)
    pool = pool.replace("{{", "").replace("}}", "")  # content of the project is no placeholder
    return f"{{{{ {NEAREST}: {shown} }}}}\n{pool}\n{{{{ end_of_examples }}}}"


def is_pool(text: str) -> bool:
    """Return True if a string is a pool without further content."""
    return _POOL.fullmatch(text) is not None


def join_pools(template: str, pool: str) -> str | None:
    """Return a template with the examples of another pool before its own, None if it has no pool."""
    own, other = _POOL.search(template), _POOL.fullmatch(pool)
    if own is None or other is None:
        return None
    return f"{template[: own.start('pool')]}{other['pool']}\n{template[own.start('pool') :]}"


def hide_pool(template: str) -> str:
    """Return a template with a placeholder instead of its pool."""
    return _POOL.sub(_HIDDEN, template, count=1)


def restore_pool(text: str, template: str) -> str:
    """Replace the placeholder of a hidden pool by the template's pool."""
    match = _POOL.search(template)
    # A plain replacement, because one by a pattern would read backslashes in the examples.
    return text.replace(_HIDDEN, match[0], 1) if match else text


@lru_cache(maxsize=64)  # a run asks thousands of questions by one template
def split_pool(template: str) -> tuple[str, ExamplePool | None]:
    """Return a template with one placeholder for its examples, and these. Raises ValueError."""
    match = _POOL.search(template)
    if match is None:
        return template, None
    before, *found = _SEPARATOR.split(match["pool"])
    if before.strip() or not found:
        raise ValueError("Each example stands below a line of --- and the 12 digits of its document.")
    digests, texts = found[::2], [text.strip() for text in found[1::2]]
    # Only documents and outputs are compared; reasons have no counterpart in an item.
    words = [
        words_of(" ".join(line for line in text.splitlines() if line.startswith(MATERIAL))) for text in texts
    ]
    frequencies = inverse_frequencies(words)
    examples = [
        PooledExample(text, digest, weigh_words(own, frequencies))
        for text, digest, own in zip(texts, digests, words, strict=True)
    ]
    return hide_pool(template), ExamplePool(int(match["shown"]), examples, frequencies)
