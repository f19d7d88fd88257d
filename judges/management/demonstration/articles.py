"""Twelve invented articles of a local paper, with summaries by six invented systems."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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


_TEXTS = Path(__file__).with_name("articles.json")
ARTICLES = [Article(**each) for each in json.loads(_TEXTS.read_text("utf-8"))]

# How good each system's summaries are, by dimension, before raters differ about it.
QUALITY = {
    "coherence": (3.2, 2.4, 3.0, 1.9, 4.4, 4.3),
    "consistency": (5.0, 4.9, 4.3, 1.4, 4.8, 4.6),
    "fluency": (4.7, 4.6, 3.7, 2.3, 4.9, 4.7),
    "relevance": (3.1, 2.3, 2.2, 1.9, 4.5, 4.0),
}
