"""What a provider's headers say about its limits, in every form that is in use."""

from datetime import timedelta
from email.utils import format_datetime

import pytest

from judges.endpoints.failures import retry_after, seconds_to_wait, seconds_until_reset
from tests.judges.endpoints.test_client import ask, failure
from tests.judges.provider import providing


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "20"}, 20),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "-3"}, 0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "1"}, 1),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_seconds_and_milliseconds(headers, seconds):
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(("seconds", "read"), [(90, 90), (-90, 0)])
def test_retry_after_is_read_as_a_date(clock, seconds, read):
    date = format_datetime(clock.now + timedelta(seconds=seconds), usegmt=True)
    assert retry_after({"retry-after": date}) == read


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("1s", 1), ("6m0s", 360), ("120ms", 0.12), ("1h2m3.5s", 3723.5), ("17", 17), ("soon", None), ("", None)],
)
def test_reset_is_read_if_nothing_remains(said, seconds):
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": said}
    assert seconds_until_reset(headers) == seconds
    assert seconds_until_reset({**headers, "x-ratelimit-remaining-requests": "3"}) is None


def test_later_reset_of_the_exhausted_limits_counts():
    headers = {"x-ratelimit-reset-requests": "50s", "x-ratelimit-reset-tokens": "7s"}
    tokens = {"x-ratelimit-remaining-requests": "1", "x-ratelimit-remaining-tokens": "0"}
    assert seconds_until_reset({**headers, **tokens}) == 7
    assert seconds_until_reset({**headers, **tokens, "x-ratelimit-remaining-requests": "0"}) == 50


def test_server_retry_time_precedes_its_reset():
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "50s"}
    assert seconds_to_wait(headers) == 50
    assert seconds_to_wait({**headers, "retry-after": "2"}) == 2


def test_rejected_call_gives_its_retry_time_and_last_answer_its_pause():
    used_up = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "30s"}
    with providing(status=429, error="slow down", headers={"retry-after-ms": "700"}) as provider:
        assert failure(provider.base_url).wait == 0.7
        provider.headers = used_up
        assert failure(provider.base_url).wait == 30
        provider.status = 200
        assert ask(provider.base_url).rest == 30
        provider.headers = {**used_up, "x-ratelimit-reset-requests": "6h"}
        assert ask(provider.base_url).rest == 60, "a limit of a day is left to its 429"
        provider.headers = {}
        assert ask(provider.base_url).rest == 0
