"""The lines of a batch's files: requests going out, replies and failures coming back."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

from django.utils.translation import gettext

from judges.endpoints.failures import RequestFailed
from judges.endpoints.questions import COMPLETIONS, body_of
from judges.endpoints.replies import Reply, reply_of
from judges.endpoints.work import JudgmentWork
from judges.runs.queries.work import work_of

MOST_BYTES = 200_000_000  # in one file, at OpenAI
PORTION = 500  # judgments that are in memory at the same time


@dataclass(frozen=True)
class WrittenRequests:
    """How many requests a file has, and how many judgments they are about."""

    requests: int = 0
    judgments: int = 0


def write_requests(judgments: list[int], into: IO[bytes]) -> WrittenRequests:
    """Write the judgments' requests in their order, as many as fit into a file, one at least.

    A request that gives several judgments is named by the first of them.
    """
    written, size = WrittenRequests(), 0
    for works in _calls(judgments):
        line = _request(works[0])
        size += len(line)
        if written.requests and size > MOST_BYTES:
            return written
        into.write(line)
        written = WrittenRequests(written.requests + 1, written.judgments + len(works))
    return written


def _calls(judgments: list[int]) -> Iterator[list[JudgmentWork]]:
    """Yield the work of each call; what is in memory is no more than a portion and the call before it."""
    begun: list[JudgmentWork] = []
    for start in range(0, len(judgments), PORTION):
        for work in work_of(judgments[start : start + PORTION]):
            if begun and (work.shared is None or work.shared != begun[0].shared):
                yield begun
                begun = []
            begun.append(work)
    if begun:
        yield begun


def _request(work: JudgmentWork) -> bytes:
    request = {
        "custom_id": str(work.judgment),
        "method": "POST",
        "url": COMPLETIONS,
        "body": body_of(work.question),
    }
    return json.dumps(request, ensure_ascii=False).encode() + b"\n"


def portions(lines: Iterable[bytes]) -> Iterator[dict[int, Reply | str]]:
    """Yield what lines of a batch's output say, some at a time: a reply, or a sentence why there is none."""
    said = (each for line in lines if (each := _outcome(line)) is not None)
    while portion := dict(islice(said, PORTION)):
        yield portion


def _outcome(line: bytes) -> tuple[int, Reply | str] | None:
    """Return the judgment that a line is about and its reply; None for a line that names no judgment."""
    try:
        said = json.loads(line)
        judgment = int(said["custom_id"])
    except (ValueError, TypeError, KeyError):
        return None
    response = said.get("response")
    if not isinstance(response, dict) or response.get("status_code") != 200:
        return judgment, _failure(said, response)
    try:
        return judgment, reply_of(response.get("body"))
    except RequestFailed as error:
        return judgment, error.sentence


def _failure(said: dict[str, Any], response: object) -> str:
    """Return why a request had no reply in the provider's words, which stand at either of two places."""
    body = response.get("body") if isinstance(response, dict) else None
    for error in (said.get("error"), body.get("error") if isinstance(body, dict) else None):
        if isinstance(error, dict) and error.get("message"):
            return gettext("The server failed: {error}").format(
                error=str(error["message"]).replace(chr(0), "")
            )
    return gettext("The server failed and did not say why.")
