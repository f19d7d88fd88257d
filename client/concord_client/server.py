"""Requests to an installation: pages of lists, refusals as sentences, writes that happen once."""

from collections.abc import Iterator, Mapping
from time import sleep
from typing import Any
from uuid import uuid4

import httpx2

SECONDS = 60.0  # that an answer may take
ATTEMPTS = 5  # of a request that had no answer, or came too often
PAGE = 500  # rows


class RefusedError(Exception):
    """What the server refused: its sentence, its code for programs, and a sentence for each field."""

    def __init__(self, message: str, code: str = "", fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.fields = dict(fields or {})


class Server:
    """A Concord as one person's token sees it. `transport` is httpx2's, for tests."""

    def __init__(self, address: str, token: str, *, transport: httpx2.BaseTransport | None = None) -> None:
        self._http = httpx2.Client(
            base_url=f"{address.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=SECONDS,
            transport=transport,
        )

    def close(self) -> None:
        """Close the connections that are kept for further requests."""
        self._http.close()

    def get(self, path: str, **parameters: Any) -> Any:
        """Return what is at a path. Raises RefusedError."""
        return self._send("GET", path, params={k: v for k, v in parameters.items() if v is not None})

    def rows(self, path: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, page by page. Raises RefusedError."""
        page = self.get(path, limit=PAGE, **parameters)
        yield from page["results"]
        while page["next"]:
            page = self._send("GET", page["next"])
            yield from page["results"]

    def post(self, path: str, body: Any = None) -> Any:
        """Write, once even where an answer is lost and the request is sent again. Raises RefusedError."""
        return self._send("POST", path, json=body or {}, headers={"Idempotency-Key": str(uuid4())})

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Return the answer to a request, sent again where it was lost or too early. Raises RefusedError."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = self._http.request(method, path, **options)
            except httpx2.TransportError as error:
                if attempt == ATTEMPTS:
                    raise RefusedError(f"{self._http.base_url} does not answer: {error}.") from error
                sleep(2**attempt / 4)
                continue
            if answer.status_code != httpx2.codes.TOO_MANY_REQUESTS or attempt == ATTEMPTS:
                break
            sleep(float(answer.headers.get("Retry-After", 1)))
        if answer.is_success:
            return answer
        raise _refusal(answer)

    def _send(self, method: str, path: str, **options: Any) -> Any:
        answer = self.request(method, path, **options)
        return answer.json() if answer.content else None


def _refusal(answer: httpx2.Response) -> RefusedError:
    try:
        said = answer.json()
        return RefusedError(said["message"], said["code"], said.get("fields"))
    except (ValueError, KeyError, TypeError):
        return RefusedError(f"{answer.request.url} answers {answer.status_code} {answer.reason_phrase}.")
