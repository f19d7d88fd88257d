"""Effects of a judge as one more rater, by its noise (`coverage.py one_more_rater`)."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from agreement import Resampling
from agreement.comparison import Effect, Scores, judge_as_one_more_rater
from agreement.data import FloatArray

SEED = 20_261_127
ITEMS = 4


@dataclass(frozen=True)
class NoisyJudge:
    """A judge with `noise` times the error variance of a person, beside people; values from 1 to 5.

    centre: of the true values; near 5 most values are a 5. Errors share .3 of their deviation in a document.
    """

    noise: float
    raters: int = 3
    documents: int = 32
    centre: float = 3

    def scores(self, generator: np.random.Generator) -> Scores:
        """One project, four items of each document."""
        of_document = np.repeat(np.arange(self.documents), ITEMS)
        truth = self.centre + 0.8 * generator.normal(size=len(of_document))

        def values(deviation: float) -> FloatArray:
            own = generator.normal(size=len(truth))
            shared = generator.normal(size=self.documents)[of_document]
            errors = deviation * (np.sqrt(1 - 0.3**2) * own + 0.3 * shared)
            return np.asarray(np.clip(np.round(truth + errors), 1, 5))

        return Scores(
            systems=np.tile(np.arange(ITEMS), self.documents),
            documents=of_document,
            human=np.stack([values(0.8) for _ in range(self.raters)]),
            judge=values(0.8 * np.sqrt(self.noise)),
        )


def effects(kind: NoisyJudge, simulations: int, replicates: int = 300) -> dict[Effect, float]:
    """Return the share of each effect."""
    generator, plan = np.random.default_rng(SEED), Resampling(by="documents", replicates=replicates)
    found = Counter(
        judge_as_one_more_rater(kind.scores(generator), generator=generator, resampling=plan).effect
        for _ in range(simulations)
    )
    return {effect: found[effect] / simulations for effect in Effect}


def report_one_more_rater(simulations: int) -> None:
    """Print a line for each panel and number of documents, and for each noise of the judge."""
    print(f"Share of each effect; {simulations:,} projects of each kind")
    for centre, raters in ((3, 3), (3, 5), (5.3, 3)):
        for documents in (12, 32, 100):
            for noise in (0.5, 1, 1.5, 2):
                shares = effects(NoisyJudge(noise, raters, documents, centre), simulations)
                print(f"values around {centre:g}, {raters} raters, {documents:>3} documents", end="")
                print(f", noise {noise:g}", end="")
                print("".join(f"  {effect} {share:.3f}" for effect, share in shares.items()), flush=True)
