"""Jobs: work of a worker, which another worker finishes if it dies. See docs/reference/jobs.md.

A job is a row with a lease (its worker, the only one that may write the outcome), its attempts and the time
of the last heartbeat. A `JobKind` declares each kind. Messages only wake workers: `annotate.periodic_tasks`
finds pending jobs and jobs that lost their worker.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from threading import Event, Thread
from typing import Any, ClassVar, TypeVar
from uuid import uuid4

from celery import bootsteps, current_app, shared_task
from django.conf import settings
from django.core.cache import caches
from django.db import (
    DatabaseError,
    InterfaceError,
    OperationalError,
    close_old_connections,
    connection,
    connections,
    transaction,
)
from django.db.models import F, Model, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext
from kombu import Connection
from kombu.exceptions import OperationalError as BrokerError

from annotate.core.database import set_patience
from annotate.core.errors import DomainError, MailError
from annotate.core.models import WorkerHeartbeat

Job = TypeVar("Job", bound=Model)
T = TypeVar("T")

# A worker can miss three heartbeats before others take its job. A short stall then costs no second attempt.
BEAT_SECONDS = settings.LEASE_SECONDS / 4
SILENT_AFTER = timedelta(seconds=settings.LEASE_SECONDS)
WORKER_SHOULD_TAKE = timedelta(seconds=10)  # after it, a page says that work waits for a worker
# A pending job has a message in the queue. The sweeper sends another only if that one seems lost.
MESSAGE_LOST_AFTER = timedelta(seconds=5)
# Work that raises raises again as a rule, and each attempt may cost money.
MAX_ATTEMPTS = 3
DATABASE_RETRY_SECONDS = 30.0
# Workers also end for reasons that have nothing to do with their job: a restart, another job's memory.
MAX_TAKES = 10
GAVE_UP = (
    "Ten workers died while they were at it. Ask the operator: the system's log has the reason, often memory."
)
logger = logging.getLogger(__name__)


class TakenOverError(Exception):
    """The job is no longer this worker's: another worker took it, or it was deleted."""


class MaybePaidError(Exception):
    """A call failed after the server may have charged for it, so workers do not repeat it automatically."""


@dataclass(frozen=True)
class JobKind:
    """The jobs of a table, and the work of a worker on one.

    work: does a job that this worker has taken; returns the reason of a stop, None or "" if it finished.
    does: its description, for docs/reference/jobs.md. statuses: each status of a pending job, with the status
    during the work; without any, `condition` selects the rows that are jobs. finished: the status after the
    work, unless the work itself writes its end. stopped, reason: the status after a stop, and the column for
    its reason. condition: a further condition on the row, built at each search. may_take: the same for a row
    that was read. lease, attempts, clock: the columns; `clock` has the time of the last heartbeat. due_at:
    replaces `clock`: a column with the time from which a worker may take the job. `pause` is the wait after a
    failed attempt. The death of workers never ends such a job. is_too_old: whether a mail that mail servers
    reject ends. prepare: removes the remains of a dead worker; gets the row with that worker's lease. stop,
    beat: replace the default notes of a stop and of a heartbeat.
    """

    name: str
    model: type[Model]
    work: Callable[[Any], str | None]
    does: str
    statuses: Mapping[str, str] = field(default_factory=dict)
    finished: str = ""
    stopped: str = "stopped"
    reason: str = "reason"
    related: tuple[str, ...] = ()
    condition: Callable[[], Q] = Q
    may_take: Callable[[Any], bool] = lambda _job: True
    lease: str = "lease"
    attempts: str = "attempts"
    clock: str = "touched_at"
    due_at: str = ""
    pause: Callable[[int], timedelta] = lambda _attempts: MESSAGE_LOST_AFTER
    is_too_old: Callable[[Any], bool] = lambda _job: True
    prepare: Callable[[Any], object] = lambda _job: None
    stop: Callable[[Any, str], object] | None = None
    beat: Callable[[Any], object] | None = None

    @property
    def rows(self) -> "QuerySet[Any]":
        return self.model._default_manager.all()


JOB_KINDS: dict[str, JobKind] = {}
"""Every kind of job by its name; apps add theirs by `annotate.extension`."""


