"""Prompts shipped with Concord: the default of each method, and its further wordings."""

from collections.abc import Iterator
from dataclasses import dataclass

from judges.methods import METHODS
from judges.methods.variants import VARIANTS


@dataclass(frozen=True)
class ShippedPrompt:
    """A shipped prompt of a method; its key, of the method or of a variant, can create a judge."""

    key: str
    method: str
    label: str
    text: str

    @property
    def title(self) -> str:
        """The label after the method's name in papers."""
        return METHODS[self.method].title(self.label)


def shipped_prompt(key: str) -> ShippedPrompt:
    """Return the prompt with this key. Raises KeyError."""
    if key in METHODS:
        return ShippedPrompt(key, key, METHODS[key].label, METHODS[key].default_template)
    variant = VARIANTS[key]
    return ShippedPrompt(key, variant.method, variant.label, variant.text)


def shipped_prompts_of(method: str) -> Iterator[ShippedPrompt]:
    """Yield the prompts of a method, its default first."""
    yield shipped_prompt(method)
    for variant in VARIANTS.values():
        if variant.method == method:
            yield shipped_prompt(variant.key)
