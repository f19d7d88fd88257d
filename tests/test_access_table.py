"""Every address of the site and every operation of the API lets in whom the table names, and nobody else.

A page is in one language.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import get_resolver, resolve
from django.utils import timezone

from annotate.api.documentation import schema
from annotate.api.tokens import SCOPES, make_token
from annotate.core.models import (
    Addition,
    GoldItem,
    GoldValue,
    Membership,
    Project,
    PublicLeaderboard,
    Role,
    SavedTemplate,
    Submission,
    User,
    Version,
)
from annotate.core.preferences import OWN_PAGES, RATER_PAGES
from annotate.core.rounds import disputes_of
from annotate.disputes.commands.digests import digest_token
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import start_export
from annotate.leaderboard.standings import Leaderboard
from annotate.material.commands.uploads import receive_upload
from annotate.people.commands import invite
from annotate.people.invitations import invitation_token
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.setup.commands import add_image
from annotate.webhooks.commands import add_webhook, try_webhook
from annotate.webhooks.events import EXPORT_READY
from judges.core.models import (
    Calibration,
    Drafting,
    DriftWatch,
    Judge,
    Judgment,
    Metric,
    ModelPrice,
    Panel,
    PromptSearch,
    Proposal,
)
from judges.endpoints.commands import enter_key
from judges.interchange.commands import JUDGMENTS
from judges.metrics.commands import METRICS
from judges.routing.commands.certificates import draw_calibration
from judges.routing.commands.policies import make_policy
from judges.runs.commands.corrections import start_rereading
from tests.access_table import API, ELSEWHERE, PAGES
from tests.core.test_page_languages import foreign, read
from tests.factories import PASSWORD, make_member, make_outside_rater
from tests.judges.certified import calibrated_project, calibration_spec, rate_sample
from tests.judges.factories import make_run
from tests.judges.routing.project import judges_of, spec_of
from tests.rating.rounds import opened, rate

NOBODY = "x"
SIGN_IN = ["accounts/login/", "accounts/password/reset/", "accounts/password/change/", "accounts/2fa/"]


@dataclass(frozen=True)
class Scene:
    """One project in Round II, who is in it, their tokens, and what stands for names in the table."""

    people: dict[str, User | None]
    secrets: dict[str, str]
    names: dict[str, Any]


@pytest.fixture
def scene(db: None) -> Scene:
    caches["process"].clear()
    cast = calibrated_project(documents=20, annotators=3, raters=3)
    project, rater = cast.project, cast.annotators[0]
    picture = b"\x89PNG\r\n\x1a\n a picture"
    image = add_image(project=project, by=cast.admin, name="scale.png", content=picture)
    invitation = invite(project=project, by=cast.admin, role=Role.ANNOTATOR)
    file = SimpleUploadedFile("file.jsonl", b'{"document_id": "d", "system": "s", "text": "Fine."}\n')
    upload = receive_upload(project=project, by=cast.admin, file=file, name="file.jsonl")
    judgments = receive_upload(project=project, by=cast.admin, file=file, name="file.jsonl", kind=JUDGMENTS)
    metrics = receive_upload(project=project, by=cast.admin, file=file, name="file.jsonl", kind=METRICS)
    metric = Metric.objects.create(project=project, name="ROUGE", source="imported from a file")
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value, comment="Because.")
    draw_calibration(project=project, spec=calibration_spec(cast, size=20), by=cast.admin)
    rate_sample(cast, Calibration.objects.get())
    policy = make_policy(project=project, spec=spec_of(cast), by=cast.admin)
    run = make_run(project, *judges_of(cast))
    close_round_one(project=project, by=cast.admin)
    open_round_two(project=project, by=cast.admin)
    gold = GoldItem.objects.create(item=cast.items[-1], use=GoldItem.Use.PRACTICE)
    GoldValue.objects.create(gold=gold, dimension=cast.dimensions[0], value=3)
    Project.objects.filter(pk=project.pk).update(practice_bar=100)
    Membership.objects.filter(project=project).update(practised_at=timezone.now())
    export = start_export(project=project, choice=ExportChoice(Format.CSV, frozenset(), ""), by=cast.admin)
    outside = make_outside_rater(rater, outcome="completed", ended_at=timezone.now())
    adjudicator = make_member(project, Role.ADJUDICATOR).user
    people = {
        "a": cast.admin,
        "r": cast.researcher,
        "n": rater.user,
        "j": adjudicator,
        "o": cast.outsider,
        "s": User.objects.create_user("operator@example.org", PASSWORD, is_staff=True),
    }
    tokens = {
        who: make_token(user=user, name=who, scopes=SCOPES, lasts=timedelta(days=1))
        for who, user in people.items()
        if user
    }
    hook, _ = add_webhook(project=project, url="https://example.org/", events=[EXPORT_READY], by=cast.admin)
    judge = judges_of(cast)[0]
    assert judge.endpoint
    DriftWatch.objects.create(judge=judge, units={}, days=7, next_at=timezone.now())
    enter_key(endpoint=judge.endpoint, key="a-key-of-nobody", by=cast.admin)
    panel = Panel.objects.create(
        judge=Judge.objects.create(project=project, name="All", method="panel"), rule=Panel.Rule.MEAN
    )
    panel.members.create(judge=judge, position=0)
    names = {
        "home": f"projects/{project.slug}/",
        "invited": invitation_token(invitation),
        "join": outside.study.token,
        "anything": "forged",
        "digest": digest_token(cast.admin),
        "invitation": invitation.pk,
        "person": cast.outsider.pk,
        "token": tokens["a"][0].pk,
        "session": UserSession.objects.create(user=cast.admin, session_key="elsewhere", ip="192.0.2.1").pk,
        "template": SavedTemplate.objects.create(owner=cast.admin, name="T", content="{}").pk,
        "dispute": disputes_of(rater)[0].number,
        "image": image.key,
        "item": cast.items[0].pk,
        "document": cast.items[0].document_id,
        "gold": gold.pk,
        "benchmark": publish_version(project).key,
        "submission": Submission.objects.create(
            project=project, system="New", contact="team@example.org", outputs={"d": "Fine."}, digest="0" * 64
        ).pk,
        "calibration_session": Project.objects.create(slug="first", name="First", calibrates=project).pk,
        "addition": Addition.objects.create(
            benchmark=project, project=Project.objects.create(slug="more", name="More"), number=1
        ).number,
        "upload": upload.pk,
        "judgments": judgments.pk,
        "metrics": metrics.pk,
        "metric": metric.pk,
        "rereading": start_rereading(project=project, judge=None, by=cast.admin).pk,
        "rater": rater.pk,
        "judge": judge.pk,
        "judgment": Judgment.objects.filter(judge__project=project).order_by("pk")[0].pk,
        "calibration": Calibration.objects.get().pk,
        "policy": policy.pk,
        "endpoint": judge.endpoint_id,
        "price": ModelPrice.objects.create(
            endpoint=judge.endpoint, model=judge.model, currency="USD", as_of="2026-11-01"
        ).pk,
        "prompt": judge.template_id,
        "panel": panel.judge_id,
        "proposal": Proposal.objects.create(
            judge=judge, dimension=cast.dimensions[0], kind="clarification", text="Rumours count."
        ).pk,
        "drafting": Drafting.objects.create(judge=judge, dimension=cast.dimensions[0], drafter=judge).pk,
        "search": PromptSearch.objects.create(
            judge=judge, dimension=cast.dimensions[0], stages=[[1, 2]], planned_calls=1
        ).pk,
        "run": run.pk,
        "export": export.pk,
        "webhook": hook.pk,
        "delivery": try_webhook(webhook=hook).pk,
    }
    return Scene({**people, NOBODY: None}, {who: token[1] for who, token in tokens.items()}, names)


def publish_version(project: Project) -> PublicLeaderboard:
    """Give the project a version and a public page that takes submissions."""
    standings = Leaderboard((), (), 0).to_dict()
    Version.objects.create(project=project, major=1, minor=0, content_hash="0" * 64, leaderboard=standings)
    return PublicLeaderboard.objects.create(project=project, is_public=True, takes_submissions=True)


def rows(table: str, names: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield who gets an answer, the method and the address."""
    for line in table.strip().splitlines():
        who, *methods = line.split()
        address = methods.pop() if methods[-1] not in ("GET", "POST") else ""
        yield from ((who, method, address.format(**names)) for method in methods)


