"""One worker's part of a run through the batch interface: submit, poll and collect the due batches.

A batch passes through steps, each recorded before the next one starts. A worker may be killed between any two
of them, or within one: the next worker repeats that step. Only submitting could be paid twice, so before
another submission the worker checks with the provider for an existing batch.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, Any
from uuid import uuid4

from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from judges.core.errors import KeyMissingError
from judges.core.models import Batch, Run
from judges.endpoints.dialects import DIALECTS
from judges.endpoints.dialects.base import BatchClient, Dialect, RemoteBatch
from judges.endpoints.failures import BatchUnknown, RequestFailed, failure_of
from judges.endpoints.keys import server_of
from judges.endpoints.questions import Question, Reply
from judges.runs.commands import batches, endings
from judges.runs.commands.silence import no_answer_from, patience_of, resume_run
from judges.runs.pacing import MAX_CONSECUTIVE_REFUSALS
from judges.runs.queries.runs import ATTENDED
from judges.runs.queries.work import work_of

CLOCKS_DIFFER = timedelta(hours=1)  # by which a provider's clock may be behind, at the most
Status = Batch.Status
ANSWERED: Mapping[str, Any] = {"failures": 0, "failing_since": None, "reason": ""}
NO_REPLY = gettext_lazy("The batch has ended without a reply to it.")
WITHOUT_REPLY = {
    "expired": gettext_lazy("The batch expired before its turn came."),
    "cancelled": gettext_lazy("The batch was cancelled before its turn came."),
}
PORTION = 500  # requests or replies that are in memory at the same time
SOONEST, LATEST = timedelta(seconds=5), timedelta(minutes=1)


def work_on_batches(*, run: int, seconds: float) -> None:
    """Process a run's due batches, start new ones, and finish the run when nothing remains.

    After `seconds` no new step starts: batches are recorded step by step, and another slice continues from
    there.
    """
    holder, until = uuid4(), time.monotonic() + seconds
    while time.monotonic() < until:
        # Existing batches first: their end frees budget, and returns judgments for the next batch.
        batch = batches.take(run=run, holder=holder) or batches.begin(run=run, holder=holder)
        if batch is None:
            break
        _advance(batch)
    endings.finish_if_done(run=run)


def _advance(batch: Batch) -> None:
    """Perform steps until the batch must pause, or has ended."""
    try:
        with batches.hold_batch(batch):
            try:
                with closing(_dialect(batch).batches(server_of(batch.endpoint))) as client:
                    goes_on = True
                    while goes_on and batch.is_open and _may_go_on(batch):
                        goes_on = STEPS[Status(batch.status)](batch, client)
                        if batch.run.status == Run.Status.STOPPED:  # it waited for this answer
                            resume_run(batch.run_id)
            except BatchUnknown as error:
                _give_up_or_stop(batch, error.sentence)
            except RequestFailed as error:
                # Delay the next step of a batch, longer each time; stop the run if another attempt is
                # useless.
                if error.permanent and batch.status in (Status.PREPARED, Status.SUBMITTING):
                    _refuse(batch, error.sentence)
                # The provider has deleted the replies by now.
                elif timezone.now() > batch.created_at + batches.KEPT:
                    batches.drop(
                        batch,
                        gettext("It could not be collected in {days} days. {error}").format(
                            days=batches.KEPT.days, error=error.sentence
                        ),
                    )
                else:
                    _put_off(batch, error.sentence, wait=error.wait or 0)
                    if error.fatal_for_run:
                        endings.stop_run(batch.run, error.sentence)
                    elif batch.failing_since and timezone.now() >= batch.failing_since + patience_of(
                        batch.endpoint
                    ):
                        reason = no_answer_from(batch.endpoint, error.sentence)
                        endings.stop_run(batch.run, reason, waits_for=batch.endpoint)
            except KeyMissingError as error:
                _put_off(batch, error.message)
                endings.stop_run(batch.run, error.message)
    except batches.HoldLost:  # another worker is at it and does these steps
        return


def _may_go_on(batch: Batch) -> bool:
    batch.run.refresh_from_db(fields=["status", "resumes_until"])
    until = batch.run.resumes_until
    return batch.run.status in ATTENDED or (until is not None and until > timezone.now())


def _was_cancelled(batch: Batch) -> bool:
    return batch.run.status == Run.Status.CANCELLED


def _upload(batch: Batch, client: BatchClient) -> bool:
    calls = batches.calls_in(batch)
    if _was_cancelled(batch) or not calls:
        batches.drop(batch, gettext("The run was cancelled before this was uploaded."))
        return False
    with TemporaryFile() as file:
        requests = write_requests(calls, file, _dialect(batch), str(batch.pk))
        if requests < len(calls):
            batches.shorten(batch, without=calls[requests:])
        # A provider without tokens finds a batch by this number, so it must be exact.
        if requests != batch.requests:
            batches.note(batch, requests=requests)
        file.seek(0)
        input_file = client.upload(file)
    batches.note(batch, status=Status.UPLOADED, input_file=input_file, **ANSWERED)
    return True


def _dialect(batch: Batch) -> Dialect:
    return DIALECTS[batch.endpoint.dialect]


def _create(batch: Batch, client: BatchClient) -> RemoteBatch:
    """Submit a batch; if nothing was uploaded, write its requests again, in the same order."""
    if client.uploads:
        return client.create(batch.input_file, str(batch.pk), batch.model)
    with TemporaryFile() as file:
        write_requests(batches.calls_in(batch), file, _dialect(batch), str(batch.pk))
        file.seek(0)
        return client.create(batch.input_file, str(batch.pk), batch.model, file)


def _submit(batch: Batch, client: BatchClient) -> bool:
    if _was_cancelled(batch):
        batches.drop(batch, gettext("The run was cancelled before this was submitted."))
        return False
    # Written before the call: after a crash, the next worker sees that the provider may have it already.
    batches.note(batch, status=Status.SUBMITTING)
    return _note_submitted(batch, _create(batch, client))


def _submit_again(batch: Batch, client: BatchClient) -> bool:
    """Continue if a worker died, or lost the connection, during submission."""
    # The batch carries its own key, so the search uses our key, not an id never received.
    others = Batch.objects.filter(endpoint=batch.endpoint_id).exclude(provider_id="")
    known = set(others.values_list("provider_id", flat=True))
    since = batch.created_at - CLOCKS_DIFFER
    if not client.finds_by_token:
        # Another one that is being submitted now looks the same until its id is noted.
        alike = Batch.objects.filter(endpoint=batch.endpoint_id, status=Status.SUBMITTING)
        alike = alike.filter(requests=batch.requests, held_until__gt=timezone.now())
        if alike.exclude(pk=batch.pk).exists():
            _put_off(batch, "")
            return False
    found = client.find(str(batch.pk), since, requests=batch.requests, known=known)
    if found is not None:
        return _note_submitted(batch, found)
    if _was_cancelled(batch):
        batches.drop(batch, gettext("The run was cancelled before this was submitted."))
        return False
    return _note_submitted(batch, _create(batch, client))


def _note_submitted(batch: Batch, remote: RemoteBatch) -> bool:
    now = timezone.now()
    batches.note(
        batch,
        status=Status.IN_PROGRESS,
        provider_id=remote.id,
        submitted_at=now,
        due_at=now + SOONEST,
        **ANSWERED,
    )
    return False


def _look(batch: Batch, client: BatchClient) -> bool:
    remote = client.look(batch.provider_id)
    counts = {"completed": remote.completed, "failed": remote.failed, **ANSWERED}
    if remote.status == "failed":
        return _refuse(
            batch,
            gettext("The server refuses the batch: {error}").format(error=remote.refusal)
            if remote.refusal
            else gettext("The server refuses the batch: it does not say why."),
        )
    if remote.has_ended:
        batches.note(batch, status=Status.COLLECTING, **counts)
        return True
    # The batch stays open: replies before the cancellation are paid, and are collected.
    if _was_cancelled(batch) and remote.can_be_cancelled:
        client.cancel(batch.provider_id)
    assert batch.submitted_at is not None
    now = timezone.now()
    batches.note(batch, due_at=now + pause_before_look(now - batch.submitted_at), **counts)
    return False


def _collect(batch: Batch, client: BatchClient) -> bool:
    remote = client.look(batch.provider_id)
    replies, why, fatal = 0, str(WITHOUT_REPLY.get(remote.status, NO_REPLY)), ""
    for file in remote.files:
        with TemporaryFile() as lines:
            client.download(file, lines)
            lines.seek(0)
            # In portions, each stored separately: after a death here, the next worker collects only the
            # remaining ones.
            for portion in portions(lines, _dialect(batch)):
                batches.store(batch=batch, said=portion)
                failures = [each for each in portion.values() if isinstance(each, RequestFailed)]
                replies += len(portion) - len(failures)
                why = next((each.sentence for each in failures), why)
                fatal = next((each.sentence for each in failures if each.fatal_for_run), fatal)
    batches.close(batch, without_reply=why)
    # A fatal failure of one request, such as an empty account, concerns all further batches.
    if fatal:
        endings.stop_run(batch.run, fatal)
    if remote.status == "cancelled":
        endings.stop_run(
            batch.run,
            gettext("The batch {batch} was cancelled at the provider.").format(batch=batch.provider_id),
        )
    elif remote.status == "completed" and not replies and batch.requests >= MAX_CONSECUTIVE_REFUSALS:
        # So many requests without a reply have one cause, which the next batch would meet, too.
        reason = gettext(
            "None of the {requests} requests of a batch had a reply. The last one: {reason}"
        ).format(requests=batch.requests, reason=why)
        endings.stop_run(batch.run, reason)
    return False


STEPS: dict[Status, Callable[[Batch, BatchClient], bool]] = {
    Status.PREPARED: _upload,
    Status.UPLOADED: _submit,
    Status.SUBMITTING: _submit_again,
    Status.IN_PROGRESS: _look,
    Status.COLLECTING: _collect,
}


def _refuse(batch: Batch, reason: str) -> bool:
    """End a rejected batch, and stop the run: the next one would fail too."""
    batches.drop(batch, reason)
    endings.stop_run(batch.run, reason)
    return False


def _give_up_or_stop(batch: Batch, sentence: str) -> None:
    """Stop the run when a batch is gone; if a person resumed after this message, plan its judgments again.

    A mistyped URL makes batches unknown too, so a person decides about paying twice.
    """
    if batch.reason == sentence:
        batches.drop(batch, sentence)
        return
    _put_off(batch, sentence)
    hint = gettext(
        "Check the address and the key; when the run is resumed and it is still unknown, it is asked anew."
    )
    endings.stop_run(batch.run, f"{sentence} {hint}")


def _put_off(batch: Batch, reason: str, *, wait: float = 0) -> None:
    now = timezone.now()
    # Doubles from SOONEST to LATEST, unless the server asks for a longer pause.
    pause = max(min(SOONEST * 2 ** min(batch.failures, 8), LATEST), timedelta(seconds=wait))
    failing = {"failures": batch.failures + 1, "failing_since": batch.failing_since or now}
    batches.note(batch, reason=reason, due_at=now + pause, **failing)


# The lines of a batch's files: requests to the provider, and its replies to them.


def write_requests(calls: Sequence[Sequence[int]], into: IO[bytes], dialect: Dialect, batch: str) -> int:
    """Write the request of each call in order, until the file is full, one at least; return their number.

    The key of a request for several judgments is the first of them.
    """
    requests = size = 0
    for key, question in _questions(calls):
        request = dialect.batch_request(dialect.batch_key(batch, key), question)
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        size += len(line)
        if requests and size > dialect.batch_bytes:
            break
        into.write(line)
        requests += 1
    return requests


def _questions(calls: Sequence[Sequence[int]]) -> Iterator[tuple[int, Question]]:
    """Yield the first judgment of each call and its question; memory holds only one portion."""
    for start in range(0, len(calls), PORTION):
        firsts = [call[0] for call in calls[start : start + PORTION]]
        questions = {work.judgment: work.question for work in work_of(firsts)}
        yield from ((first, questions[first]) for first in firsts)


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


def pause_before_look(age: timedelta) -> timedelta:
    """Return the pause before polling a batch, by its age: 5 s initially, then longer, up to 1 min."""
    return min(max(age / 12, SOONEST), LATEST)
