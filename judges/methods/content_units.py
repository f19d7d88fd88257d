"""Content units (Pyramid; Gao et al., 2023, fig. 3): the share of a document's units in an output.

The first step lists the units of a document. Units of the project, with their weights, replace a reply.
Without them, a model proposes the units in one call for all outputs of the document. The second step is a
yes-or-no question for each unit. The value is the weighted share of units present, mapped to the dimension's
scale.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods.base import Subject
from judges.methods.reading import Readable, Reading, Unreadable
from judges.methods.reading.plain import json_list
from judges.methods.reading.reader import read_answers
from judges.methods.scoring import object_of
from judges.methods.steps import MethodStep, SteppedMethod, on_scale
from judges.methods.wording import RULE

TEMPLATE = f"""\
=== units ===
List the content units of a document: short statements, each with one fact, that a good text about it should
express. Leave out what is unimportant.

{RULE}
<document>
{{{{ document }}}}
</document>

Reply with a JSON list of statements and nothing else, the most important first.

=== answers ===
Which of these statements does a text express, in whatever words?
{{{{ units }}}}

{RULE}
<text>
{{{{ text }}}}
</text>

Answer yes or no for each of the {{{{ count }}}} statements. Reply with a JSON list of "yes" and "no" in their
order and nothing else.
"""
MOST_UNITS = 60
LISTED = object_of({"units": {"type": "array", "items": {"type": "string"}}})
ANSWERED = object_of({"answers": {"type": "array", "items": {"type": "string", "enum": ["yes", "no"]}}})


@dataclass(frozen=True)
class Unit:
    """A statement that an output about a document should express, and its weight."""

    text: str
    weight: float = 1.0


class ContentUnits(SteppedMethod):
    """Prompts for each content unit of the document whether an output expresses it."""

    key = "content_units"
    label = "Content units (Pyramid)"
    default_template = TEMPLATE
    required = frozenset({"text"})
    sections: ClassVar[Mapping[str, frozenset[str]]] = {
        "units": frozenset({"document"}),
        "answers": frozenset({"text", "units"}),
    }
    of_steps = frozenset({"units", "count"})
    document_section = "units"
    max_tokens = 800

    def next_step(
        self, template: str, subject: Subject, dimension: FrozenDimension, replies: Sequence[str]
    ) -> MethodStep | Reading:
        """Return the request for units, the question about them, or the share present."""
        if not replies:
            return self.step("units", template, subject, dimension, {}, LISTED)
        units = units_of(replies[0])
        if not units:
            return Unreadable(gettext("Step “units”: The reply has no JSON list of statements."))
        if len(replies) == 1:
            listed = "\n".join(f"{number}. {unit.text}" for number, unit in enumerate(units, 1))
            filled = {"units": listed, "count": str(len(units))}
            return self.step("answers", template, subject, dimension, filled, ANSWERED)
        reply = replies[1]
        # The count must match, because an answer belongs to a unit by its position only.
        said = read_answers(reply, len(units))
        if isinstance(said, Unreadable):
            return Unreadable(gettext("Step “answers”: {reason}").format(reason=said.reason))
        there = sum(unit.weight for unit, is_there in zip(units, said, strict=True) if is_there)
        # The pyramid score: the weight of the units that are present, of the weight of all.
        share = there / sum(unit.weight for unit in units)
        missing = [unit.text for unit, is_there in zip(units, said, strict=True) if not is_there]
        rest = f" Missing: {' | '.join(missing)}" if missing else ""
        words = f"{sum(said)} of {len(units)} units are there, a weighted share of {share:.3f}.{rest}"
        return Readable(on_scale(share, dimension), words)


def units_of(reply: str) -> list[Unit]:
    """Return the units that a first step lists: statements, or objects of `text` and `weight`, above 0.

    A statement alone weighs 1. Empty if there is no list, or an empty one.
    """
    units = [_unit(each) for each in json_list(reply)]
    # The prompt requests the most important units first, so the cut removes the least important ones.
    return [unit for unit in units if unit is not None][:MOST_UNITS]


def _unit(said: Any) -> Unit | None:
    text, weight = (said.get("text"), said.get("weight", 1)) if isinstance(said, dict) else (said, 1)
    # An entry without text or with another weight is ignored, and the other units remain usable.
    # Python counts `true` as 1 and reads Infinity, and a share of infinite weights is undefined.
    is_weight = isinstance(weight, int | float) and weight is not True and 0 < weight < math.inf
    return Unit(text.strip(), float(weight)) if isinstance(text, str) and text.strip() and is_weight else None


METHOD = ContentUnits()
