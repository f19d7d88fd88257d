"""A cache of arrays that several statistics need, within a memory limit."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt


class KeptArrays:
    """The most recently used arrays, together up to `most` bytes. Safe for several threads."""

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._arrays = OrderedDict[Hashable, npt.NDArray[Any]]()
        self._lock = Lock()

    def find_or_make(self, key: Hashable, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the array of the key, read-only; an array larger than the limit is computed each time."""
        with self._lock:
            if (found := self._arrays.get(key)) is not None:
                self._arrays.move_to_end(key)
                return found
        made = np.asarray(make())
        made.setflags(write=False)
        with self._lock:
            if made.nbytes <= self._most and key not in self._arrays:
                self._arrays[key] = made
                self._bytes += made.nbytes
            while self._bytes > self._most:
                self._bytes -= self._arrays.popitem(last=False)[1].nbytes
        return made
