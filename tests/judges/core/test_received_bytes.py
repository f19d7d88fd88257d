"""Before Round II nothing that an annotator's browser receives depends on systems, judges or other raters."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

import annotate.urls
import judges.urls
from annotate.core.access import token_of
from annotate.core.models import Assignment, Item, System
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.evidence import Passage
from tests.factories import Cast, make_dimension, make_project
from tests.judges.factories import make_judge, make_judgment
from tests.rating.rounds import assigned, frozen, opened

pytestmark = pytest.mark.django_db

OTHERS_VALUE, JUDGES_VALUE = 73913, 61747
SECRETS = (b"UNSEEN-SYSTEM", b"OTHERS-COMMENT", b"73913", b"61747", b"UNSEEN-JUDGE", b"UNSEEN-MODEL")
CHANGING = re.compile(
    rb'(csrfmiddlewaretoken" value="|X-CSRFToken": "|csrftoken=|expires=)[^";]+'
    rb"|('Expires': |'X-Request-ID': )'[^']+'"  # now, where nothing may be kept; drawn for each request
)


@pytest.fixture
def cast() -> Cast:
    cast = make_project(dimensions=(), documents=2, systems=2)
    cast.dimensions.append(make_dimension(cast.project, "fluency", minimum=1, maximum=100_000))
    for system in System.objects.all():
        System.objects.filter(pk=system.pk).update(name=f"UNSEEN-SYSTEM-{system.name}")
    Item.objects.update(text="A text that names nobody.")
    return cast


@pytest.mark.usefixtures("clock")  # what a page says of the time stays the same
def test_no_response_tells_of_others_and_none_changes_when_they_rate(cast: Cast, client: Client) -> None:
    round, me = opened(cast), cast.annotators[0]
    assert me.user is not None
    client.force_login(me.user)
    for item in cast.items:
        assigned(cast, round, me, item)
    before = everything_received(client, cast)
    assert sum(body.startswith(b"200") for body in before.values()) > 8
    for rater in cast.annotators[1:]:
        for item in cast.items:
            answer = Answer(OTHERS_VALUE, True, comment="OTHERS-COMMENT", evidence=(Passage(1, 0, 6),))
            assignment = assigned(cast, round, rater, item)
            save_rating(assignment=assignment, dimension=frozen(round), answer=answer, by=rater.user)
    judge = make_judge(cast.project, name="UNSEEN-JUDGE", model="UNSEEN-MODEL")
    for item in cast.items:
        make_judgment(judge, item, cast.dimensions[0], value=JUDGES_VALUE, reply=f"Score: {JUDGES_VALUE}")
    after = everything_received(client, cast)
    of_projects = {address for address in before if address == "/" or address.startswith("/projects/")}
    assert {address for address in of_projects if after[address] != before[address]} == set()
    for address, body in [*before.items(), *after.items(), *saving(client, cast)]:
        assert not [secret for secret in SECRETS if secret in body], address


def everything_received(client: Client, cast: Cast) -> dict[str, bytes]:
    """Return what each address that answers GET sends: status, headers, cookies and body."""
    return {address: received(client.get(address)) for address in sorted(set(addresses(cast)))}


def received(reply: Any) -> bytes:
    body = b"".join(reply) if reply.streaming else reply.content
    return CHANGING.sub(rb"\1", f"{reply.status_code} {reply.headers} {reply.cookies}".encode() + body)


def addresses(cast: Cast) -> Iterator[str]:
    """Return an address of every route, and those of the annotator's own items."""
    for pattern in annotate.urls.urlpatterns + judges.urls.urlpatterns:
        route = str(pattern.pattern)
        for part, value in (
            ("slug:slug", cast.project.slug),
            ("slug:key", "fluency"),
            ("step:step", "open-1"),
        ):
            route = route.replace(f"<{part}>", value)
        yield "/" + re.sub(r"<(?:[a-z]+:)?[a-z_]+>", "1", route)
    for position in range(1, len(cast.items) + 1):
        yield f"/projects/{cast.project.slug}/rate/{position}/"


def saving(client: Client, cast: Cast) -> Iterator[tuple[str, bytes]]:
    """Return what the annotator's own save answers, and the page after it."""
    assignment = Assignment.objects.get(annotator=cast.annotators[0], position=1)
    address = f"/projects/{cast.project.slug}/rate/1/"
    sent = {
        "annotator": assignment.annotator_id,
        "assignment": token_of(assignment),
        "value": "5",
        "revision": "0",
    }
    yield "saving", received(client.post(f"{address}fluency/", sent))
    yield "saved", received(client.get(address))