def due_jobs(kind: JobKind) -> "QuerySet[Any]":
    """Return the jobs that need a message: they lost their message or their worker."""
    now = timezone.now()
    if kind.due_at:
        return _jobs_in(kind, Q(**{f"{kind.due_at}__lte": now}))
    lost = Q(**{f"{kind.clock}__lt": now - MESSAGE_LOST_AFTER}) | Q(**{kind.clock: None})
    return _jobs_in(kind, Q(**{kind.lease: None}) & lost | _silent(kind))


def _silent(kind: JobKind) -> Q:
    return Q(**{f"{kind.clock}__lt": timezone.now() - SILENT_AFTER})


def _jobs_in(kind: JobKind, state: Q) -> "QuerySet[Any]":
    wanted = kind.condition() & state
    if kind.statuses:
        wanted &= Q(status__in={*kind.statuses, *kind.statuses.values()})
    # The job that has waited longest comes first.
    return kind.rows.filter(wanted).order_by(kind.due_at or kind.clock, "pk")


def take(kind: JobKind, pk: int) -> Any:
    """Take a pending job, or one that lost its worker, and return it; None if this worker gets none."""
    free = due_jobs(kind) if kind.due_at else _jobs_in(kind, Q(**{kind.lease: None}) | _silent(kind))
    found = free.filter(pk=pk).first()
    # This read only saves a write in the common case. The conditional UPDATE below decides who gets the job.
    if found is None or not kind.may_take(found):
        return None
    read = (kind.lease, kind.due_at or kind.clock, *(["status"] if kind.statuses else []))
    lease = {kind.lease: uuid4()}
    became = {**lease, kind.attempts: F(kind.attempts) + 1, **_heard_now(kind)}
    if kind.statuses:
        became["status"] = kind.statuses.get(found.status, found.status)
    # Another worker may have taken the job since it was read, or its own one sent a heartbeat.
    if not kind.rows.filter(pk=pk, **{name: getattr(found, name) for name in read}).update(**became):
        return None
    # A lease in the row comes from a dead worker, which may have left files or rows.
    if getattr(found, kind.lease):
        kind.prepare(found)
    # The row is read again with the lease, because `prepare` may have changed it. A takeover in between gives
    # None.
    return kind.rows.select_related(*kind.related).filter(pk=pk, **lease).first()


def _heard_now(kind: JobKind) -> dict[str, Any]:
    now = timezone.now()
    return {kind.due_at: now + SILENT_AFTER} if kind.due_at else {kind.clock: now}


def is_silent(job: Any) -> bool:
    """Return True if the worker of a job has sent no heartbeat for too long."""
    return bool(timezone.now() - job.touched_at >= SILENT_AFTER)


def own_row(job: Job, lease: str = "lease") -> "QuerySet[Job]":
    """Return the job's row while this worker holds it: an empty queryset after a takeover or deletion."""
    # A job in memory without a lease would otherwise match every row without one.
    held = {lease: getattr(job, lease), f"{lease}__isnull": False}
    return type(job)._default_manager.filter(pk=job.pk, **held)


def wake_worker(kind: JobKind, pk: int) -> None:
    """Send a message for a job after the commit. Without a broker the job is pending until the next sweep."""
    # With `robust`, an unreachable broker is logged and does not fail the request after its commit.
    transaction.on_commit(lambda: run_job.delay(kind.name, pk), robust=True)


@shared_task(name="annotate.run_job")
def run_job(kind: str, pk: int) -> None:
    """Do a job that waits or lost its worker; leave a job of another worker alone."""
    declared = JOB_KINDS[kind]
    job = take(declared, pk)
    # Another worker has the job, or it is finished: a job may have several messages.
    if job is None:
        return
    beat = declared.beat or (lambda job: own_row(job, declared.lease).update(**_heard_now(declared)))
    # The heartbeat starts after the take, so it can only renew this worker's own lease.
    with heartbeat(partial(beat, job)):
        _attempt(declared, job)


