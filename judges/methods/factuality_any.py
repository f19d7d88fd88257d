"""Factuality by sentence, any:

one unsupported sentence makes an output unfactual (Gao et al., 2023, fig. 4).
"""

from collections.abc import Sequence

from judges.methods.factuality import FactualityBySentence


class UnfactualByAny(FactualityBySentence):
    """Gives the highest value if all sentences are supported, the lowest if any is not."""

    key = "facts_any"
    label = "Factuality by sentence: any unsupported"

    def share(self, supported: Sequence[bool]) -> float:
        """Return 1 if all sentences are supported, else 0."""
        return float(all(supported))


METHOD = UnfactualByAny()
