"""Texts of prompts that come with Concord: the default of each method, and its further wordings."""

from collections.abc import Iterator
from dataclasses import dataclass

from judges.methods import METHODS
from judges.methods.variants import VARIANTS


@dataclass(frozen=True)
class ShippedPrompt:
    """A text of a method, by the key with which a judge can be made: that of the method or of a variant."""

    key: str
    method: str
    label: str
    text: str

    @property
    def title(self) -> str:
        """The label after the name that papers use for the method."""
        return METHODS[self.method].title(self.label)


def shipped_prompt(key: str) -> ShippedPrompt:
    """Return the text of this key. Raises KeyError."""
    if key in METHODS:
        return ShippedPrompt(key, key, METHODS[key].label, METHODS[key].default_template)
    variant = VARIANTS[key]
    return ShippedPrompt(key, variant.method, variant.label, variant.text)


def shipped_prompts_of(method: str) -> Iterator[ShippedPrompt]:
    """Yield the texts of a method, its default first."""
    yield shipped_prompt(method)
    for variant in VARIANTS.values():
        if variant.method == method:
            yield shipped_prompt(variant.key)
