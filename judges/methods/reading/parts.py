"""One dimension's part of a reply about several: lines with its label, or its field of a JSON object."""

import json
import re
from collections.abc import Callable, Iterator, Sequence

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods.reading import Readable, Reading, Unreadable
from judges.methods.reading.plain import ANSWERS, REASONS, answer_start, objects
from judges.methods.reading.reader import REFUSES
from judges.methods.reading.table import PIECES

NAMING = ("dimension", "quality", "criterion", "aspect", "metric", "name")
"""Fields by which an object in a list says what it scores."""
SUFFIX = re.compile(r" (?:score|rating|grade)\Z")
# A label starts a line, after bullets and numbers, or follows a comma, semicolon or bar of a table. It
# includes no other line and no number but a list's, which would be the score of the label before. Lengths
# have limits, because a reply of blanks alone would take time that grows with its square.
_BULLETS = r"(?:[^\S\n]|[>*_#`•()\[\]\"“-]){0,10}?"
_LISTED = rf"{_BULLETS}(?:\d{{1,2}}[.)]{_BULLETS})?"
BEFORE = rf"(?:^|[\n,;，；|]){_LISTED}"
AFTER = r"[\s*_`\"”]{0,6}(?:\([^()\n]{0,60}\)[\s*_`]{0,6})?[:：=|–—-]"
# Labels that are no dimension of the call ("Overall score: 3"). Within a line only a number alone
# distinguishes a label from a clause with a colon; on a separate line, so does its length.
LABEL = re.compile(
    rf"(?:\n\|?{_LISTED}|[.,;，；。|/–—-][*_`\"”]{{0,6}}[^\S\n]{{0,3}}[*_`\"“]{{0,6}})"
    r"(?P<words>[^\W\d](?:[\w'’/&-]|[^\S\n]){0,60}?)[*_`\"”]{0,6}(?:[^\S\n]?\([^()\n]{0,60}\)[*_`]{0,6})?"
    r"[^\S\n]?[:：=|](?=(?P<then>[^\n]{0,60}))"
)
CONCLUDES = re.compile(r"(?:so|thus|therefore|hence|in|to|i|we|my|it|this)\b", re.IGNORECASE)
OF_A_SCORE = "|".join(
    (
        *(r"(?:score|rating|grade|mark|point|star)s?", PIECES["OTHER_SCORE"], *ANSWERS, *REASONS),
        r"(?:comment|note|evidence|example|strength|weakness|issue|error|assessment|evaluation)(?:e?s)?",
    )
)
MOST_WORDS = 4  # of a label, unless nothing or a number follows; more words are prose with a colon
NOTHING_OR_NUMBER = re.compile(r"[\s*_`|]*(?:\Z|\d)")
# A first line that says all there is: no score applies, or it is a number that is none on the scale.
NOT_APPLICABLE = re.compile(
    r"[\W_]*(?:\Z|n\s?/\s?a(?!\w)|n\.\s?a\.|k\.\s?a\.|不适用|不適用|該当なし|"
    r"(?:none|null|nil|na|unknown|entfällt)[\W_]*\Z|no\s+(?:score|rating|grade)\b|"
    r"(?:(?:it|this)\s+)?(?:is\s+)?(?:not|nicht)\s+(?:applicable|assessable|available|scor(?:e)?able|rated|scored|"
    r"anwendbar|bewertbar)\b|(?:(?:it|this)\s+)?(?:cannot|can't|can’t|could\s+not)\s+be\s+"
    r"(?:judged|rated|scored|graded|assessed|evaluated|determined)\b)",
    re.IGNORECASE,
)
NUMBER_ALONE = re.compile(
    r"[\s*_`|\"”(\[]*[-+]?\d+(?:[.,]\d+)?(?:\s*(?:/|out\s+of)\s*\d+)?\s?%?(?:\s(?:points?|stars?))?[*_`\])]*"
    r"\s*(?:\Z|[^\w\s])"
)
Reader = Callable[[str], Reading]


