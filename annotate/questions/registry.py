"""Which kinds of question there are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from annotate.questions.kind import QuestionKind
from annotate.questions.labels import LABELS
from annotate.questions.parts import PARTS
from annotate.questions.preference import PREFERENCE
from annotate.questions.ranking import RANKING
from annotate.questions.scale import CATEGORY, SCALE
from annotate.questions.spans import SPANS
from annotate.questions.text import TEXT

_kinds: dict[str, QuestionKind] = {
    each.key: each for each in (SCALE, CATEGORY, LABELS, PARTS, PREFERENCE, RANKING, SPANS, TEXT)
}
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
