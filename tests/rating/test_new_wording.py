"""What an annotator has to read when wording changed during Round I, and that it was read."""

from dataclasses import replace

import pytest
from django.urls import reverse

from annotate.core.errors import InvalidValueError
from annotate.core.models import Acknowledgement, AuditEntry, Round
from annotate.rating.commands.assignments import acknowledge_wording
from annotate.rating.commands.rounds import close_round_one
from annotate.rating.queries.work import new_wording
from annotate.setup.commands import reword_dimension, reword_guidelines
from annotate.setup.queries import spec_of
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    cast = make_project(dimensions=("fluency", "coherence"))
    rate(cast, opened(cast), cast.annotators[0], cast.items[0], 4)
    return cast


def define(cast: Cast, definition: str) -> None:
    dimension = cast.project.dimensions.get(key="fluency")
    to = replace(spec_of(dimension), definition=definition)
    reword_dimension(dimension=dimension, to=to, note="Asked for.", by=cast.admin)


def news(cast: Cast, *, annotator: int = 0, shown: str = "") -> list[tuple[str, str, str]]:
    found = new_wording(Round.objects.get(), cast.annotators[annotator], shown=shown)
    return [(each.where, each.before, each.after) for each in found.changes] if found else []


def read(cast: Cast, version: int) -> None:
    user = cast.annotators[0].user
    assert user
    acknowledge_wording(annotator=cast.annotators[0], version=version, by=user)


def test_all_that_changed_since_one_rated_or_read_is_new(cast: Cast) -> None:
    assert news(cast) == []
    define(cast, "Reads well.")
    first = ("Fluency, definition", "How good the fluency is.", "Reads well.")
    assert news(cast) == [first]
    reword_guidelines(project=cast.project, guidelines="Read twice.", note="More.", by=cast.admin)
    assert news(cast) == [("Guidelines for all dimensions", "", "Read twice."), first]
    read(cast, 3)
    assert news(cast) == []
    define(cast, "How good the fluency is.")
    assert news(cast) == [("Fluency, definition", "Reads well.", "How good the fluency is.")]


def test_withdrawn_wording_is_not_new_to_raters_of_the_other(cast: Cast) -> None:
    define(cast, "Reads well.")
    define(cast, "How good the fluency is.")
    assert news(cast) == []


def test_rater_at_the_current_version_reads_only_wording_not_yet_shown(cast: Cast) -> None:
    define(cast, "Reads well.")
    assert news(cast, annotator=1) == []
    assert len(news(cast, annotator=1, shown="1")) == 1
    assert news(cast, annotator=1, shown="2") == news(cast, annotator=1, shown="²") == []
    close_round_one(project=cast.project, by=cast.admin)
    assert news(cast) == []


def test_reading_is_noted_once_and_again_when_the_version_comes_back(cast: Cast) -> None:
    define(cast, "Reads well.")
    read(cast, 2)
    read(cast, 2)
    define(cast, "How good the fluency is.")
    read(cast, 1)
    with pytest.raises(InvalidValueError, match="no such version"):
        read(cast, 9)
    noted = Acknowledgement.objects.order_by("pk").values_list("annotator", "guideline__version")
    assert list(noted) == [(cast.annotators[0].pk, 2), (cast.annotators[0].pk, 1)]
    acts = AuditEntry.objects.filter(act="guideline.acknowledged").order_by("pk")
    assert [each.after for each in acts] == [{"version": 2}, {"version": 1}]


def test_without_scripts_the_form_leads_back_to_the_item_and_only_its_annotator_can_send_it(
    cast: Cast, client
) -> None:
    define(cast, "Reads well.")
    address = reverse("acknowledge", args=[cast.project.slug])
    item = reverse("rate_item", args=[cast.project.slug, 1])
    sent = {"annotator": cast.annotators[0].pk, "version": 2, "position": 1}
    assert client.post(address, sent).status_code == 401
    client.force_login(cast.annotators[1].user)
    assert client.post(address, sent).json()["code"] == "not_yours"
    client.force_login(cast.annotators[0].user)
    assert 'id="reworded"' in client.get(item).content.decode()
    assert client.post(address, {**sent, "version": "none"}).json()["code"] == "invalid_value"
    assert not Acknowledgement.objects.exists()
    assert client.post(address, sent).headers["Location"] == item
    assert 'id="reworded"' not in client.get(item).content.decode()