def lets_in(answer: Any) -> bool:
    """Whether an answer is neither "there is nothing", nor "you may not", nor "sign in"."""
    assert answer.status_code < 500
    asks_to_sign_in = answer.status_code == 302 and answer["Location"].startswith("/accounts/login")
    return answer.status_code not in (401, 403, 404) and not asks_to_sign_in


def asked(client: Client, method: str, path: str, **how: Any) -> Any:
    """Send a request, read the answer to its end, and undo what it did."""
    with transaction.atomic():
        answer = client.generic(method, path, **how)
        if answer.streaming:
            answer.getvalue()
        transaction.set_rollback(True)
    return answer


@pytest.mark.postgresql
def test_every_page_opens_on_postgresql_for_one_permitted_user(scene: Scene) -> None:
    """Open each page once; on SQLite the test below opens it for everyone."""
    clients = {who: Client() for who in scene.people}
    for who, user in scene.people.items():
        if user:
            clients[who].force_login(user)
    closed = [
        f"{address} for {allowed[0]}: {answer.status_code}"
        for allowed, method, address in rows(PAGES, scene.names)
        if method == "GET" and allowed[0] in clients
        if not lets_in(answer := asked(clients[allowed[0]], method, f"/{address}"))
    ]
    assert not closed, "\n".join(closed)


