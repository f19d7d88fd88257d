"""One worker's part of a run through the batch interface: submit, look, collect, whatever is due now.

A batch goes through steps, each of which is written down before the next one begins. A worker may be killed
between any two of them, or within one: the next worker does that step again. Only submitting could be paid
twice, so before a file is submitted again the provider is asked whether it has the batch already.
"""

from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from tempfile import TemporaryFile
from uuid import uuid4

from django.utils import timezone

from judges.asking import IN_VAIN_IN_A_ROW
from judges.batch_lines import portions, write_requests
from judges.client import AskedInVain, BatchClient, BatchUnknown, RemoteBatch, Server, key_in_environment
from judges.commands import batches, leases
from judges.errors import KeyMissingError
from judges.models import Batch, Endpoint, Run
from judges.queries.batches import ATTENDED, LATEST, SOONEST, pause_before_look

CLOCKS_DIFFER = timedelta(hours=1)  # by which a provider's clock may be behind, at the most
Status = Batch.Status


def attend(*, run: int) -> None:
    """Do all that is due for a run's batches, begin new ones, and finish the run when nothing is left."""
    holder = uuid4()
    while True:
        batch = batches.take(run=run, holder=holder) or batches.begin(run=run, holder=holder)
        if batch is None:
            break
        _attend_to(batch)
    leases.finish_if_done(run=run)


def server_of(endpoint: Endpoint) -> Server:
    """Return where to ask, with the key of this process's environment; raises KeyMissingError."""
    return Server(
        base_url=endpoint.base_url,
        key=key_in_environment(endpoint.key_variable),
        timeout_seconds=endpoint.timeout_seconds,
        calls_in_flight=endpoint.calls_in_flight,
    )


def _attend_to(batch: Batch) -> None:
    """Take one step after the other until the batch has to wait, or has ended."""
    try:
        with batches.held(batch):
            try:
                _take_steps(batch)
            except BatchUnknown as error:
                _give_up_or_stop(batch, error.sentence)
            except AskedInVain as error:
                _note_in_vain(batch, error)
            except KeyMissingError as error:
                _put_off(batch, error.message)
                leases.stop_run(batch.run, error.message)
    except batches.HoldLost:
        return


def _take_steps(batch: Batch) -> None:
    with closing(BatchClient(server_of(batch.endpoint))) as client:
        goes_on = True
        while goes_on and batch.is_open and _may_go_on(batch):
            goes_on = STEPS[Status(batch.status)](batch, client)


def _may_go_on(batch: Batch) -> bool:
    batch.run.refresh_from_db(fields=["status"])
    return batch.run.status in ATTENDED


def _was_cancelled(batch: Batch) -> bool:
    return batch.run.status == Run.Status.CANCELLED


def _upload(batch: Batch, client: BatchClient) -> bool:
    judgments = list(batches.judgments_in(batch).order_by("pk").values_list("pk", flat=True))
    if _was_cancelled(batch) or not judgments:
        batches.drop(batch, "The run was cancelled before this was uploaded.")
        return False
    with TemporaryFile() as file:
        written = write_requests(judgments, file)
        if written < len(judgments):
            batches.shorten(batch, kept=judgments[:written])
        file.seek(0)
        input_file = client.upload(file)
    batches.note(batch, status=Status.UPLOADED, input_file=input_file, in_vain=0, reason="")
    return True


def _submit(batch: Batch, client: BatchClient) -> bool:
    if _was_cancelled(batch):
        batches.drop(batch, "The run was cancelled before this was submitted.")
        return False
    batches.note(batch, status=Status.SUBMITTING)
    return _note_submitted(batch, client.create(batch.input_file, str(batch.pk)))


def _submit_again(batch: Batch, client: BatchClient) -> bool:
    """Go on where a worker died, or lost the connection, while it submitted."""
    found = client.find(str(batch.pk), batch.created_at - CLOCKS_DIFFER)
    if found is not None:
        return _note_submitted(batch, found)
    if _was_cancelled(batch):
        batches.drop(batch, "The run was cancelled before this was submitted.")
        return False
    return _note_submitted(batch, client.create(batch.input_file, str(batch.pk)))


