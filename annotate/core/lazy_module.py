"""Large packages that load on first use, and not in every process that might use them.

A web server calls a model only to test an endpoint, and a worker only if there are judges. The openai package
takes 30 MB. Python's own LazyLoader is not thread-safe in all versions.
"""

from importlib import import_module
from typing import Any


class LazyModule:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        # A loaded module comes from `sys.modules`. Python's import lock keeps threads from a half-loaded one.
        return getattr(import_module(self._name), attribute)
