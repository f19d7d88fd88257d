"""What a reply says that gives no answer."""

import re

from judges.methods.readings import Unreadable

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


def nothing_found(text: str, what: str) -> Unreadable:
    """Return why a reply has no answer: it refuses, or just has none."""
    return Unreadable("The reply refuses to judge." if REFUSES.search(text) else f"No {what} was found.")
