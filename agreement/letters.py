"""Letters for systems that do not surely differ: two systems share one unless their pair differs."""

from collections.abc import Collection, Iterable, Sequence
from string import ascii_lowercase


def share_letters(systems: Sequence[str], differing: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the letters of each system, such as "ab", from the pairs that surely differ.

    systems: the best first. Each of the letters is a largest set of systems of which no two differ; a has the
    best system. Two systems share one exactly if their pair does not differ. Source: Piepho 2004, Journal of
    Computational and Graphical Statistics 13, 456-466 (insert and absorb).
    """
    groups: list[frozenset[str]] = [frozenset(systems)] if systems else []
    for pair in differing:
        split = [group - {name} for group in groups if group.issuperset(pair) for name in pair]
        kept = [group for group in groups if not group.issuperset(pair)]
        groups = _absorb([*kept, *split])
    order = {name: index for index, name in enumerate(systems)}
    groups.sort(key=lambda group: sorted(order[name] for name in group))
    return {
        name: "".join(_letter(index) for index, group in enumerate(groups) if name in group)
        for name in systems
    }


def _absorb(groups: Collection[frozenset[str]]) -> list[frozenset[str]]:
    """Return the groups that no other contains, each once."""
    distinct = list(dict.fromkeys(groups))
    return [group for group in distinct if not any(group < other for other in distinct)]


def _letter(index: int) -> str:
    """Return a, b, ..., z, a1, b1, ..."""
    round, letter = divmod(index, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(round) if round else "")
