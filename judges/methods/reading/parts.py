"""What a reply about several dimensions says of one: lines with its label, or its field of a JSON object."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from annotate.core.guideline import FrozenDimension
from judges.methods.reading.plain import answer_start
from judges.methods.reading.structured import objects
from judges.methods.readings import Readable, Reading, Unreadable

NAMING = ("dimension", "quality", "criterion", "aspect", "metric", "name")
"""Fields by which an object in a list says what it scores."""

SUFFIX = re.compile(r" (?:score|rating|grade)\Z")
# A label begins a line, behind bullets and numbers, or follows a comma, semicolon or bar of a table. Lengths
# have limits, or a reply of blanks alone would take time that grows with its square.
BEFORE = r"(?:^|[\n,;，；|])[\s>*_#`•\d.()\[\]\"“-]{0,20}?"
AFTER = r"[\s*_`\"”]{0,6}(?:\([^()\n]{0,60}\)[\s*_`]{0,6})?[:：=|–—-]"

Reader = Callable[[str], Reading]


def read_part(
    reply: str,
    dimension: FrozenDimension,
    dimensions: Sequence[FrozenDimension],
    read: Reader,
    *,
    structured: bool,
) -> Reading:
    """Return what a reply about some dimensions says of one of them, or why that is nothing.

    read: reads a text that is about this dimension alone. Where the dimension is scored more than once, all
    scores must be the same. A reply about one dimension only needs no label.
    """
    start = answer_start(reply)
    if isinstance(start, Unreadable):
        return start
    answer = reply[start:]
    if fields := list(_fields(answer, dimension)):
        return _common([read(field) for field in fields])
    if structured:
        return Unreadable(f"The reply has no JSON object with a score of {dimension.name}.")
    if parts := list(_parts(answer, dimension.name, [each.name for each in dimensions])):
        return _common([_read_lines(part, read) for part in parts])
    if len(dimensions) == 1:
        return read(answer)
    return Unreadable(f"The reply gives no score of {dimension.name}.")


def _common(readings: Sequence[Reading]) -> Reading:
    readable = [reading for reading in readings if isinstance(reading, Readable)]
    if len({reading.value for reading in readable}) > 1:
        return Unreadable("Two different scores were found.")
    return readable[-1] if readable else readings[-1]


def _read_lines(part: str, read: Reader) -> Reading:
    """Read the line of the label, and where it states nothing all that follows up to the next label."""
    first = read(part.partition("\n")[0].strip(" |"))
    return first if isinstance(first, Readable) else read(part)


def _parts(answer: str, name: str, names: Sequence[str]) -> Iterator[str]:
    """Yield what stands behind each label with a name, up to the next label, as "Name: ..."."""
    longest_first = sorted({*names, name}, key=len, reverse=True)
    written = "|".join(r"\s+".join(map(re.escape, each.split())) for each in longest_first)
    labels = list(re.finditer(f"{BEFORE}(?P<name>{written}){AFTER}", answer, re.IGNORECASE))
    ends = [*(label.start() for label in labels[1:]), len(answer)]
    for label, end in zip(labels, ends, strict=False):  # without a label there is one end too many
        if " ".join(label["name"].split()).casefold() == " ".join(name.split()).casefold():
            yield f"{name}: {answer[label.end() : end].strip()}"


def _fields(answer: str, dimension: FrozenDimension) -> Iterator[str]:
    """Yield what JSON objects in a reply give for a dimension, each as a text of its own."""
    wanted = {_folded(dimension.name), _folded(dimension.key)}
    for found in objects(answer):
        folded = {_folded(str(name)): content for name, content in found.items()}
        if any(isinstance(folded.get(name), str) and _folded(folded[name]) in wanted for name in NAMING):
            yield json.dumps(found, ensure_ascii=False)
        for name, content in folded.items():
            if name in wanted or SUFFIX.sub("", name) in wanted:
                yield _written(content)


def _written(content: Any) -> str:
    is_plain = isinstance(content, str | int | float) and not isinstance(content, bool)
    return str(content) if is_plain else json.dumps(content, ensure_ascii=False)


def _folded(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("-", " ").split()).casefold()
