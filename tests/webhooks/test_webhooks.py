"""What happens in a project reaches an address that asked for it: signed, once, or again until it does."""

import base64
import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_address

import pytest
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.jobs import run_job
from annotate.core.models import AuditEntry, Delivery, Webhook
from annotate.core.outbound import is_public
from annotate.disputes.commands.disputes import adjudicate, answer_dispute
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import start_export
from annotate.periodic_tasks import enqueue_jobs
from annotate.rating.commands.rounds import close_round_two
from annotate.setup.commands import delete_project
from annotate.watching.queries.overview import needs_of
from annotate.webhooks import commands
from annotate.webhooks import commands as webhooks_commands
from annotate.webhooks.commands import (
    add_webhook,
    announce,
    change_webhook,
    enable_webhook,
    renew_secret,
    send_again,
    signature,
    try_webhook,
)
from annotate.webhooks.events import EVENTS
from concord.celery import app
from judges.runs.commands.runs import start_run
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_run
from tests.rating.rounds import discussed
from tests.webhooks.receiver import Receiver, receiver

pytestmark = pytest.mark.django_db
Status = Delivery.Status


@pytest.fixture(autouse=True)
def loopback() -> Iterator[None]:
    with override_settings(PRIVATE_WEBHOOKS=True):
        yield


def hooked(cast: Cast, to: Receiver, *events: str) -> tuple[Webhook, str]:
    return add_webhook(project=cast.project, url=to.url, events=events or list(EVENTS), by=cast.admin)


def sent(delivery: Delivery) -> Delivery:
    """Send a delivery as if it were due, and return it as it is then."""
    Delivery.objects.filter(pk=delivery.pk, status=Status.WAITING).update(due_at=timezone.now())
    run_job("delivery", delivery.pk)
    delivery.refresh_from_db()
    return delivery


def aged(days: int) -> None:
    """Let everything about webhooks be older."""
    past = timezone.now() - timedelta(days=days)
    Delivery.objects.update(created_at=past)
    Webhook.objects.filter(failing_since__isnull=False).update(failing_since=past)


def test_signature_matches_the_standard() -> None:
    # The example of standardwebhooks.com, which its libraries are tested with.
    made = signature(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        key="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        body='{"test": 2432232314}',
    )
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_event_is_delivered_once_and_signed() -> None:
    cast = make_project()
    with receiver() as to:
        _, secret = hooked(cast, to)
        dispute = discussed(cast, 1, 3, 5)
        answer_dispute(dispute=dispute, rater=cast.annotators[0], value=4, seen_revision=0)
        answer_dispute(dispute=dispute, rater=cast.annotators[2], value=4, seen_revision=0)
        adjudicate(dispute=dispute, by=cast.admin, value=2, note="No.")
        close_round_two(project=cast.project, by=cast.admin)
        export = start_export(project=cast.project, choice=ExportChoice(Format.CSV), by=cast.admin)
        run_job("export", export.pk)
        judge = make_judge(cast.project)
        run = make_run(cast.project, judge)
        run.judgments.update(status="failed", reason="No answer.")
        start_run(run=run)
        for delivery in Delivery.objects.order_by("pk"):
            assert sent(delivery).status == Status.DELIVERED
            sent(delivery)  # a message that comes twice
        export.refresh_from_db()
        came = [json.loads(each.body) for each in to.received]
        assert [(each["type"], each["data"]) for each in came] == [
            ("round.closed", {"project": cast.project.slug, "round": 1}),
            ("dispute.settled", {"project": cast.project.slug, "dispute": 1, "status": "settled"}),
            ("dispute.settled", {"project": cast.project.slug, "dispute": 1, "status": "adjudicated"}),
            ("round.closed", {"project": cast.project.slug, "round": 2}),
            (
                "export.ready",
                {
                    "project": cast.project.slug,
                    "export": export.pk,
                    "format": "csv",
                    "content_hash": export.content_hash,
                },
            ),
            ("run.finished", {"project": cast.project.slug, "run": run.pk}),
        ]
        request = to.received[0]
        name = request.headers["webhook-id"]
        assert len({each.headers["webhook-id"] for each in to.received}) == 6
        content = f"{name}.{request.headers['webhook-timestamp']}.".encode() + request.body
        key = base64.b64decode(secret.removeprefix("whsec_"))
        expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
        assert request.headers["webhook-signature"] == f"v1,{expected}"
        assert abs(int(request.headers["webhook-timestamp"]) - timezone.now().timestamp()) < 60


def test_only_subscribed_events_of_the_project_create_deliveries() -> None:
    cast = make_project()
    with receiver() as to:
        hooked(cast, to, "export.ready")
        announce(cast.project.pk, "round.closed", {"round": 1})
        assert not Delivery.objects.exists()
        announce(make_project().project.pk, "export.ready", {})
        assert not Delivery.objects.exists()


