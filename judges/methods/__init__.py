"""Methods of prompting a model for a judgment; pure, without Django, network or database.

A `Method` that a module of this folder makes is one of them; it needs no other registration.
"""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from judges.methods.base import Method

__all__ = ["METHODS", "Method"]


def _find_methods() -> dict[str, Method]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    made = (value for module in modules for value in vars(module).values())
    return {method.key: method for method in made if isinstance(method, Method)}


METHODS: Mapping[str, Method] = MappingProxyType(_find_methods())
