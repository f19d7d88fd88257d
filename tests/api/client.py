"""A program that uses the API as a person."""

import json
from contextlib import redirect_stdout
from datetime import timedelta
from functools import partial
from io import StringIO
from typing import Any
from unittest.mock import patch

import httpx2
from django.test import Client

from annotate.api.tokens import SCOPES, make_token
from annotate.core.models import User
from concord_client import Server
from concord_client.commands import ask, parse


class ApiClient:
    """Sends JSON with a token; `key` is an Idempotency-Key."""

    def __init__(self, user: User | None, *scopes: str) -> None:
        self.client = Client(raise_request_exception=True)
        self.secret = ""
        if user:
            _, self.secret = make_token(
                user=user, name="test", scopes=scopes or SCOPES, lasts=timedelta(days=1)
            )

    def send(self, method: str, path: str, body: Any = None, *, key: str = "") -> Any:
        headers = {"Authorization": f"Bearer {self.secret}"} if self.secret else {}
        if key:
            headers["Idempotency-Key"] = key
        sent: dict[str, Any] = (
            {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        )
        return self.client.generic(method, f"/api/v1/{path}", headers=headers, **sent)

    def get(self, path: str) -> Any:
        return self.send("GET", path)

    def post(self, path: str, body: Any = None, *, key: str = "") -> Any:
        return self.send("POST", path, {} if body is None else body, key=key)

    def patch(self, path: str, body: Any) -> Any:
        return self.send("PATCH", path, body)

    def put(self, path: str, body: Any) -> Any:
        return self.send("PUT", path, body)


class InProcess(httpx2.BaseTransport):
    """Requests of the client to the views of this process, in the transaction of the test."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = {
            name: value
            for name, value in request.headers.items()
            if name in ("authorization", "idempotency-key")
        }
        answer = Client().generic(
            request.method,
            request.url.raw_path.decode(),
            request.read(),
            content_type=request.headers.get("content-type", ""),
            headers=headers,
        )
        return httpx2.Response(
            answer.status_code,
            headers={"Content-Type": answer.get("Content-Type", "")},
            content=answer.getvalue(),
        )


def concord(user: User | None, *arguments: object) -> Any:
    """Return the answer of a command of `concord` that a person runs; raises RefusedError."""
    out, access = StringIO(), ("http://testserver", ApiClient(user).secret)
    with (
        patch("concord_client.commands.find_access", return_value=access),
        patch("concord_client.commands.Server", partial(Server, transport=InProcess())),
        redirect_stdout(out),
    ):
        ask(parse([str(each) for each in arguments], {}))
    return json.loads(out.getvalue() or "null")
