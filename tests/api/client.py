"""A program that uses the API as a person."""

import json
from datetime import timedelta
from typing import Any

from django.test import Client

from annotate.api.commands import SCOPES, make_token
from annotate.core.models import User


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