def _attempt(kind: JobKind, job: Any) -> None:
    """Do the work once, and write the outcome of the job.

    A DomainError stops it with its message. Any other exception is logged with its traceback: the work gets
    three attempts, or ten while the database is away. Then the job stops with the reason.
    """
    attempts = getattr(job, kind.attempts)
    if kind.due_at:  # a receiver that is away has days
        attempts = min(attempts, MAX_ATTEMPTS)
    name = f"{job._meta.verbose_name} {job.pk}"
    # This check precedes the work. A job that kills its worker never reaches the handlers below.
    if attempts > MAX_TAKES:
        _stop(kind, job, GAVE_UP)
        return
    try:
        if reason := kind.work(job):
            _stop(kind, job, reason)
        else:
            _end(kind, job, kind.finished)
    except TakenOverError:
        logger.warning("This worker no longer holds %s", name)
    # MailError is a DomainError, so its handler must come first: a rejected mail waits and does not stop.
    except MailError as error:
        logger.warning("%s was not sent yet: %s", name, error.message)
        if kind.is_too_old(job):
            _stop(kind, job, error.message)
        else:
            _wait_again(kind, job)
    except DomainError as error:
        _stop(kind, job, error.message)
    except Exception as error:
        logger.exception("Attempt %d of %s failed", attempts, name)
        # A missing database is not the fault of the job, so such an attempt counts against the higher limit.
        is_away = isinstance(error, OperationalError | InterfaceError)
        most = 1 if isinstance(error, MaybePaidError) else MAX_TAKES if is_away else MAX_ATTEMPTS
        with suppress(OperationalError, InterfaceError):  # still away: the lease runs out, a worker follows
            # Django would reuse the broken connection for the outcome of the job.
            if is_away:
                connection.close_if_unusable_or_obsolete()
            if attempts < most:
                _wait_again(kind, job)
            else:
                _stop(kind, job, _reason(error, attempts, name))


def _end(kind: JobKind, job: Any, status: str, **became: object) -> None:
    """Release a job that this worker still holds: work that wrote its end has released it already."""
    if status and kind.statuses:
        became["status"] = status
    # The present time lets the sweeper wait before another attempt. A job without a due time is over.
    clock: dict[str, Any] = {kind.due_at: None} if kind.due_at else {kind.clock: timezone.now()}
    # After a takeover this matches no row, so a late worker cannot overwrite the outcome of its successor.
    own_row(job, kind.lease).update(**{kind.lease: None}, **clock | became)


def _stop(kind: JobKind, job: Any, reason: str) -> None:
    logger.warning("%s %s stopped: %s", job._meta.verbose_name, job.pk, reason)
    if kind.stop:
        kind.stop(job, reason)
    else:
        _end(kind, job, kind.stopped, **{kind.reason: reason})


def _wait_again(kind: JobKind, job: Any) -> None:
    # Back to the status from which a worker took it.
    waiting = next((before for before, during in kind.statuses.items() if during == job.status), "")
    later = {kind.due_at: timezone.now() + kind.pause(getattr(job, kind.attempts))} if kind.due_at else {}
    _end(kind, job, waiting, **later)


def _reason(error: Exception, attempts: int, name: str) -> str:
    # MaybePaidError only wraps the failure of the call, and its name explains nothing to an admin.
    cause = error.__cause__ if isinstance(error, MaybePaidError) else error
    return gettext(
        "Attempt {number} failed ({error}), and it was the last. Ask the operator: the worker's log has the "
        "traceback under “{job}”."
    ).format(number=attempts, error=type(cause).__name__, job=name)


def persistently(what: Callable[[], T]) -> T:
    """Call a function that uses the database, and retry for half a minute if the database is away."""
    # The limit is long enough for a restart of the database, and memory keeps a reply during it.
    until = time.monotonic() + DATABASE_RETRY_SECONDS
    while True:
        try:
            return what()
        except (OperationalError, InterfaceError):
            # A commit without confirmation is repeated. Replies are then written once, but their cost may be
            # added twice, so that a budget ends early rather than late.
            if time.monotonic() > until:
                raise
            # A connection that failed once stays unusable, so the next attempt needs another.
            connections.close_all()
            time.sleep(0.5)