@pytest.mark.once
def test_every_page_admits_the_roles_in_the_table_and_is_in_one_language(scene: Scene) -> None:
    """Ask as a German browser: a page is German where all of it is translated, else English."""
    wrong, mixed, languages = [], {}, set()
    pages = [*rows(PAGES, scene.names), *(("", "GET", address) for address in SIGN_IN)]
    for who, user in scene.people.items():
        # What a form leaves to say would show on the next page, in the language of the form's own page.
        clients = {"GET": Client(headers={"accept-language": "de"}), "POST": Client()}
        for client in clients.values():
            if user:
                client.force_login(user)
        for allowed, method, address in pages:
            answer = asked(clients[method], method, f"/{address}")
            is_in = lets_in(answer)
            if address not in SIGN_IN and is_in != (who in allowed):
                wrong.append(f"{method} {address} for {who}: {answer.status_code}")
            is_page = answer.status_code == 200 and answer["Content-Type"].startswith("text/html")
            if method == "GET" and is_in and is_page:
                page = read(answer.content.decode())
                languages.add((who, page.language))
                if found := foreign(page):
                    mixed[f"{who} {address} {page.language}"] = found
    assert not wrong, "\n".join(wrong)
    assert not mixed, "\n".join(f"{page}: {found}" for page, found in mixed.items())
    assert {("n", "de"), ("j", "de"), ("a", "en"), ("r", "en"), ("a", "de"), (NOBODY, "de")} <= languages


def test_pages_with_a_translation_are_pages_of_the_site() -> None:
    assert {name for name, _ in routes()} >= OWN_PAGES | RATER_PAGES


@pytest.mark.once
def test_no_door_of_admins_opens_without_the_second_factor(scene: Scene, settings: Any) -> None:
    settings.ADMINS_NEED_SECOND_FACTOR = True
    client = Client()
    client.force_login(scene.people["a"])  # type: ignore[arg-type]
    open_doors = [
        f"{method} {address}: {answer.status_code}"
        for allowed, method, address in rows(PAGES, scene.names)
        if "a" in allowed and "o" not in allowed and not address.startswith("account/")
        if (answer := asked(client, method, f"/{address}")).status_code != 403
    ]
    assert not open_doors, "\n".join(open_doors)
    program = {"headers": {"Authorization": f"Bearer {scene.secrets['a']}"}}
    open_doors = [
        f"{method} {address}"
        for allowed, method, address in api_rows(scene.names)
        if "a" in allowed and "o" not in allowed
        if asked(Client(), method, f"/api/v1/{address}", **program).status_code != 403
    ]
    assert not open_doors, "\n".join(open_doors)


@pytest.mark.once
def test_every_operation_admits_the_roles_in_the_table(scene: Scene) -> None:
    caches["process"].clear()
    wrong = []
    for allowed, method, address in api_rows(scene.names):
        for who in scene.people:
            secret = scene.secrets.get(who, "")
            how: dict[str, Any] = {"headers": {"Authorization": f"Bearer {secret}"} if secret else {}}
            if method not in ("GET", "DELETE"):
                how |= {"data": json.dumps({}), "content_type": "application/json"}
            answer = asked(Client(), method, f"/api/v1/{address}", **how)
            refused = 401 if who == NOBODY else 404
            if lets_in(answer) != (who in allowed) or (who not in allowed and answer.status_code != refused):
                wrong.append(f"{method} {address} for {who}: {answer.status_code}")
    assert not wrong, "\n".join(wrong)


def api_rows(names: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for line in API.strip().splitlines():
        who, method, address = line.split()
        yield who, method, address.format(**names)


@pytest.mark.once
def test_table_has_every_url_and_operation(scene: Scene) -> None:
    listed = {resolve(f"/{address}").route for _, _, address in rows(PAGES, scene.names)}
    pages = [(name, route) for name, route in routes() if not route.startswith(("accounts/", "api/"))]
    missing = [route for name, route in pages if route not in listed and name not in ELSEWHERE]
    assert not missing, f"say in tests/access_table.py who gets at {missing}"
    known = {(method, resolve(f"/api/v1/{address}").route) for _, method, address in api_rows(scene.names)}
    described = {
        (method.upper(), len(path.split("/")), each["operationId"])
        for path, operations in schema()["paths"].items()
        for method, each in operations.items()
    }
    assert len(known) == len(described) == len(list(api_rows(scene.names)))


def routes() -> Iterator[tuple[str, str]]:
    """Yield the name and the whole pattern of every address."""

    def within(patterns: Any, before: str) -> Iterator[tuple[str, str]]:
        for each in patterns:
            here = before + str(each.pattern)
            if hasattr(each, "url_patterns"):
                yield from within(each.url_patterns, here)
            else:
                yield each.name, here

    yield from within(get_resolver().url_patterns, "")
