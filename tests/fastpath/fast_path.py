"""Tests that hold by every way to the database: the fast path, and the plain ORM."""

import pytest

from annotate.fastpath import LIBPQ, OFF


@pytest.fixture(params=[LIBPQ, OFF], autouse=True)
def fast_path(request, settings):
    """Play each test of the module that imports this by the fast path, and by the plain ORM."""
    settings.FAST_PATH = request.param
    return request.param
