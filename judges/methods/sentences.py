"""Sentences of a text, for methods that ask about each."""

import re

# An end of a sentence, also behind a closing quote or bracket, then blanks and what may begin one. CJK needs
# no blanks, and a new line ends a sentence however it ends.
END = re.compile(
    r"(?<=[.!?…\"'”’)\]])(?<=[.!?…][\"'”’)\]]|.[.!?…])\s+"
    r"(?=[\"'“‘(\[]*[^\W\d_a-zß-öø-ÿ]|[\"'“‘(\[]*\d)|(?<=[。！？])|\n+"
)
# What ends with a full stop and ends no sentence. Months, titles and "p. 4" as English writes them.
ABBREVIATED = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Sen|Rep|Gov|Lt|Col|Capt|Sgt|vs|etc|e\.g|i\.e|cf|No|no|pp?|vol|fig|Fig|"
    r"Inc|Ltd|Co|Corp|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|approx)|\b[A-Z])\.\Z"
)
MOST_SENTENCES = 100


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text in their order, at most a hundred: the last has all that is left.

    A title, an initial or an abbreviation ends none. A text without any is one, also where it is empty.
    """
    found: list[str] = []
    for part in (each.strip() for each in END.split(text)):
        if found and ABBREVIATED.search(found[-1]):
            found[-1] = f"{found[-1]} {part}"
        elif part:
            found.append(part)
    if len(found) > MOST_SENTENCES:
        found = [*found[: MOST_SENTENCES - 1], " ".join(found[MOST_SENTENCES - 1 :])]
    return found or [text.strip()]