def test_rejected_delivery_is_repeated_at_growing_intervals() -> None:
    cast = make_project()
    with receiver(500, 302, 204) as to:
        hook, _ = hooked(cast, to)
        delivery = sent(try_webhook(webhook=hook))
        assert (delivery.status, delivery.answer_status, delivery.answer) == ("waiting", 500, "thank you")
        first = delivery.due_at
        assert first
        assert timedelta(seconds=5) < first - timezone.now() < timedelta(seconds=15)
        run_job("delivery", delivery.pk)  # not due yet
        assert len(to.received) == 1
        delivery = sent(delivery)
        assert (delivery.answer_status, to.received[-1].path) == (302, "/")  # no redirect is followed
        assert delivery.due_at
        assert delivery.due_at - timezone.now() > timedelta(seconds=40)
        assert Webhook.objects.get().failing_since
        delivery = sent(delivery)
        assert (delivery.status, delivery.attempts, delivery.due_at) == ("delivered", 3, None)
        assert Webhook.objects.get().failing_since is None
        assert len({each.headers["webhook-id"] for each in to.received}) == 1
        assert send_again(delivery=delivery).status == "waiting"
        assert sent(delivery).attempts == 4


def die(*_: object) -> None:
    raise KeyboardInterrupt


def test_interrupted_delivery_of_a_dead_worker_is_repeated_by_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cast = make_project()
    with receiver() as to:
        hook, _ = hooked(cast, to)
        delivery = try_webhook(webhook=hook)
        with monkeypatch.context() as dying:
            dying.setattr(webhooks_commands, "_keep", die)  # before it can keep the answer
            with pytest.raises(KeyboardInterrupt):
                run_job("delivery", delivery.pk)
        run_job("delivery", delivery.pk)
        assert len(to.received) == 1  # another worker leaves it alone as long as the lease lasts
        delivery.refresh_from_db()
        assert delivery.due_at
        assert delivery.due_at > timezone.now()
        assert (sent(delivery).status, delivery.attempts) == ("delivered", 2)
        assert to.received[0].headers["webhook-id"] == to.received[1].headers["webhook-id"]


def test_days_of_failure_disable_a_webhook_and_its_admins_get_a_notice() -> None:
    cast = make_project()
    with receiver(503) as to:
        hook, _ = hooked(cast, to)
        first, second = try_webhook(webhook=hook), try_webhook(webhook=hook)
        sent(first)
        aged(days=6)
        assert sent(first).status == "failed"
        hook.refresh_from_db()
        assert hook.disabled_because == "Nothing was taken for 5 days. The last answer: 503"
        assert [need.sentence for need in needs_of(cast.project, None, None, [])] == [
            f"The webhook {to.url} is disabled: {hook.disabled_because}"
        ]
        assert AuditEntry.objects.filter(act="webhook.disabled").count() == 1
        sent(second)
        assert len(to.received) == 2  # nothing more
        announce(cast.project.pk, "export.ready", {})
        assert Delivery.objects.count() == 2
        with pytest.raises(NotReadyError):
            try_webhook(webhook=hook)
        with pytest.raises(NotReadyError):
            send_again(delivery=first)
        to.statuses = [200]
        enable_webhook(webhook=hook, by=cast.admin)
        enable_webhook(webhook=hook, by=cast.admin)
        assert AuditEntry.objects.filter(act="webhook.enabled").count() == 1
        assert sent(second).status == "delivered"


def test_gone_url_disables_its_webhook_at_once() -> None:
    cast = make_project()
    with receiver(410) as to:
        hook, _ = hooked(cast, to)
        sent(try_webhook(webhook=hook))
        hook.refresh_from_db()
        assert "410" in hook.disabled_because


def test_one_rejected_event_does_not_block_the_others() -> None:
    cast = make_project()
    with receiver(400, 200, 400) as to:
        hook, _ = hooked(cast, to)
        bad, good = try_webhook(webhook=hook), try_webhook(webhook=hook)
        sent(bad)
        sent(good)
        aged(days=6)
        assert sent(bad).status == "failed"
        hook.refresh_from_db()
        assert hook.disabled_at is None


def test_an_answer_is_read_no_further_than_its_beginning() -> None:
    cast = make_project()
    with receiver(200, says=b"\x00\xff" + b"a" * 100_000) as to:
        hook, _ = hooked(cast, to)
        delivery = sent(try_webhook(webhook=hook))
    assert len(delivery.answer) == commands.READ
    assert delivery.answer.startswith("\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}a")


def test_an_answer_that_drips_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "LONGEST", 0.3)
    ended = threading.Event()

    def drip(listening: socket.socket) -> None:
        taken, _ = listening.accept()
        with taken:
            taken.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not ended.wait(0.02):
                taken.send(b"a")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, args=(listening,), daemon=True)
        thread.start()
        answer = commands.post(f"http://127.0.0.1:{listening.getsockname()[1]}/", "{}", {})
        ended.set()
        thread.join(5)
    assert answer == commands.DeliveryResponse(None, "There was no whole answer in 10 to 0 seconds.")


