"""Outputs for one document in the order of their quality, or the best and the worst of them."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import format_value
from annotate.questions.kind import (
    LETTERS,
    Cleaned,
    Data,
    Given,
    ItemContent,
    Options,
    QuestionKind,
    read_list,
    refuse_data,
)

MOST_SIDES = 10


class RankingKind(QuestionKind):
    """Ranks of the sides, 1 the best; `value` is the side ranked first, counted from 1 (the first of ties).

    `data` is {"ranks": [one for each side], "order": sides in the order shown}. With `best_worst` ranks are 1
    for the best, 3 for the worst and 2 for the others.
    """

    key = "ranking"
    name = gettext_lazy("Ranking")
    about = gettext_lazy("Three or more outputs for the same document in order, or the best and the worst.")
    template = "questions/ranking.html"
    item_kind = "comparison"
    reads_item = True
    threshold = 0.5
    has_mean = False
    number_name = gettext_lazy("ranked first")

    def read_options(self, options: Options) -> dict[str, Any]:
        best_worst = bool(options.get("best_worst", False))
        # The others share rank 2 by design with `best_worst`, so ties are no option there.
        return {"best_worst": best_worst, "ties": bool(options.get("ties", True)) and not best_worst}

    def bounds(self, options: Options) -> tuple[int, int]:
        return 1, MOST_SIDES

    def input_context(
        self, dimension: FrozenDimension, given: Given | None, item: ItemContent
    ) -> dict[str, Any]:
        ranks = (given.data or {}).get("ranks", []) if given else []
        order = item.order or range(len(item.sides))
        return {
            "best_worst": dimension.options["best_worst"],
            "ties": dimension.options["ties"],
            "sides": [
                {"side": side, "number": number, "rank": ranks[side] if side < len(ranks) else None}
                for number, side in enumerate(order, start=1)
            ],
            "ranks": range(1, len(item.sides) + 1),
        }

    def prompt(self, dimension: FrozenDimension, item: ItemContent) -> str:
        letters = ", ".join(LETTERS[: len(item.sides)])
        if dimension.options["best_worst"]:
            return (
                f"Which of the texts {letters} is the best, and which another one the worst? The order in "
                'which they are shown means nothing.\nFields "best" and "worst": one letter each.'
            )
        ties = "a list of groups of letters; texts that are equally good share a group"
        return (
            f"Rank the texts {letters}. The order in which they are shown means nothing.\n"
            f'Field "ranking": {ties if dimension.options["ties"] else "all letters"}, the best first.'
        )

    def reply_fields(self, dimension: FrozenDimension, item: ItemContent) -> dict[str, Any]:
        """Return the best and the worst alias, or a list of aliases or of groups of them."""
        letter = {"type": "string", "enum": list(LETTERS[: len(item.sides)])}
        if dimension.options["best_worst"]:
            return {"best": letter, "worst": letter}
        group = {"type": "array", "items": letter} if dimension.options["ties"] else letter
        return {"ranking": {"type": "array", "items": group}}

    def read(self, dimension: FrozenDimension, reply: Mapping[str, Any], item: ItemContent) -> Cleaned:
        """Return the ranks of the sides; letters follow the order shown."""
        if dimension.options["best_worst"]:
            # As three groups, which get the ranks 1, 2 and 3.
            groups = [[reply.get("best")], [], [reply.get("worst")]]
        else:
            said = read_list(reply, "ranking")
            groups = [each if isinstance(each, list) else [each] for each in said]
        order = list(item.order or range(len(item.sides)))
        # Letters follow the order shown, and ranks the sides as stored.
        shown = dict(zip(LETTERS, order, strict=False))
        ranks: dict[int, int] = {}
        for rank, group in enumerate(groups, start=1):
            for letter in group:
                side = shown.get(str(letter).strip().upper())
                if side is None or side in ranks:
                    raise InvalidValueError(gettext("The reply does not name each text once, by its letter."))
                ranks[side] = rank
        # With `best_worst` the reply names two sides, and the others get rank 2 below.
        if not dimension.options["best_worst"] and len(ranks) < len(order):
            raise InvalidValueError(gettext("The reply does not name each text once, by its letter."))
        if not dimension.options["ties"] and len(set(ranks.values())) < len(ranks):
            raise InvalidValueError(gettext("The reply ranks texts as equal; the question has no ties."))
        return self.clean(dimension, None, {"ranks": [ranks.get(side, 2) for side in sorted(order)]}, item)

    def clean(
        self, dimension: FrozenDimension, value: float | None, data: Data, item: ItemContent
    ) -> Cleaned:
        ranks = data.get("ranks") if isinstance(data, dict) else None
        if not isinstance(ranks, list) or len(ranks) != len(item.sides):
            raise refuse_data(dimension)
        given = [each for each in ranks if each is not None]
        if not all(type(each) is int and 1 <= each <= max(len(ranks), 3) for each in given):
            raise refuse_data(dimension)
        order = list(item.order or range(len(item.sides)))
        # An incomplete ranking is stored without a number, so a rater can continue it later.
        is_begun = len(given) < len(ranks) or (dimension.options["best_worst"] and not {1, 3} <= {*ranks})
        if is_begun:
            return None, {"ranks": ranks, "order": order} if given else None
        if dimension.options["best_worst"]:
            if ranks.count(1) != 1 or ranks.count(3) != 1 or ranks.count(2) != len(ranks) - 2:
                sentence = gettext("Choose one output as the best and another one as the worst.")
                raise InvalidValueError(sentence, fields={"data": sentence})
        elif not dimension.options["ties"] and len(set(ranks)) < len(ranks):
            sentence = gettext("Give every output a rank of its own.")
            raise InvalidValueError(sentence, fields={"data": sentence})
        else:
            # Ranks without gaps, so that 1, 1, 3 and 1, 1, 2 are the same answer.
            levels = sorted(set(ranks))
            ranks = [levels.index(each) + 1 for each in ranks]
        return Given(ranks.index(1) + 1, {"ranks": ranks, "order": order})

    def describe(self, dimension: FrozenDimension, given: Given) -> str:
        ranks, order = (given.data or {}).get("ranks", []), (given.data or {}).get("order", [])
        number = {side: shown for shown, side in enumerate(order, start=1)}
        levels: dict[int, list[int]] = {}
        for side, rank in enumerate(ranks):
            levels.setdefault(rank, []).append(number.get(side, side + 1))
        return " > ".join(" = ".join(map(str, sorted(levels[rank]))) for rank in sorted(levels))

    def write(self, dimension: FrozenDimension, given: Given, sides: Sequence[str] = ()) -> str:
        ranks = (given.data or {}).get("ranks", ())
        levels: dict[int, list[str]] = {}
        for side, rank in enumerate(ranks):
            levels.setdefault(rank, []).append(sides[side] if side < len(sides) else str(side + 1))
        return " > ".join(" = ".join(levels[rank]) for rank in sorted(levels))

    def distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return Kendall's distance: the share of pairs in another order; a tie in one counts half."""
        own, theirs = ((each.data or {}).get("ranks", []) for each in (one, other))
        pairs = list(combinations(range(min(len(own), len(theirs))), 2))
        apart = 0.0
        for i, j in pairs:
            mine = (own[i] > own[j]) - (own[i] < own[j])
            yours = (theirs[i] > theirs[j]) - (theirs[i] < theirs[j])
            apart += abs(mine - yours) / 2
        return apart / len(pairs) if pairs else 0.0

    def dispute_distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return 1 if both raters have different first outputs, else Kendall's distance."""
        # With ties several outputs can share the first rank, so these are sets.
        firsts = [
            {side for side, rank in enumerate((each.data or {}).get("ranks", [])) if rank == 1}
            for each in (one, other)
        ]
        return 1.0 if firsts[0].isdisjoint(firsts[1]) else self.distance(dimension, one, other)

    def describe_distance(self, options: Options, apart: float) -> str:
        if apart >= 1:
            return gettext("The raters rank different outputs first.")
        return gettext("The rankings differ by {distance}.").format(distance=format_value(apart))


RANKING = RankingKind()
