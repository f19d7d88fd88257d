"""Evaluation steps that a model writes once for a dimension (G-Eval, Liu et al., 2023)."""

import re

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods import scales
from judges.methods.base import Message
from judges.methods.reading.plain import answer_start
from judges.methods.readings import Unreadable

BLOCK = re.compile(
    r"(?P<heading>^Evaluation steps:[^\S\n]*\n)(?P<steps>(?:[^\S\n]*\d{1,2}[.)].*\n?)+)", re.MULTILINE
)
NUMBERED = re.compile(r"^[^\S\n*_#]*[*_#]{0,3}\d{1,2}[.)]\s*(?P<step>\S.*)$", re.MULTILINE)
LEAST, MOST = 2, 20


def ask_for_steps(dimension: FrozenDimension) -> Message:
    """Return the request for steps: the raters' task and criteria, and the form."""
    guidelines = f"{dimension.guidelines.strip()}\n" if dimension.guidelines.strip() else ""
    return Message(
        "user",
        f"""\
People rate texts that were written for a document, by one criterion.

Criterion: {dimension.name}, {scales.answer(dimension)}.
{dimension.definition}
{guidelines}
The scale:
{scales.points(dimension)}

Write the steps by which one should evaluate a text by this criterion, from reading the document to deciding
on the score. Reply with three to six numbered steps, one on a line, and nothing else.
""",
    )


def steps_in(reply: str) -> list[str] | Unreadable:
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return start
    steps = [match["step"].strip(" *_") for match in NUMBERED.finditer(reply[start:])]
    if not LEAST <= len(steps) <= MOST:
        return Unreadable(
            gettext("The reply has {count} numbered steps; {least} to {most} are needed.").format(
                count=len(steps), least=LEAST, most=MOST
            )
        )
    return steps


def has_steps(template: str) -> bool:
    """Return True if a template has numbered steps after a line “Evaluation steps:”."""
    return BLOCK.search(template) is not None


def replace_steps(template: str, steps: list[str]) -> str:
    """Replace the steps of a template; double braces in the new steps are removed."""
    plain = [step.replace("{{", "").replace("}}", "") for step in steps]
    written = "".join(f"{number}. {step}\n" for number, step in enumerate(plain, 1))
    return BLOCK.sub(lambda match: match["heading"] + written, template, count=1)
