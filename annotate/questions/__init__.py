"""Question kinds of dimensions, see docs/decisions/0035-a-question-kind-is-one-object.md.

A kind is one object in one module here, with one template below templates/questions/. `KINDS` is the
registry; all other code calls `kind_of(dimension)`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from annotate.questions.kind import Given, ItemContent, QuestionKind
from annotate.questions.labels import LABELS
from annotate.questions.parts import PARTS
from annotate.questions.preference import PREFERENCE
from annotate.questions.ranking import RANKING
from annotate.questions.scale import CATEGORY, SCALE
from annotate.questions.spans import SPANS
from annotate.questions.text import TEXT

__all__ = ["KINDS", "Given", "ItemContent", "QuestionKind", "kind_of", "register_kind"]


_kinds: dict[str, QuestionKind] = {
    each.key: each for each in (SCALE, CATEGORY, LABELS, PARTS, PREFERENCE, RANKING, SPANS, TEXT)
}
# A read-only view: only `register_kind` changes the registry, and the view shows a kind added later.
KINDS: Mapping[str, QuestionKind] = MappingProxyType(_kinds)


class _Dimension(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def measurement_level(self) -> str: ...


def kind_of(dimension: _Dimension) -> QuestionKind:
    """Return a dimension's question kind; a nominal scale is one of categories."""
    if dimension.kind == SCALE.key and dimension.measurement_level == "nominal":
        return CATEGORY
    return KINDS[dimension.kind]


def register_kind(kind: QuestionKind) -> None:
    """Add a kind, or replace the one with the same key."""
    _kinds[kind.key] = kind
