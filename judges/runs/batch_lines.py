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
    """The number of requests in a file, and the number of their judgments."""

    requests: int = 0
    judgments: int = 0


def write_requests(judgments: list[int], into: IO[bytes], dialect: Dialect, batch: str) -> WrittenRequests:
    """Write the judgments' requests in order, until the file is full, one at least.

    The key of a request for several judgments is the first of them.
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
    """Yield the work of each call; memory holds only one portion and the call before it."""
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
    """Yield the contents of a batch's output lines in portions: replies, or why there is none."""
    said = (each for line in lines if (each := _outcome(line, dialect)) is not None)
    while portion := dict(islice(said, PORTION)):
        yield portion


def _outcome(line: bytes, dialect: Dialect) -> tuple[int, Reply | RequestFailed] | None:
    """Return the judgment and reply of a line; None for a line without a judgment."""
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
