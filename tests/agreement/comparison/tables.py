"""A table small enough to be worked out by hand: three systems, two documents, two people, a judge."""

from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.comparison import Scores, Verdicts

GAP = float("nan")

SYSTEMS = ["A", "A", "B", "B", "C", "C"]
DOCUMENTS = ["one", "two"] * 3
HUMAN = [[1, 2, 2, 4, 4, 5], [1, 2, 2, 2, 4, 5]]  # means 1 2 2 3 4 5
JUDGE = [2, 3, 3, 3, 4, 1]


def scores(**changes: Any) -> Scores:
    """The table, or parts of it changed."""
    parts: dict[str, Any] = {"systems": SYSTEMS, "documents": DOCUMENTS, "human": HUMAN, "judge": JUDGE}
    return Scores(**(parts | changes))


def grid(human: npt.ArrayLike, judge: npt.ArrayLike, documents: int) -> Scores:
    """Scores of as many systems as there are items for each document, system by system."""
    items = len(np.asarray(judge))
    return Scores(
        systems=np.arange(items) // documents,
        documents=np.arange(items) % documents,
        human=human,
        judge=judge,
    )


def verdicts(*asked: tuple[str, str, str, float]) -> Verdicts:
    """Verdicts from (shown first, shown second, document, points of the first)."""
    first, second, documents, points = zip(*asked, strict=True) if asked else ((), (), (), ())
    return Verdicts(first=first, second=second, documents=documents, points=points)
