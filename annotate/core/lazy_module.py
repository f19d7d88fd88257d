"""Large packages that are loaded when they are first used, not by every process that might use them.

A web server asks a model only to try an endpoint, and a worker only where there are judges; the openai
package takes 30 MB. Python's own LazyLoader is not safe among threads in all versions.
"""

from importlib import import_module
from typing import Any


class LazyModule:
    """Stands for a module."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        """Return what the module has under this name."""
        return getattr(import_module(self._name), attribute)
