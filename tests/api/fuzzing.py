"""Schemathesis against the API in this process: what it sends, and what it checks of each answer."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

import schemathesis
from django.core.cache import caches
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from annotate.api.documentation import schema

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
UNHURRIED = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@contextmanager
def one_connection() -> Iterator[None]:
    """Let requests use the test's own connection, which its transaction needs, and not close it."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


def operations() -> Iterator[Any]:
    """Yield every operation that the description has."""
    plain = deepcopy(dict(schema()))
    for each in (operation for path in plain["paths"].values() for operation in path.values()):
        del each["security"]  # or every second request has a token that was made up
    described = schemathesis.openapi.from_dict(plain)
    described.app = WSGIHandler()
    for each in described.get_all_operations():
        assert isinstance(each, Ok)
        yield each.ok()


def played(
    operation: Any, *, secret: str, names: Mapping[str, Any], examples: int, repeats: bool = True
) -> None:
    """Send that many valid and that many invalid requests, each undone; raises where an answer contradicts.

    names: parameters of addresses that lead somewhere, which every second request has, or the only
    one. repeats: whether the requests are the same each time.
    """
    # What Schemathesis sends to a WSGI application by itself accepts gzip, which it does not unpack.
    headers = {"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"}
    has_body = operation.method in ("post", "put", "patch")
    for mode in MODES if has_body or examples > 1 else MODES[:1]:
        strategy = operation.as_strategy(generation_mode=mode)

        @settings(
            max_examples=examples,
            derandomize=repeats,
            database=None,
            deadline=None,
            suppress_health_check=UNHURRIED,
            phases=[Phase.generate],
            verbosity=Verbosity.quiet,
        )
        @given(case=strategy, leads_somewhere=st.booleans() if examples > 1 else st.just(True))
        def play(case: Any, leads_somewhere: bool) -> None:
            if leads_somewhere:
                case.path_parameters = {name: names.get(name, 1) for name in case.path_parameters or {}}
            caches["process"].clear()  # or the rate of the token is used up
            with transaction.atomic():
                case.call_and_validate(headers=headers, checks=CHECKS)
                transaction.set_rollback(True)

        with suppress(Unsatisfiable):  # an operation without parameters has nothing that could be wrong
            play()
