"""Requests to an installation: the running one and its token, calls by name, and idempotent writes."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from uuid import uuid4

import httpx2

from concord_client.operations import JSON, KEY, ROOT, find_operation, read_dates, write_json

if TYPE_CHECKING:
    from concord_client.models import Me, ProjectRow, TemplateRow
    from concord_client.project import Project

SECONDS = 60.0  # that an answer may take
ATTEMPTS = 5  # of a request that had no answer, or came too often
PAGE = 500  # rows
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 2.0  # seconds between two checks of a worker

Progress = Callable[[str], None]
Found = TypeVar("Found")


class RefusedError(Exception):
    """An error of the server: its message, its code for programs, and a message for each field."""

    def __init__(self, message: str, code: str = "", fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.fields = dict(fields or {})


class TooSlowError(RefusedError, TimeoutError):
    """A job that a worker did not finish in time. It may finish later; the same call then returns at once."""


def print_progress(sentence: str) -> None:
    """Write a line to stderr."""
    print(sentence, file=sys.stderr, flush=True)  # noqa: T201


class Server:
    """A Concord as one person's token sees it.

    >>> server = Server("https://concord.example", token)
    >>> project = server.create_project("Reviews of boots", template="opinion-summaries")

    on_progress: a function that gets a message for each step of a job; None: silent. transport: httpx2's,
    for tests. `with Server(...) as server` closes its connections.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        on_progress: Progress | None = print_progress,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self.on_progress = on_progress
        self._http = httpx2.Client(
            base_url=f"{url.rstrip('/')}{ROOT}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=SECONDS,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the open connections."""
        self._http.close()

    def read_account(self) -> "Me":
        """Return the owner of this token, its scopes and its last day."""
        return cast("Me", self.call("getWhoAmI"))

    def list_projects(self) -> list["ProjectRow"]:
        """Return your projects with their settings."""
        return cast("list[ProjectRow]", list(self.list_rows("getProjects")))

    def list_templates(self) -> list["TemplateRow"]:
        """Return the templates that a project can start from."""
        return cast("list[TemplateRow]", self.call("getTemplates"))

    def open_project(self, slug: str) -> "Project":
        """Return a project by the name in its URL."""
        from concord_client.project import Project

        return Project(self, slug)

    def create_project(self, name: str, *, template: str = "", **settings: Any) -> "Project":
        """Create a project, or return yours of this name; changes settings that differ.

        template: a key of `list_templates`; empty: no dimensions yet.
        """
        slug = next((each["slug"] for each in self.list_projects() if each["name"] == name), None)
        if slug is None:
            slug = self.call("postProjects", name=name, template=template)["slug"]
        project = self.open_project(slug)
        if settings:
            project.change_settings(**settings)
        return project

    def call(self, operation: str, /, **parameters: Any) -> Any:
        """Call an operation of the API by its id and return its answer, with dates as datetime and date.

        Parameters of the path and of the query go there, all others into the body. A repeated request writes
        once, also after a lost response. Raises RefusedError.

        >>> server.call("putPlan", slug="reviews-of-boots", kind="balanced")
        """
        found = find_operation(operation)
        path, query, body = found.place(parameters)
        options: dict[str, Any] = {"params": query} if query else {}
        if found.body:
            options["content"], options["headers"] = write_json(body), {"Content-Type": JSON}
        if found.takes_key:
            options["headers"] = {**options.get("headers", {}), KEY: str(uuid4())}
        # Without a key, a write whose answer was lost would happen twice.
        safe = found.method == "GET" or found.takes_key
        answer = self._send(found.method, path, attempts=ATTEMPTS if safe else 1, **options)
        return read_dates(_content(answer), found.answer)

    def list_rows(self, operation: str, /, **parameters: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of an operation that lists, page by page. Raises RefusedError."""
        page = self.call(operation, limit=PAGE, **parameters)
        yield from page["results"]
        while page["next"]:
            # The server gives the whole URL of the next page, with the filters of the first one.
            page = read_dates(_content(self._send("GET", page["next"])), find_operation(operation).answer)
            yield from page["results"]

    def download(self, operation: str, path: str | Path, /, **parameters: Any) -> Path:
        """Write the file that an operation sends to a path, as a whole or not at all. Raises RefusedError."""
        url, query, _ = find_operation(operation).place(parameters)
        path = Path(path)
        partial = path.with_name(f"{path.name}.part")
        try:
            with self._http.stream("GET", url, params=query) as answer:
                if not answer.is_success:
                    # A streamed answer has no content until it is read, and the message is in it.
                    answer.read()
                    raise _read_refusal(answer)
                with partial.open("wb") as file:
                    for piece in answer.iter_bytes():
                        file.write(piece)
            # Only a complete file gets its name.
            return partial.replace(path)
        except httpx2.TransportError as error:
            raise self._describe_silence(error) from error
        finally:  # also after a full disk or Ctrl+C
            partial.unlink(missing_ok=True)

    def wait(
        self,
        look: Callable[[], Found],
        is_over: Callable[[Found], bool],
        describe: Callable[[Found], str],
        seconds: float,
    ) -> Found:
        """Look again until a job is over, reporting its progress, and return the job. Raises TooSlowError."""
        until, pause, said = monotonic() + seconds, FIRST_PAUSE, ""
        while not is_over(found := look()):
            if (sentence := describe(found)) != said:
                self.tell(sentence)
                said = sentence
            # The check follows the look, so even a limit of 0 seconds returns a finished job.
            if monotonic() >= until:
                raise TooSlowError(f"{sentence} It is not finished after {seconds:g} seconds.", "too_slow")
            sleep(pause)
            # Short jobs are noticed soon, and long ones cause few requests.
            pause = min(1.5 * pause, LONGEST_PAUSE)
        if said:
            self.tell(describe(found))
        return found

    def tell(self, sentence: str) -> None:
        """Report progress."""
        if self.on_progress is not None:
            self.on_progress(sentence)

    def _send(self, method: str, path: str, *, attempts: int = ATTEMPTS, **options: Any) -> httpx2.Response:
        for attempt in range(1, attempts + 1):
            try:
                answer = self._http.request(method, path, **options)
            except httpx2.TransportError as error:
                if attempt == attempts:
                    raise self._describe_silence(error) from error
                sleep(2**attempt / 4)  # 0.5, 1, 2 and 4 seconds
                continue
            if answer.status_code != httpx2.codes.TOO_MANY_REQUESTS or attempt == attempts:
                break
            sleep(float(answer.headers.get("Retry-After", 1)))
        if answer.is_success:
            return answer
        raise _read_refusal(answer)

    def _describe_silence(self, error: httpx2.TransportError) -> RefusedError:
        return RefusedError(f"{self._http.base_url} does not answer: {str(error).rstrip('.')}.")


def _content(answer: httpx2.Response) -> Any:
    return answer.json() if answer.content else None


def _read_refusal(answer: httpx2.Response) -> RefusedError:
    try:
        said = answer.json()
        return RefusedError(said["message"], said["code"], said.get("fields"))
    except (ValueError, KeyError, TypeError):
        return RefusedError(f"{answer.request.url} answers {answer.status_code} {answer.reason_phrase}.")


ADDRESS, TOKEN = "CONCORD_URL", "CONCORD_TOKEN"
TOKEN_FILE = "command_token"  # noqa: S105 - in the folder of data
NO_SERVER = (
    "No Concord runs on this machine. Start one with `concord serve`, or set CONCORD_URL and CONCORD_TOKEN."
)


def find_access() -> tuple[str, str]:
    """Return URL and token of the server to call. Raises RefusedError.

    CONCORD_URL and CONCORD_TOKEN take precedence over the server that this machine runs.
    """
    address, token = os.environ.get(ADDRESS), os.environ.get(TOKEN)
    if address and token:
        return address, token
    # The token that this machine stores belongs to its own server and is never sent to another.
    if address:
        raise RefusedError(f"Set CONCORD_TOKEN, too. Create a token at {address}, page “Tokens of the API”.")
    address, data = find_running()
    return address, token or _read_token(address, data)


def find_running() -> tuple[str, Path]:
    """Return URL and data folder of the Concord that runs on this machine. Raises RefusedError."""
    try:
        running = json.loads(state_file().read_text())
        os.kill(running["pid"], 0)  # of a killed server, another program may have the port: it gets no token
        return running["address"], Path(running["data"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RefusedError(NO_SERVER) from error


def state_file() -> Path:
    """Return the file with the URL and the data folder of a Concord for one person."""
    return Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "concord" / "server.json"


def forget_token() -> bool:
    """Remove the stored token, which is no longer valid. Return False if CONCORD_TOKEN is in use instead."""
    if os.environ.get(TOKEN):
        return False
    try:
        (find_running()[1] / TOKEN_FILE).unlink()
    except (OSError, RefusedError):
        return False
    return True


def _read_token(address: str, data: Path) -> str:
    file = data / TOKEN_FILE
    if file.exists():
        return file.read_text().strip()
    makers = entry_points(group="concord.local", name="make_token")
    if not makers:
        raise RefusedError(f"Set CONCORD_TOKEN. Create a token at {address}, page “Tokens of the API”.")
    os.environ["CONCORD_DATA"] = str(data)
    try:
        token: str = next(iter(makers)).load()(address)
    except LookupError as error:
        raise RefusedError(str(error)) from error
    handle, unfinished = tempfile.mkstemp(prefix=TOKEN_FILE, dir=data)  # only this account may read it
    with os.fdopen(handle, "w") as kept:
        kept.write(token)
    # Two commands may create tokens at once. The rename leaves one whole token in the file.
    Path(unfinished).replace(file)
    return token
