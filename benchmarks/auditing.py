"""Is an audit that draws more units where RTS and MCQ differ worth it?

python benchmarks/auditing.py [--samples 600]

On SummEval's 1,200 abstractive summaries with experts' scores and ChatGPT's recorded RTS and MCQ replies:
90 % intervals of the weighted estimate from random audits of a tenth, for the mean human score and for the
share of units on which RTS is more than a point off, by the part of the audit share that every unit has for
certain.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agreement.reliability import RatedSample, active_probabilities, more_than_one_point, weighted_estimate
from tests.published.news_summeval import DIMENSIONS, scores

SEED, SHARE, LEVEL = 20_261_122, 0.1, 0.9
LEAST = (1.0, 0.75, 0.5, 0.25)  # 1: at random

Values = npt.NDArray[np.float64]


def intervals(judge: Values, human: Values, chances: Values, samples: int, weight: float | None) -> str:
    """Mean width and share of intervals that held the mean over all units."""
    generator = np.random.default_rng(SEED)
    widths, held = [], []
    for _ in range(samples):
        drawn = generator.random(len(human)) < chances
        rated = np.where(drawn, human, np.nan)
        sample = RatedSample(judge=judge, human=rated, probabilities=chances, assigned=drawn)
        found = weighted_estimate(sample, weight=weight, confidence_level=LEVEL).interval
        if found is not None:
            widths.append(found.high - found.low)
            held.append(found.low <= human.mean() <= found.high)
    return f"{np.mean(widths):.3f} / {np.mean(held):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--samples", type=int, default=600)
    samples = parser.parse_args().samples
    print(f"{'dimension':<12} {'least':>6} {'mean: width / held':>20} {'errors: width / held':>22}")
    for dimension in DIMENSIONS:
        rts, mcq = scores("rts", dimension), scores("mcq", dimension)
        distance = np.abs(rts.judge - mcq.judge)
        expected = np.where(np.isnan(distance), np.nanmean(distance), distance)
        losses = more_than_one_point(rts.judge, rts.human_means)
        for least in LEAST:
            chances = active_probabilities(expected, SHARE, mix=least, least=least * SHARE)
            mean = intervals(rts.judge, rts.human_means, chances, samples, None)
            errors = intervals(np.zeros(len(losses)), losses, chances, samples, 0.0)
            print(f"{dimension:<12} {least:>6.2f} {mean:>20} {errors:>22}")


if __name__ == "__main__":
    main()
