"""A task reaches a real worker over every broker that the documents name."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from queue import Empty
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from celery.worker.consumer import Consumer
from kombu import Connection
from redis import Redis

from concord.celery import app as celery_app
from tests.concord.running import LONGEST, ROOT, environment, eventually

REDIS = "redis://127.0.0.1:6379/0"
RABBITMQ = "amqp://guest:guest@127.0.0.1:5672//"
FOLDER = "filesystem://localhost/"


def need(service: str, port: int) -> None:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=10).close()
    except OSError:
        pytest.skip(f"no {service} on port {port} of this machine")


@pytest.fixture(params=[FOLDER, REDIS, RABBITMQ], ids=["folder", "redis", "rabbitmq"])
def broker(request: pytest.FixtureRequest) -> str:
    """Give the address of a broker that answers."""
    if request.param == REDIS:
        need("Redis", 6379)
    if request.param == RABBITMQ:
        need("RabbitMQ", 5672)
    address: str = request.param
    return address


@pytest.fixture
def queue(broker: str) -> Iterator[str]:
    """Give a queue that nobody else listens to, and leave none behind."""
    name = f"concord-test-{uuid4()}"
    yield name
    if broker == RABBITMQ:
        with Connection(broker) as connection:
            connection.default_channel.queue_delete(name)  # type: ignore[attr-defined]
    if broker == REDIS:
        with Redis.from_url(REDIS) as client:
            client.delete(*client.scan_iter(f"*{name}*"))


SENDER = """
import sys, django
django.setup()
from tests.concord.errands import leave_a_note
leave_a_note.apply_async((sys.argv[2],), queue=sys.argv[1])
"""


def send(queue: str, path: Path, variables: dict[str, str]) -> None:
    """Ask for a note from a process of its own, as the web server does."""
    sender = [sys.executable, "-c", SENDER, queue, str(path)]
    subprocess.run(sender, cwd=ROOT, env=variables, check=True, timeout=LONGEST)


def test_a_real_worker_does_what_another_process_asks_for(broker: str, queue: str, tmp_path: Path) -> None:
    variables = environment(tmp_path, CONCORD_BROKER_URL=broker, DJANGO_SETTINGS_MODULE="concord.settings")
    before, after = tmp_path / "asked before it started", tmp_path / "asked while it runs"
    send(queue, before, variables)
    options = (
        f"--pool threads --concurrency 2 --include tests.concord.errands --queues {queue} --hostname {queue}"
    )
    with (tmp_path / "log").open("w") as log:
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "--quiet", "-A", "concord", "worker", *options.split()],
            cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        assert eventually(before.exists), (tmp_path / "log").read_text()
        send(queue, after, variables)
        assert eventually(after.exists), (tmp_path / "log").read_text()
        assert after.read_text() == str(worker.pid)
    finally:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(LONGEST) == 0
    assert not list(tmp_path.glob("broker/queue/*")), "a task that is done leaves nothing behind"


def folder_connection(folder: Path) -> Connection:
    (folder / "queue").mkdir(exist_ok=True)
    (folder / "control").mkdir(exist_ok=True)
    options = {
        "data_folder_in": str(folder / "queue"),
        "data_folder_out": str(folder / "queue"),
        "control_folder": str(folder / "control"),
        "polling_interval": 0,
    }
    return Connection(FOLDER, transport="concord.broker:Transport", transport_options=options)


def test_a_reader_never_sees_half_a_message_in_the_folder(tmp_path: Path) -> None:
    """kombu's own transport fails here: its file exists before its text."""
    count = 300

    def put() -> None:
        with folder_connection(tmp_path) as connection, connection.SimpleQueue("celery") as messages:
            for number in range(count):
                messages.put({"number": number})

    writer = threading.Thread(target=put)
    writer.start()
    received: list[int] = []
    with folder_connection(tmp_path) as connection, connection.SimpleQueue("celery") as messages:
        while len(received) < count:
            try:
                message = messages.get(timeout=LONGEST)
            except Empty:
                break
            message.ack()
            received.append(message.payload["number"])
    writer.join()
    assert received == list(range(count))
    assert os.listdir(tmp_path / "queue") == []


def test_a_message_reaches_its_queue_while_another_connection_is_still_binding(tmp_path: Path) -> None:
    """kombu's own transport loses it: the connections of a process share what they believe to be bound."""
    with folder_connection(tmp_path) as slow, folder_connection(tmp_path) as quick:
        bind = slow.default_channel._queue_bind  # type: ignore[attr-defined]
        slow.default_channel._queue_bind = lambda *_: None  # type: ignore[attr-defined]
        slow.SimpleQueue("celery")
        quick.SimpleQueue("celery").put("kept")
        slow.default_channel._queue_bind = bind  # type: ignore[attr-defined]
        assert quick.SimpleQueue("celery").get(timeout=LONGEST).payload == "kept"


def test_simultaneous_processes_agree_on_the_queues(tmp_path: Path) -> None:
    """kombu's own transport loses rows here: it empties a new table that another has just written."""
    exchanges, count = [f"exchange{number}" for number in range(20)], 8
    together = threading.Barrier(count)

    def bind(number: int) -> None:
        own = channel(tmp_path)
        for exchange in exchanges:
            together.wait(LONGEST)
            own._queue_bind(exchange, "", "", f"queue{number}")

    threads = [threading.Thread(target=bind, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = {f"queue{number}" for number in range(count)}
    assert all({row.queue for row in channel(tmp_path).get_table(name)} == expected for name in exchanges)


def test_who_is_killed_while_writing_the_table_of_queues_leaves_it_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kombu's own transport empties the table before it writes: no worker could start any more."""

    def half(path: Path, text: str) -> None:
        path.write_bytes(text.encode()[: len(text) // 2])
        raise KeyboardInterrupt

    own = channel(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", half)
        with pytest.raises(KeyboardInterrupt):
            own._queue_bind("exchange", "", "", "first")
    assert channel(tmp_path).get_table("exchange") == []
    channel(tmp_path)._queue_bind("exchange", "", "", "second")
    assert [row.queue for row in channel(tmp_path).get_table("exchange")] == ["second"]
    channel(tmp_path)._delete("second", "exchange", "", "")
    assert channel(tmp_path).get_table("exchange") == []


def channel(folder: Path) -> Any:
    """Return a channel of a connection to a broker in this folder."""
    return folder_connection(folder).default_channel


def test_after_a_lost_connection_no_thread_that_ends_a_task_reads_from_the_broker():
    asked: list[int] = []
    consumer = SimpleNamespace(
        app=celery_app,
        qos=SimpleNamespace(_mutex=nullcontext(), value=1, set=asked.append),
        initial_prefetch_count=1,
        max_prefetch_count=2,
        _new_prefetch_count=2,
        _maximum_prefetch_restored=False,
    )
    ask_for_more = vars(Consumer)["_restore_prefetch_count_after_connection_restart"]
    ask_for_more(consumer, None)
    assert asked == []