def _note_submitted(batch: Batch, remote: RemoteBatch) -> bool:
    now = timezone.now()
    batches.note(
        batch,
        status=Status.IN_PROGRESS,
        provider_id=remote.id,
        submitted_at=now,
        due_at=now + SOONEST,
        in_vain=0,
        reason="",
    )
    return False


def _look(batch: Batch, client: BatchClient) -> bool:
    remote = client.look(batch.provider_id)
    counts = {"completed": remote.completed, "failed": remote.failed, "in_vain": 0, "reason": ""}
    if remote.status == "failed":
        return _refuse(batch, f"The server refuses the batch: {remote.refusal or 'it does not say why.'}")
    if remote.has_ended:
        batches.note(batch, status=Status.COLLECTING, **counts)
        return True
    if _was_cancelled(batch) and remote.can_be_cancelled:
        client.cancel(batch.provider_id)
    assert batch.submitted_at is not None
    now = timezone.now()
    batches.note(batch, due_at=now + pause_before_look(now - batch.submitted_at), **counts)
    return False


def _collect(batch: Batch, client: BatchClient) -> bool:
    remote = client.look(batch.provider_id)
    replies, why = 0, WITHOUT_REPLY.get(remote.status, "The batch has ended without a reply to it.")
    for file in remote.files:
        with TemporaryFile() as lines:
            client.download(file, lines)
            lines.seek(0)
            for portion in portions(lines):
                batches.store(batch=batch, said=portion)
                failures = [each for each in portion.values() if isinstance(each, str)]
                replies, why = replies + len(portion) - len(failures), next(iter(failures), why)
    batches.close(batch, without_reply=why)
    if remote.status == "cancelled":
        leases.stop_run(batch.run, f"The batch {batch.provider_id} was cancelled at the provider.")
    elif remote.status == "completed" and not replies and batch.requests >= IN_VAIN_IN_A_ROW:
        reason = f"None of the {batch.requests} requests of a batch had a reply. The last one: {why}"
        leases.stop_run(batch.run, reason)
    return False


WITHOUT_REPLY = {
    "expired": "The batch expired before its turn came.",
    "cancelled": "The batch was cancelled before its turn came.",
}
STEPS: dict[Status, Callable[[Batch, BatchClient], bool]] = {
    Status.PREPARED: _upload,
    Status.UPLOADED: _submit,
    Status.SUBMITTING: _submit_again,
    Status.IN_PROGRESS: _look,
    Status.COLLECTING: _collect,
}


def _refuse(batch: Batch, reason: str) -> bool:
    """End a batch that the provider does not take, and stop the run: the next one would fare no better."""
    batches.drop(batch, reason)
    leases.stop_run(batch.run, reason)
    return False


def _give_up_or_stop(batch: Batch, sentence: str) -> None:
    """Stop the run when a batch is gone; when that was said before, and someone resumed, ask anew.

    A mistyped address makes batches unknown too, so a person decides what is paid twice.
    """
    if batch.reason == sentence:
        batches.drop(batch, sentence)
        return
    _put_off(batch, sentence)
    hint = "Check the address and the key; when the run is resumed and it is still unknown, it is asked anew."
    leases.stop_run(batch.run, f"{sentence} {hint}")


def _note_in_vain(batch: Batch, error: AskedInVain) -> None:
    """Leave a batch alone for a while, longer each time; stop the run where waiting would not help."""
    if error.hopeless and batch.status in (Status.PREPARED, Status.SUBMITTING):
        _refuse(batch, error.sentence)
    elif timezone.now() > batch.created_at + batches.KEPT:
        batches.drop(batch, f"It could not be collected in {batches.KEPT.days} days. {error.sentence}")
    else:
        _put_off(batch, error.sentence, wait=error.wait or 0)
        if error.lasting:
            leases.stop_run(batch.run, error.sentence)
        elif batch.in_vain >= IN_VAIN_IN_A_ROW:
            many = f"{batch.in_vain} calls in a row had no answer. The last one: {error.sentence}"
            leases.stop_run(batch.run, many)


def _put_off(batch: Batch, reason: str, *, wait: float = 0) -> None:
    pause = max(min(SOONEST * 2 ** min(batch.in_vain, 8), LATEST), timedelta(seconds=wait))
    batches.note(batch, reason=reason, in_vain=batch.in_vain + 1, due_at=timezone.now() + pause)
