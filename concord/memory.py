"""Memory of a worker, which lives for weeks: what a job needed goes back to the system when the job ends.

glibc keeps an arena of freed memory for each thread, and returns only the end of each. After the pages of
results a worker of four threads kept more than twice what it used.
"""

import ctypes
import gc
from contextlib import suppress

M_ARENA_MAX = -8  # of mallopt(3)
MOST_ARENAS = 2


def limit_arenas() -> None:
    """Let all threads share two arenas; nothing happens with another C library."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, MOST_ARENAS)


def give_back_memory() -> None:
    """Return freed memory to the system; nothing happens with another C library."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
