"""Question kinds of dimensions, see docs/decisions/0035-a-question-kind-is-one-object.md.

A kind is one object in one module here, with one template below templates/questions/. `KINDS` is the
registry; all other code calls `kind_of(dimension)`.
"""

from annotate.questions.kind import Given, ItemContent, QuestionKind
from annotate.questions.registry import KINDS, kind_of, register_kind

__all__ = ["KINDS", "Given", "ItemContent", "QuestionKind", "kind_of", "register_kind"]