def read_part(
    reply: str,
    dimension: FrozenDimension,
    dimensions: Sequence[FrozenDimension],
    read: Reader,
    *,
    structured: bool,
) -> Reading:
    """Return the reading of one dimension in a reply about several, or the reason why there is none.

    read: parses a string about this dimension alone. If the dimension is scored more than once, all scores
    must be the same. A reply about one dimension only needs no label.
    """
    start, name = answer_start(reply), dimension.name
    if isinstance(start, Unreadable):
        return start
    answer = reply[start:]
    # Fields of JSON objects first, then lines with labels.
    readings = [read(field) for field in _fields(answer, dimension, dimensions)]
    if not readings and structured:
        said = gettext("The reply has no JSON object with a score of {dimension}.")
        return Unreadable(said.format(dimension=name))
    readings = readings or [
        _read_lines(name, part, read) for part in _parts(answer, name, [each.name for each in dimensions])
    ]
    # With one dimension the whole reply is about it, so no label is needed.
    if not readings and len(dimensions) == 1:
        return read(answer)
    if not readings:
        return Unreadable(gettext("The reply gives no score of {dimension}.").format(dimension=name))
    readable = [reading for reading in readings if isinstance(reading, Readable)]
    if len({reading.value for reading in readable}) > 1:
        return Unreadable(gettext("Two different scores were found."))
    return readable[-1] if readable else readings[-1]


def _read_lines(name: str, part: str, read: Reader) -> Reading:
    """Parse the line of the label, and if it has no score, everything up to another label."""
    part = _until_other_label(name, part)
    line = part.lstrip(' \t\n*_`|"”').partition("\n")[0]
    nothing = NOT_APPLICABLE.match(line)
    first = read(f"{name}: {(nothing[0] if nothing else line).strip().strip(' |')}")
    if isinstance(first, Readable) or nothing or NUMBER_ALONE.match(line) or REFUSES.search(line):
        return first
    return read(f"{name}: {part.strip()}")


def _until_other_label(name: str, part: str) -> str:
    """Return a part up to the label of another subject, unless its own label follows."""
    of_name = r"\s+".join(map(re.escape, name.split()))
    own = re.compile(
        rf"(?:{of_name}\s+)?(?:{OF_A_SCORE})(?:\s+(?:for|of|on)\s+{of_name})?|{of_name}", re.IGNORECASE
    )
    end = len(part)
    for label in LABEL.finditer(part):
        words, then = label["words"].strip(" \t_-"), label["then"]
        is_short = len(words.split()) <= MOST_WORDS
        # A label at the start of a line needs less evidence than one within a line.
        if label[0][0] == "\n":
            if (is_short or NOTHING_OR_NUMBER.match(then)) and not own.fullmatch(words):
                return part[: min(end, label.start())]
        elif is_short and not CONCLUDES.match(words) and NUMBER_ALONE.match(then):
            end = len(part) if own.fullmatch(words) else min(end, label.start())
    return part[:end]


def _parts(answer: str, name: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the content after each label with a name, up to the next label."""
    longest_first = sorted({*names, name}, key=len, reverse=True)
    written = "|".join(r"\s+".join(map(re.escape, each.split())) for each in longest_first)
    labels = list(re.finditer(f"{BEFORE}(?P<name>{written}){AFTER}", answer, re.IGNORECASE))
    ends = [*(label.start() for label in labels[1:]), len(answer)]
    for label, end in zip(labels, ends, strict=False):  # without a label there is one end too many
        if " ".join(label["name"].split()).casefold() == " ".join(name.split()).casefold():
            yield answer[label.end() : end]


def _fields(answer: str, dimension: FrozenDimension, dimensions: Sequence[FrozenDimension]) -> Iterator[str]:
    """Yield the values of a dimension in a reply's JSON objects, each as a separate string.

    A key survives a renaming, and may have become the name of another dimension, which the prompt shows.
    """
    others = {fold_name(each.name) for each in dimensions if each.key != dimension.key}
    wanted = {fold_name(dimension.name)} | ({fold_name(dimension.key)} - others)
    for found in objects(answer):
        fields = {fold_name(str(name)): content for name, content in found.items()}
        if any(isinstance(fields.get(name), str) and fold_name(fields[name]) in wanted for name in NAMING):
            yield json.dumps(found, ensure_ascii=False)
        for name, content in fields.items():
            if name in wanted or SUFFIX.sub("", name) in wanted:
                is_plain = isinstance(content, str | int | float) and not isinstance(content, bool)
                yield (str(content) if is_plain else json.dumps(content, ensure_ascii=False))


def fold_name(name: str) -> str:
    """Return a name or key in the form for comparing JSON fields: without case, hyphens and underscores."""
    return " ".join(name.replace("_", " ").replace("-", " ").split()).casefold()
