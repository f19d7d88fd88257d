"""Tests, by the part and behaviour that they are about.

`make test-agreement` reads no conftest.py, so what every test needs before its imports is here.
"""

import os

from hypothesis import settings

# Before NumPy is imported, as in concord: threads of BLAS block each other if tests use every core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The same examples in every run, however slow the machine is: a rare one that fails is written into its test
# with @example, not met by chance in the run of somebody who changed something else.
settings.register_profile("concord", derandomize=True, deadline=None, database=None)
settings.load_profile("concord")
