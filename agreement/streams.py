"""The only source of random numbers: a stream for each statistic, identified by the statistic's name."""

import hashlib
import random
from dataclasses import dataclass
from typing import overload

import numpy as np


@dataclass(frozen=True)
class Stream:
    """Random numbers that follow from a seed and a name alone, independent of earlier random numbers.

    The name states the purpose of the numbers: judge or raters, dimension, system, and at last the statistic
    with its parameters, which a coefficient adds itself. So a statistic has the same interval wherever and
    with whichever others it is computed. Names, not database keys, make it the same in every installation.
    """

    seed: int
    name: tuple[str, ...] = ()

    def of(self, *parts: object) -> "Stream":
        """Return the stream of something narrower."""
        return Stream(self.seed, (*self.name, *(str(part) for part in parts)))

    def beside(self, *parts: object) -> "Stream":
        """Return the stream of the same seed that several statistics share."""
        return Stream(self.seed).of(*parts)

    def generator(self) -> np.random.Generator:
        """Return a new generator at the beginning of the stream, for NumPy."""
        # A fixed byte order, so that the numbers are the same on every processor.
        return np.random.default_rng([self.seed, *np.frombuffer(self._digest(), dtype="<u4").tolist()])

    def shuffler(self) -> random.Random:
        """Return the same for shuffling rows, where loading NumPy's generators is not worth it."""
        return random.Random(self.seed.to_bytes(16, "little", signed=True) + self._digest())

    def _digest(self) -> bytes:
        # Each part with its length: ("ab", "c") and ("a", "bc") are two names.
        parts = b"".join(b"%d:%b" % (len(part), part) for part in map(str.encode, self.name))
        return hashlib.blake2b(parts, digest_size=16).digest()


Randomness = np.random.Generator | Stream
"""What a figure is drawn with: a stream in the product; in a simulation a generator that goes on."""


@overload
def substream(randomness: Randomness, *parts: object) -> Randomness: ...
@overload
def substream(randomness: Randomness | None, *parts: object) -> Randomness | None: ...
def substream(randomness: Randomness | None, *parts: object) -> Randomness | None:
    """Return the stream of one part of a statistic; a generator, which has no name, is returned unchanged."""
    return randomness.of(*parts) if isinstance(randomness, Stream) else randomness


def generator_of(randomness: Randomness, *figure: object) -> np.random.Generator:
    """Return the generator for the resamples of a statistic."""
    return randomness.of(*figure).generator() if isinstance(randomness, Stream) else randomness
