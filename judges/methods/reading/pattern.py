"""Parsing of a reply by a project's own regular expression, for forms unknown to the rules.

RE2 finds matches in a time that grows linearly with the input, for every pattern, so that none stops a worker
(docs/decisions/0025).
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import re2

from annotate.core.translation import gettext
from judges.methods.reading.plain import answer_start
from judges.methods.readings import Readable, Reading, Unreadable

LONGEST = 500  # characters of a pattern
LONGEST_REPLY = 8_000  # searched characters of a reply, its last ones
ANSWER = "answer"


def compile_pattern(pattern: str) -> Any:
    """Return the compiled pattern: letters of either case, ^ and $ at every line. Raises re2.error."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(f"(?im){pattern}", options)


def problem_of_pattern(pattern: str) -> str:
    """Return the problem of an invalid pattern, empty if it is valid."""
    if len(pattern) > LONGEST:
        return gettext("A pattern has {limit} characters at the most.").format(limit=LONGEST)
    try:
        compile_pattern(pattern)
    except re2.error as error:
        (what,) = error.args
        return gettext("This is no regular expression as RE2 reads them: {error}.").format(
            error=what.decode(errors="replace")
        )
    return ""


def read_by_pattern(reply: str, pattern: str, read: Callable[[str], Reading]) -> Reading:
    """Return the result of `read` for the last match of a pattern, with the preceding content as reasons.

    The group called `answer` counts, else the first group, else the whole match. Thinking is not searched,
    and of a very long reply only its last 8,000 characters.
    """
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return start
    if problem := problem_of_pattern(pattern):  # of an export that was written before RE2 read them
        return Unreadable(problem)
    text = reply[start:][-LONGEST_REPLY:]
    match = next(iter(deque(compile_pattern(pattern).finditer(text), maxlen=1)), None)
    if match is None:
        return Unreadable(gettext("The prompt's pattern does not match."))
    group: str | int = ANSWER if ANSWER in match.re.groupindex else min(match.re.groups, 1)
    reading = read((match[group] or "").strip())
    if isinstance(reading, Readable):
        return Readable(reading.value, text[: match.start()].strip())
    return Unreadable(gettext("The prompt's pattern matches, but: {reason}").format(reason=reading.reason))
