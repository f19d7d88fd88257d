"""How often intervals of kappas hold where nearly all values are the same (`coverage.py kappas`)."""

from collections.abc import Callable

import numpy as np

from agreement import Coefficient, ReliabilityData, Resampling, fleiss_kappa, weighted_kappa

SEED = 20_261_123
PLAN = Resampling(by="documents", replicates=500)
KAPPAS: dict[str, Callable[..., Coefficient]] = {"Fleiss": fleiss_kappa, "weighted": weighted_kappa}

Drawn = Callable[[int, np.random.Generator], ReliabilityData]


def held_kappas(drawn: Drawn, units: int, simulations: int) -> dict[str, tuple[float, float]]:
    """Return each kappa of very many units, and how often its interval holds that, where it is defined."""
    generator = np.random.default_rng([SEED, units])
    many = drawn(100_000, generator)
    truth = {name: kappa(many).value or 0.0 for name, kappa in KAPPAS.items()}
    held: dict[str, list[bool]] = {name: [] for name in KAPPAS}
    for _ in range(simulations):
        data = drawn(units, generator)
        for name, kappa in KAPPAS.items():
            found = kappa(data, generator=generator, resampling=PLAN)
            if found.defined:
                interval = found.interval
                held[name].append(interval is not None and interval.low <= truth[name] <= interval.high)
    return {name: (truth[name], float(np.mean(held[name]))) for name in KAPPAS}