@contextmanager
def heartbeat(beat: Callable[[], object]) -> Iterator[None]:
    """Call `beat` every few seconds in a separate thread, while a worker runs a job."""
    over = Event()
    thread = Thread(target=_beat, args=(beat, over), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        # With a limit, because a heartbeat may be blocked by the database.
        thread.join(BEAT_SECONDS)


def _beat(beat: Callable[[], object], over: Event) -> None:
    try:
        while not over.wait(BEAT_SECONDS):
            try:
                # A heartbeat that is blocked by SQLite must not miss the next one.
                set_patience(BEAT_SECONDS / 2)
                beat()
            except DatabaseError as error:  # away, or SQLite is held: the next one counts
                logger.info("A job's heartbeat could not be written: %s", error)
    finally:
        # Django's connections belong to a thread, and this thread ends.
        connection.close()


class PeriodicTask(bootsteps.StartStopStep):
    """A check that every worker makes soon after the start, and then regularly; times in seconds.

    It needs no timetable and no message that can be lost.

    acts: the actions of each run, in this order. fails: the log message if the database or a file was
    unusable. The next run does the remaining actions.
    """

    requires = ("celery.worker.components:Timer",)
    at_start: ClassVar[float]
    every: ClassVar[float]
    acts: ClassVar[Sequence[Callable[[], object]]]
    fails: ClassVar[str]

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.entry: Any = None

    def run(self) -> None:
        # The timer's thread serves no request, after which Django would close stale connections.
        close_old_connections()
        try:
            for act in self.acts:
                act()
        except (DatabaseError, OSError) as error:
            logger.warning("%s: %s", self.fails, error)

    def start(self, parent: Any) -> None:
        parent.timer.call_after(self.at_start, self.run, priority=10)
        self.entry = parent.timer.call_repeatedly(self.every, self.run, priority=10)

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        if self.entry is not None:
            self.entry.cancel()


BROKER_SECONDS = 1  # Timeout in seconds for a page's connection to the broker.
REMEMBERED = 20  # seconds


def broker_problem(url: str | None = None) -> str:
    """Return the reason if the broker is unreachable, empty if it is reachable; cached for a while."""
    key = f"annotate.core.jobs.{url}"
    # The cache of the process answers without the database. An unreachable broker then delays one page in 20
    # seconds.
    problem: str | None = caches["process"].get(key)
    if problem is None:
        problem = _find_broker_problem(url)
        caches["process"].set(key, problem, REMEMBERED)
    return problem


def _find_broker_problem(url: str | None) -> str:
    # A transport reads only the options that it knows.
    limits = {"socket_connect_timeout": BROKER_SECONDS, "socket_timeout": BROKER_SECONDS}
    connection: Connection = current_app.connection_for_write(
        url, connect_timeout=BROKER_SECONDS, transport_options=limits
    )
    errors = (*connection.connection_errors, *connection.channel_errors, BrokerError, OSError)
    failures: tuple[type[BaseException], ...] = errors
    try:
        with connection:
            connection.connect()
    except failures as error:
        message = gettext(
            "The message broker at {url} is unreachable ({error}), so workers get no jobs. "
            "Start it, or correct CONCORD_BROKER_URL."
        )
        return message.format(url=connection.as_uri(), error=type(error).__name__)
    return ""


WORKER_SILENT_AFTER = timedelta(minutes=2)
HOW_TO_RUN = ".venv/bin/python -m celery -A concord worker --pool threads --concurrency 8"


@dataclass(frozen=True)
class WorkerHealth:
    workers: int
    last_seen: datetime | None
    broker_problem: str

    @property
    def problem(self) -> str:
        """Return the problem and its solution, empty if there is none."""
        if self.broker_problem:
            return self.broker_problem
        if self.workers:
            return ""
        if self.last_seen is None:
            message = gettext("No worker is running. Start one with make run, or on a server: {command}")
            return message.format(command=HOW_TO_RUN)
        minutes = round((timezone.now() - self.last_seen).total_seconds() / 60)
        if minutes < 120:
            message = gettext(
                "No worker has run for {minutes} minutes. Start one with make run, or on a server: {command}"
            )
        else:
            message = gettext(
                "No worker has run for {hours} hours. Start one with make run, or on a server: {command}"
            )
        return message.format(minutes=minutes, hours=round(minutes / 60), command=HOW_TO_RUN)


def worker_health() -> WorkerHealth:
    """Return the health of the workers. One query, and occasionally a connection to the broker."""
    seen = list(WorkerHeartbeat.objects.order_by("-seen_at").values_list("seen_at", flat=True))
    long_ago = timezone.now() - WORKER_SILENT_AFTER
    return WorkerHealth(
        workers=sum(at >= long_ago for at in seen),
        last_seen=seen[0] if seen else None,
        broker_problem=broker_problem(),
    )
