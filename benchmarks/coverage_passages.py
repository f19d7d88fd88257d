"""How often intervals of agreement on marked passages hold (`coverage.py passages`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from agreement import Coefficient, MarkedText, Resampling, gamma, unitizing_alpha, word_f1

SEED = 20_261_123
FIGURES: dict[str, Callable[..., Coefficient]] = {
    "unitizing alpha": unitizing_alpha,
    "gamma": gamma,
    "F1 of words": word_f1,
}


@dataclass(frozen=True)
class Marking:
    """Texts of 600 characters with some places worth marking, which raters find, miss and find elsewhere.

    found: how often a rater marks such a place. items: texts of a document, which share how hard they are.
    """

    documents: int = 30
    items: int = 2
    raters: int = 3
    found: float = 0.7
    elsewhere: float = 0.5
    length: int = 600

    def texts(self, generator: np.random.Generator) -> list[MarkedText]:
        """Every text that two raters or more marked."""
        words = [(start, start + 5) for start in range(0, self.length, 6)]
        made = []
        for document in range(self.documents):
            found = np.clip(self.found + 0.15 * generator.normal(), 0.05, 0.95)
            for _ in range(self.items):
                passages = self._passages(float(found), generator)
                made.append(MarkedText(str(document), self.length, words, passages))
        return made

    def _passages(self, found: float, generator: np.random.Generator) -> dict[str, list[tuple[int, int]]]:
        positions = (
            generator.choice(self.length // 60, size=int(generator.integers(1, 4)), replace=False) * 60
        )
        made = {}
        for rater in range(self.raters):
            wrong = generator.choice(self.length // 60, size=generator.poisson(self.elsewhere)) * 60
            own = {int(position) for position in positions if generator.random() < found} | set(
                wrong.tolist()
            )
            begins = {position + int(generator.integers(0, 15)) for position in own}
            spans = [(begin, begin + int(generator.integers(10, 45))) for begin in sorted(begins)]
            if spans:
                made[str(rater)] = spans
        return made


def held_passages(
    kind: Marking, simulations: int, names: Sequence[str] = tuple(FIGURES), replicates: int = 500
) -> dict[str, float]:
    """Return how often the interval of each of these figures holds what very many documents give."""
    generator = np.random.default_rng(SEED)
    many = Marking(2_000, kind.items, kind.raters, kind.found, kind.elsewhere).texts(generator)
    truth = {name: FIGURES[name](many).value or 0.0 for name in names}
    held = dict.fromkeys(names, 0)
    plan = Resampling(by="documents", replicates=replicates)
    for _ in range(simulations):
        texts = kind.texts(generator)
        for name in names:
            interval = FIGURES[name](texts, generator=generator, resampling=plan).interval
            held[name] += interval is not None and interval.low <= truth[name] <= interval.high
    return {name: number / simulations for name, number in held.items()}


def report_passages(simulations: int) -> None:
    """Print a line for each kind of material."""
    print(f"Share of 95 % intervals that hold (nominal .95); {simulations:,} projects of each kind")
    for kind in (Marking(10), Marking(30), Marking(100)):
        shares = "  ".join(f"{name} {share:.3f}" for name, share in held_passages(kind, simulations).items())
        print(f"{kind.documents:>4} documents, {kind.raters} raters, found {kind.found:g}  {shares}")
