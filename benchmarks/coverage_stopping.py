"""How often alpha's intervals hold when one looks after every few documents (`coverage.py stopping`)."""

from dataclasses import dataclass

import numpy as np

from agreement import Resampling, krippendorff_alpha
from agreement.always_valid import always_valid_alpha
from agreement.data import FloatArray, MeasurementLevel, ReliabilityData

SEED = 20_261_123
LEVEL = MeasurementLevel.INTERVAL
POINTS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Material:
    """Documents of four texts that three raters rate from 1 to 5; ceiling: how far texts lie to the top."""

    error: float = 0.6
    ceiling: float = 0.0

    def documents(self, number: int, generator: np.random.Generator) -> FloatArray:
        """(documents, raters, texts)."""
        texts = 3.2 + self.ceiling + 0.4 * generator.normal(size=(number, 1, 1))
        texts = texts + 0.8 * generator.normal(size=(number, 1, 4))
        return np.clip(np.round(texts + self.error * generator.normal(size=(number, 3, 4))), 1, 5)


def held_at_every_look(
    material: Material, documents: int, simulations: int, *, every: int = 20
) -> tuple[float, float, float]:
    """Return how often always-valid intervals hold at all looks, how often usual ones do, and the mean width.

    Looks come after every so many documents; the width is that of the always-valid one at the end.
    """
    generator = np.random.default_rng(SEED)
    truth = always_valid_alpha(material.documents(20_000, generator), level=LEVEL, value_domain=POINTS).value
    assert truth is not None
    plan, valid, usual, widths = Resampling(by="documents", replicates=200), 0, 0, []
    for _ in range(simulations):
        drawn = material.documents(documents, generator)
        looks = [drawn[:number] for number in range(every, documents + 1, every)]
        found = [always_valid_alpha(each, level=LEVEL, value_domain=POINTS) for each in looks]
        intervals = [krippendorff_alpha(_data(each), generator=generator, resampling=plan) for each in looks]
        valid += all(each.low <= truth <= each.high for each in found)
        usual += all(
            each.interval is not None and each.interval.low <= truth <= each.interval.high
            for each in intervals
        )
        widths.append(found[-1].width)
    return valid / simulations, usual / simulations, float(np.mean(widths))


def _data(documents: FloatArray) -> ReliabilityData:
    number, raters, texts = documents.shape
    return ReliabilityData(
        documents.transpose(1, 0, 2).reshape(raters, -1),
        measurement_level=LEVEL,
        value_domain=list(POINTS),
        documents=np.repeat(np.arange(number), texts),
    )


def report_stopping(simulations: int) -> None:
    """Print a line for each kind of material and number of documents."""
    print(f"Share of projects whose interval holds at every look (nominal .95); {simulations:,} of each kind")
    for material in (Material(), Material(ceiling=1.0), Material(error=1.2)):
        for documents in (100, 400):
            valid, usual, width = held_at_every_look(material, documents, simulations)
            print(
                f"error {material.error:g}, ceiling {material.ceiling:g}, {documents} documents: "
                f"always valid {valid:.3f} (width {width:.2f}), usual {usual:.3f}"
            )
