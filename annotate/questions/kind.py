"""What every question kind can say about its questions and answers."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import format_value
from annotate.core.scale import DECIMALS, normalize
from annotate.core.strings import escapes_nul

Options = Mapping[str, Any]
Data = dict[str, Any] | None
Cleaned = tuple[float | None, Data]
"""The number and the rest of an answer. An incomplete answer has no number."""


class Given(NamedTuple):
    """An answer: the number that it counts by, and what else its kind keeps of it."""

    value: float
    data: Data = None

    @property
    def canonical(self) -> tuple[float, str]:
        """The same for the same answer, and hashable."""
        # PostgreSQL's jsonb does not keep the order of keys, so the order must not distinguish answers.
        return self.value, json.dumps(self.data, sort_keys=True)

    @property
    def unordered(self) -> "Given":
        """The answer with the stored numbers of outputs, instead of the numbers that the rater saw."""
        if not self.data or "order" not in self.data:
            return self
        # Two raters who see the sides in different orders still give the same answer.
        return Given(self.value, {name: each for name, each in self.data.items() if name != "order"})


@dataclass(frozen=True)
class ItemContent:
    """The item of a question, as one rater sees it.

    `texts`: the output, then the parts of its document. sides: the outputs of a comparison. formats: a
    TextFormat for each side. order: the order of the sides for this rater. parts: the parts of the item.
    """

    texts: Sequence[str] = ()
    sides: Sequence[str] = ()
    formats: Sequence[str] = ()
    order: Sequence[int] = ()
    parts: Sequence[str] = ()


class QuestionKind:
    """One kind of question: a base class with usual methods. `register_kind` adds a kind.

    A complete answer has a number, `value`, for counting and sorting; `data` holds the rest.
    """

    key: ClassVar[str]
    name: ClassVar[str | Promise]
    about: ClassVar[str | Promise]
    """A short description for admins who choose a kind."""
    template: ClassVar[str]
    """The template of the input. Its context has the row, and `input_context` as `question`."""
    item_kind: ClassVar[str] = "output"
    """The kind of item that it is about: "output", "pair", or "comparison" of three outputs or more."""
    asks_both_orders: ClassVar[bool] = False
    """Whether a judge answers twice, with the sides in either order."""
    reads_item: ClassVar[bool] = False
    """Whether input or validation depend on the item's content."""
    threshold: ClassVar[float] = 1
    """The distance from which two answers are a dispute, unless the dimension has its own."""
    has_distance: ClassVar[bool] = True
    has_mean: ClassVar[bool] = True
    """Whether a mean of `value` over raters says something about a unit."""
    has_pieces: ClassVar[bool] = True
    """Whether `value` alone does not tell the answer."""
    number_name: ClassVar[str | Promise]
    """What `value` counts, as columns call it."""

    @property
    def compares(self) -> bool:
        return self.item_kind != "output"

    def read_options(self, options: Options) -> dict[str, Any] | None:
        """Return the settings of a question, complete and checked. Raises InvalidValueError."""
        return None

    def bounds(self, options: Options) -> tuple[int, int]:
        """Return the smallest and largest `value`, as far as the options tell."""
        return 0, 1

    def input_context(
        self, dimension: FrozenDimension, given: Given | None, item: ItemContent
    ) -> dict[str, Any]:
        return {}

    def prompt(self, dimension: FrozenDimension, item: ItemContent) -> str:
        """Return the English prompt for a model: the choices, and the fields of the JSON reply."""
        raise NotImplementedError

    def reply_fields(self, dimension: FrozenDimension, item: ItemContent) -> dict[str, Any]:
        raise NotImplementedError

    def read(self, dimension: FrozenDimension, reply: Mapping[str, Any], item: ItemContent) -> Cleaned:
        """Return the answer in a model's JSON. Raises InvalidValueError with a message."""
        raise NotImplementedError

    def combine(self, dimension: FrozenDimension, answers: Sequence[Given]) -> Given | None:
        """Return a model's answer from its samples: the most frequent one, of several the first given."""
        times = Counter(each.canonical for each in answers)
        return max(answers, key=lambda each: times[each.canonical], default=None)

    def clean(
        self, dimension: FrozenDimension, value: float | None, data: Data, item: ItemContent
    ) -> Cleaned:
        raise NotImplementedError

    def describe(self, dimension: FrozenDimension, given: Given) -> str:
        raise NotImplementedError

    def write(self, dimension: FrozenDimension, given: Given, sides: Sequence[str] = ()) -> str:
        return json.dumps(given.data, ensure_ascii=False) if given.data else f"{given.value:g}"

    def distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float | None:
        """Return the distance of two answers for coefficients, 0 for equal ones; None without a distance."""
        return None

    def dispute_distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return the distance that opens a dispute if it reaches the threshold."""
        # A kind without a distance has no disputes, so None becomes 0 here but not for coefficients.
        return self.distance(dimension, one, other) or 0

    def describe_distance(self, options: Options, apart: float) -> str:
        """Return a message with the largest distance between the answers about a unit, their spread."""
        return gettext("The answers differ by {distance}.").format(distance=format_value(apart))

    def spread(self, dimension: FrozenDimension, answers: Iterable[Given]) -> float:
        # Equal answers have distance 0, so only different ones are compared.
        different = {each.canonical: each for each in answers}.values()
        pairs = combinations(different, 2)
        return normalize(max((self.dispute_distance(dimension, *pair) for pair in pairs), default=0.0))

    def rule(self, threshold: float | None, tolerance: float | None) -> tuple[float, float]:
        """Return the distance that opens a dispute, and the distance that settles it."""
        opens = self.threshold if threshold is None else threshold
        # The largest distance that opens no dispute, because distances have DECIMALS decimals.
        nearest = normalize(opens - 10**-DECIMALS)
        return opens, max(nearest if tolerance is None else min(tolerance, nearest), 0)


def is_storable(data: Data) -> bool:
    """Return True if a database can store the data: no NUL characters, no halves of surrogate pairs."""
    try:
        text = json.dumps(data, ensure_ascii=False)
        # Half of a surrogate pair passes `json.dumps` and fails only here, with a subclass of ValueError.
        text.encode()
    except (ValueError, RecursionError):
        return False
    # JSON escapes a NUL character, also without ASCII.
    return not escapes_nul(text)


def refuse_data(dimension: FrozenDimension) -> InvalidValueError:
    sentence = gettext("The answer about {name} cannot be read; choose it again.").format(name=dimension.name)
    return InvalidValueError(sentence, fields={"data": sentence})


def named_list(options: Options, name: str, *, fewest: int, most: int, what: str) -> list[dict[str, str]]:
    """Return the {key, name, description} of an option, checked. Raises InvalidValueError."""
    rows = options.get(name)
    if not isinstance(rows, list) or not all(isinstance(each, Mapping) for each in rows):
        raise InvalidValueError(gettext("List the {what}, each with a name.").format(what=what))
    made = [
        {
            # A given key stays if its name is corrected, so that stored answers keep their meaning.
            "key": str(each.get("key") or "").strip() or key_of_name(str(each.get("name") or "")),
            "name": str(each.get("name") or "").strip(),
            "description": str(each.get("description") or "").strip(),
        }
        for each in rows
    ]
    keys = [each["key"] for each in made]
    if not fewest <= len(made) <= most or not all(keys) or not all(each["name"] for each in made):
        raise InvalidValueError(
            gettext("Give {fewest} to {most} {what}, each with a name.").format(
                fewest=fewest, most=most, what=what
            )
        )
    if len(set(keys)) < len(keys):
        raise InvalidValueError(gettext("Two of the {what} have the same name.").format(what=what))
    return made


def key_of_name(name: str) -> str:
    """Return the key of a name: lower case, with dashes."""
    return "-".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())[:60]


def hidden_dimensions(dimensions: Iterable[FrozenDimension], answers: Mapping[int, Given | None]) -> set[int]:
    """Return the ids of the dimensions that these answers (by dimension id) hide.

    A question is also hidden if its condition refers to a hidden or unanswered question. It is visible if
    that other question is not among these dimensions, as in part of an item's work.
    """
    known = {each.key: each for each in dimensions}
    hidden: set[int] = set()
    # In guideline order: a condition refers to an earlier question, whose state is known by then.
    for each in known.values():
        asked = known.get(each.shown_if["dimension"]) if each.shown_if else None
        if each.shown_if is None or asked is None:
            continue
        given = None if asked.id in hidden else answers.get(asked.id)
        # A chain of conditions hides as a whole: a hidden question counts as unanswered here.
        if not given or not values_for_conditions(given) & set(each.shown_if["values"]):
            hidden.add(each.id)
    return hidden


def values_for_conditions(given: Given) -> set[float | str]:
    # The number of a set of labels is their count, so a condition names labels instead.
    labels = (given.data or {}).get("labels")
    return set(labels) if labels is not None else {given.value}


LETTERS = "ABCDEFGHIJ"
"""By which a prompt names the sides of a comparison, in the order shown."""
ChoiceRows = Sequence[Mapping[str, Any]]
"""The {key, name, description} of an option."""


def choice_lines(rows: ChoiceRows) -> str:
    return "\n".join(
        f"- {row['key']}: {row['name']}" + (f" ({row['description']})" if row["description"] else "")
        for row in rows
    )


def one_of_keys(rows: ChoiceRows) -> dict[str, Any]:
    return {"type": "string", "enum": [row["key"] for row in rows]}


def strict_object(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        # Providers' strict structured outputs require closed objects with all fields required.
        "additionalProperties": False,
    }


def read_list(reply: Mapping[str, Any], name: str) -> list[Any]:
    found = reply.get(name)
    if not isinstance(found, list):
        raise InvalidValueError(gettext("The reply has no list “{name}”.").format(name=name))
    return found


def read_key(rows: ChoiceRows, said: object) -> str:
    """Return the key of the choice that a reply names by its key or name. Raises InvalidValueError."""
    word = str(said).strip().casefold()
    # Keys first, because the name of one choice may equal the key of another.
    for field in ("key", "name"):
        for row in rows:
            if row[field].casefold() == word:
                return str(row["key"])
    # A model can return a long answer instead of a key.
    shown = word if len(word) <= 40 else f"{word[:39]}…"
    raise InvalidValueError(gettext("The reply names “{word}”, which is no choice.").format(word=shown))


class QuotedPassage(NamedTuple):
    """The position of a quote: the number of the source and the offsets of its characters."""

    part: int
    start: int
    end: int


class QuoteFinder:
    """Finds quotes in sources: an exact match, else one with any blanks between the words.

    The search for a repeated quote starts behind its previous match.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._behind: dict[tuple[str, int], int] = defaultdict(int)

    def find(self, quote: str, among: Iterable[int]) -> QuotedPassage | None:
        """Return the position of a quote in the first of these sources with a match, else None."""
        words = quote.split()
        if not words:
            return None
        # Models often change blanks and line ends in a quote.
        patterns = (re.escape(quote.strip()), r"\s+".join(map(re.escape, words)))
        # An exact match in any source precedes a match with other blanks.
        for pattern in patterns:
            for part in among:
                key = " ".join(words), part
                # Only the `search` of a compiled pattern accepts a start position.
                if found := re.compile(pattern).search(self._texts[part], self._behind[key]):
                    # Both patterns share the position, so the second one does not match the same words again.
                    self._behind[key] = found.end()
                    return QuotedPassage(part, found.start(), found.end())
        return None
