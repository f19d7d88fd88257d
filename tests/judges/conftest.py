"""Fixtures of the tests of judges."""

from collections.abc import Iterator

import pytest

from tests.judges.provider import Provider, providing
from tests.judges.replay import replay

__all__ = ["replay"]


@pytest.fixture
def provider() -> Iterator[Provider]:
    """Run a provider that gives every text a 4."""
    with providing() as provider:
        yield provider
