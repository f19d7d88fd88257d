"""Not collected by itself: what test_nothing_is_left_out.py plays."""

import pytest


def test_that_passes() -> None:
    pass


@pytest.mark.skip(reason="no rabbit")
def test_that_is_skipped() -> None:
    pass


@pytest.mark.xfail(reason="known to fail")
def test_that_may_fail() -> None:
    raise AssertionError
