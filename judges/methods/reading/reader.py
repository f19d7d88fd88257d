"""Reading a reply by forms, the most explicit first; the same for scores and for choices.

The first form that occurs decides. If it occurs with different answers, the one called final counts, then the
one of the sentence that concludes; otherwise the reply is unreadable."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain

from annotate.core.translation import gettext
from judges.methods.reading.mentions import Mention, choose_mention, rationale
from judges.methods.reading.plain import Plain, answer_start, plain
from judges.methods.reading.structured import find_tagged, json_answers
from judges.methods.readings import Readable, Reading, Unreadable

# What a reply says that gives no answer.

_JUDGE = (
    r"(?:judge|rate|score|evaluate|assess|grade|give|provide|compare|choose|determine|answer|help|assist)"
)
REFUSES = re.compile(
    r"\b(?:sorry|as an ai|as a language model)\b|\bi apologi[sz]e\b|\bi\s+(?:must\s+)?decline\b|"
    r"\b(?:i|we)\s+(?:cannot|can't|can not|could not|couldn't|won't|will not|am unable to|am not able to)"
    rf"\s+{_JUDGE}\b|"
    rf"\b(?:unable|not able|not possible|impossible)\s+(?:for me\s+)?to\s+{_JUDGE}\b",
    re.IGNORECASE,
)


def nothing_found(text: str, nothing: str) -> Unreadable:
    """Return why a reply has no answer: it refuses, or just has none, which `nothing` says."""
    return Unreadable(gettext("The reply refuses to judge.") if REFUSES.search(text) else nothing)


Finder = Callable[[str], list[Mention]]


class Forms(ABC):
    """The forms in which replies answer one question."""

    nothing: str
    not_in_json: str
    different: str
    own_name: str
    finders: Sequence[Finder]

    @abstractmethod
    def alone(self, text: str, offset: int = 0) -> list[Mention]:
        """Return the answer that a text consists of, if it is one and nothing else."""

    @abstractmethod
    def problem(self, mention: Mention) -> str:
        """Return why a mention is not an answer to this question, empty where it is."""


def read(reply: str, forms: Forms) -> Reading:
    """Return the answer that a reply states, with its reasons, or why it has none."""
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return start
    if answers := _in_json(reply[start:], forms):
        return _of_json(answers, forms)
    text = plain(reply, start)
    mention = _find_mention(text.text, forms)
    if isinstance(mention, Unreadable):
        return mention
    return _reading_of(mention, forms, rationale(reply, text, mention))


def read_json(reply: str, forms: Forms) -> Reading:
    """Return the answer of a reply that is to be a JSON object, or why it has none."""
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return start
    if answers := _in_json(reply[start:], forms):
        return _of_json(answers, forms)
    return Unreadable(gettext(forms.not_in_json))


def position(reply: str, forms: Forms) -> int | None:
    """Return where the stated answer begins, None where there is none."""
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return None
    text: Plain = plain(reply, start)
    mention = _find_mention(text.text, forms)
    return None if isinstance(mention, Unreadable) else text.origins[mention.at]


def _find_mention(text: str, forms: Forms) -> Mention | Unreadable:
    in_tags = [mention for start, inside in find_tagged(text) for mention in forms.alone(inside, start)]
    for mentions in chain([in_tags], (find(text) for find in forms.finders)):
        if mentions:
            return choose_mention(mentions, text) or _different(forms)
    return nothing_found(text, gettext(forms.nothing))


def _in_json(reply: str, forms: Forms) -> list[tuple[Mention, str]]:
    return [
        (mention, reason)
        for answer, reason in json_answers(reply, forms.own_name)
        for mention in forms.alone(plain(answer).text)
    ]


def _of_json(answers: list[tuple[Mention, str]], forms: Forms) -> Reading:
    mention = choose_mention([mention for mention, _ in answers], "")
    return _reading_of(mention, forms, answers[-1][1]) if mention else _different(forms)


def _reading_of(mention: Mention, forms: Forms, reasons: str) -> Reading:
    problem = forms.problem(mention)
    return Unreadable(problem) if problem or mention.value is None else Readable(mention.value, reasons)


def _different(forms: Forms) -> Unreadable:
    return Unreadable(gettext(forms.different))
