"""Methods of prompting a model for a judgment; pure, without Django, network or database.

A module of this folder with a `METHOD` is a method; it needs no other registration.
"""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from judges.methods.base import Method

__all__ = ["METHODS", "Method"]


def _find_methods() -> dict[str, Method]:
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    methods = (getattr(module, "METHOD", None) for module in modules)
    return {method.key: method for method in methods if isinstance(method, Method)}


METHODS: Mapping[str, Method] = MappingProxyType(_find_methods())