def test_closed_port_and_unknown_host_are_reported() -> None:
    with socket.socket() as deaf:  # bound, so that nobody else is given the port, and not listening
        deaf.bind(("127.0.0.1", 0))
        assert "Refused" in commands.post(f"http://127.0.0.1:{deaf.getsockname()[1]}/", "{}", {}).says
    assert commands.post("http://nowhere.invalid/", "{}", {}).says.startswith("There was no answer (gaierror")


def test_private_url_is_rejected_on_entry_and_on_delivery() -> None:
    cast = make_project()
    with receiver() as to:
        hook, _ = hooked(cast, to)
        delivery = try_webhook(webhook=hook)
        with override_settings(PRIVATE_WEBHOOKS=False):
            assert "a private host" in sent(delivery).answer
            wrong = [
                to.url,
                "http://example.org/",
                "https://10.0.0.1/",
                "https://localhost/",
                "https://[::1]/",
            ]
            wrong += ["https://a:b@example.org/", "https://example.org/#a", "https://", "ftp://example.org/"]
            wrong += ["https://example.org:x/", "https://exam ple.org/", "javascript:alert(1)", "https://[a/"]
            for url in wrong:
                with pytest.raises(InvalidValueError) as refused:
                    change_webhook(webhook=hook, url=url, events=["export.ready"], by=cast.admin)
                assert "url" in refused.value.fields
        assert to.received == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2001:0:4136:e378:8000:63bf:f5ff:fffe", False),
    ],
)
def test_only_internet_ips_are_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


def test_secret_is_stored_nowhere_and_another_key_signs_nothing() -> None:
    cast = make_project()
    with receiver() as to:
        hook, secret = hooked(cast, to)
        kept = json.dumps([*Webhook.objects.values(), *AuditEntry.objects.values()], default=str)
        assert secret.removeprefix("whsec_") not in kept
        delivery = try_webhook(webhook=hook)
        with override_settings(SECRET_KEY="another"):
            assert "make a new secret" in sent(delivery).answer
            assert to.received == []
            renewed = renew_secret(webhook=hook, by=cast.admin)
            assert sent(delivery).status == "delivered"
        assert renewed != secret


@pytest.mark.django_db(transaction=True)
def test_every_worker_finds_due_deliveries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.conf, "task_always_eager", True)
    cast = make_project()
    with receiver() as to:
        hook, _ = hooked(cast, to)
        try_webhook(webhook=hook)
        enqueue_jobs()
        enqueue_jobs()
        assert len(to.received) == 1


def test_old_deliveries_are_forgotten_and_all_go_with_their_project() -> None:
    cast = make_project()
    with receiver() as to:
        hook, _ = hooked(cast, to)
        sent(try_webhook(webhook=hook))
        aged(days=91)
        sent(try_webhook(webhook=hook))
        assert Delivery.objects.count() == 1
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    assert not Webhook.objects.exists()


def test_an_admin_adds_tries_and_removes_one_on_its_page(client: Client) -> None:
    cast = make_project()
    client.force_login(cast.admin)
    page = reverse("webhooks", args=[cast.project.slug])
    with receiver(500) as to:
        refused = client.post(page, {"url": "nowhere", "events": ["export.ready"]})
        assert (refused.status_code, Webhook.objects.count()) == (422, 0)
        assert "Enter a valid URL." in refused.content.decode()
        assert client.post(page, {"url": to.url}).status_code == 422
        made = client.post(page, {"url": to.url, "events": ["export.ready"]})
        secret = made.context["secret"]
        assert secret in made.content.decode()
        hook = Webhook.objects.get()
        own = reverse("webhook", args=[cast.project.slug, hook.pk])
        assert secret not in client.get(own).content.decode() + client.get(page).content.decode()
        client.post(f"{own}test/")
        sent(Delivery.objects.get())
        log = client.get(own).content.decode()
        assert "thank you" in log
        assert "No delivery was accepted since" in log
        client.post(f"{own}deliveries/{Delivery.objects.get().pk}/again/")
        assert Delivery.objects.get().due_at
        renewed = client.post(f"{own}secret/").context["secret"]
        assert renewed != secret
        Webhook.objects.update(disabled_at=timezone.now(), disabled_because="It failed.")
        assert "It failed." in client.get(own).content.decode()
        client.post(f"{own}enable/")
        changed = client.post(own, {"url": to.url, "events": ["round.closed"]})
        assert changed.status_code == 302
        hook.refresh_from_db()
        assert (hook.events, hook.disabled_at) == (["round.closed"], None)
        client.post(f"{own}remove/")
        assert not Webhook.objects.exists()
    client.force_login(cast.researcher)
    assert client.get(page).status_code == 404
