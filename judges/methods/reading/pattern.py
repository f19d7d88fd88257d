"""Reading a reply by a regular expression of a project's own, where the rules cannot know the form.

RE2 finds matches in a time that grows with the text alone, whatever the pattern, so that none stops a worker
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
LONGEST_REPLY = 8_000  # characters of a reply that are looked through, its last ones
ANSWER = "answer"


def compile_pattern(pattern: str) -> Any:
    """Return a pattern as it is used: letters of either case, ^ and $ at every line. Raises re2.error."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(f"(?im){pattern}", options)


def problem_of_pattern(pattern: str) -> str:
    """Return why a pattern cannot be used, empty where it can."""
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
    """Return what `read` makes of the last match of a pattern in a reply, with what stands before as reasons.

    Of a match counts the group called `answer`, else the first group, else all of it. Thinking is not looked
    through, and of a very long reply only its last 8,000 characters.
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
