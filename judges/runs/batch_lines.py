"""The lines of a batch's files: requests going out, replies and failures coming back."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO

from django.utils.translation import gettext

from judges.endpoints.dialects.base import Dialect
from judges.endpoints.failures import RequestFailed, failure_of
from judges.endpoints.replies import Reply
from judges.endpoints.work import JudgmentWork
from judges.runs.queries.work import work_of

PORTION = 500  # judgments that are in memory at the same time


@dataclass(frozen=True)
class WrittenRequests:
    """How many requests a file has, and how many judgments they are about."""

    requests: int = 0
    judgments: int = 0


def write_requests(judgments: list[int], into: IO[bytes], dialect: Dialect, batch: str) -> WrittenRequests:
    """Write the judgments' requests in their order, as many as fit into a file, one at least.

    A request that gives several judgments is named by the first of them.
    """
    written, size = WrittenRequests(), 0
    for works in _calls(judgments):
        key = dialect.batch_key(batch, works[0].judgment)
        request = dialect.batch_request(key, works[0].question)
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        size += len(line)
        if written.requests and size > dialect.batch_bytes:
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


def portions(lines: Iterable[bytes], dialect: Dialect) -> Iterator[dict[int, Reply | RequestFailed]]:
    """Yield what lines of a batch's output say, some at a time: replies, or why there is none."""
    said = (each for line in lines if (each := _outcome(line, dialect)) is not None)
    while portion := dict(islice(said, PORTION)):
        yield portion


def _outcome(line: bytes, dialect: Dialect) -> tuple[int, Reply | RequestFailed] | None:
    """Return the judgment that a line is about and its reply; None for a line that names no judgment."""
    try:
        said = dialect.batch_line(json.loads(line))
        judgment = dialect.judgment_of(said.key)
    except (ValueError, TypeError, KeyError):
        return None
    if said.error is not None:
        return judgment, failure_of(said.error)
    if said.reply is None:
        return judgment, RequestFailed(gettext("The batch's output has no completion for this request."))
    return judgment, said.reply
