"""Every page that annotators meet, with something to show on each."""

from dataclasses import dataclass, replace

from django.test import Client
from django.utils import timezone

from annotate.core.models import (
    Dimension,
    Dispute,
    GoldItem,
    Item,
    Membership,
    OutsideStudy,
    Role,
    Round,
    User,
)
from annotate.disputes.commands.digests import digest_token
from annotate.disputes.commands.disputes import answer_dispute, post_message
from annotate.people.commands import invite
from annotate.people.invitations import invitation_token
from annotate.quality.commands import RightValue, describe_gold, mark_gold, set_practice_bar
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.rating.evidence import Passage
from annotate.setup.commands import reword_guidelines
from tests.factories import Cast, make_outside_rater, make_project
from tests.rating.rounds import assigned, frozen, opened

DOORS = ("accounts/login/", "accounts/password/reset/", "accounts/signup/", "nowhere/")
OWN = (
    "",
    "account/keys/",
    "account/preferences/",
    "account/address/",
    "accounts/password/change/",
    "accounts/logout/",
)
REASONED = Answer(value=4, comment="Because.", evidence=(Passage(0, 0, 4), Passage(1, 0, 6)))


@dataclass(frozen=True)
class Visit:
    """Pages, and who looks at them; None: who is not signed in."""

    user: User | None
    addresses: list[str]


def before_the_door() -> Visit:
    """Pages that are seen without signing in."""
    cast = make_project()
    invited = invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, membership=None)
    study = OutsideStudy.objects.create(project=cast.project, is_open=True, consent="# About\n\nWe *study*.")
    opened_by_links = (f"/invitations/{invitation_token(invited)}/", f"/join/{study.token}/")
    return Visit(None, [*(f"/{each}" for each in DOORS), *opened_by_links])


def at_the_end() -> Visit:
    """The end page of a rater from outside."""
    cast = make_project()
    rater = make_outside_rater(cast.annotators[0], outcome="completed", ended_at=timezone.now())
    end = {"completion_code": "C-DONE", "completion_url": "https://app.example.org/complete"}
    OutsideStudy.objects.filter(pk=rater.study_id).update(**end)
    return Visit(_user(cast), [f"{_home(cast)}end/"])


def in_practice() -> Visit:
    """An item that is to be practised, and one with what is right."""
    cast = make_project()
    golds = [mark_gold(project=cast.project, item=item, use=GoldItem.Use.PRACTICE) for item in cast.items[:2]]
    for gold in golds:
        right = {cast.dimensions[0].pk: RightValue(5, "It deserves 5.")}
        describe_gold(project=cast.project, gold=gold, explanation="Read it slowly.", values=right)
    set_practice_bar(project=cast.project, bar=100)
    user = _user(cast)
    client = Client()
    client.force_login(user)
    learnt, fresh = (f"{_home(cast)}practice/{gold.pk}/" for gold in golds)
    token = client.get(learnt).context["token"]
    client.post(learnt, {"assignment": token, "fluency-value": "3"})
    return Visit(user, [_home(cast), f"{learnt}feedback/", fresh])


def while_rating() -> Visit:
    """An item with all that an answer can have, a dimension with a wide scale and one that may not apply."""
    cast = make_project(dimensions=("fluency", "coherence", "relevance"))
    Dimension.objects.filter(key="coherence").update(scale_maximum=100)
    Dimension.objects.filter(key="relevance").update(not_applicable=True)
    Item.objects.update(text="What a system wrote about it. " * 40)
    first = _answered(cast, opened(cast), cast.annotators[0], cast.items[0], replace(REASONED, unsure=True))
    home = _home(cast)
    return Visit(
        _user(cast),
        [
            *(home, f"{home}rate/{first}/", f"{home}rate/mine/", f"{home}rate/mine/values/"),
            *(f"{home}rate/how/", f"{home}guideline/"),
        ],
    )


def while_discussing() -> Visit:
    """A dispute with reasons, marked passages and a post, one that was answered, and one's own pages."""
    cast = make_project()
    round = opened(cast)
    for item in cast.items[:2]:
        for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
            _answered(cast, round, annotator, item, replace(REASONED, value=value))
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    first, second = Dispute.objects.order_by("number")
    post_message(dispute=first, author=cast.annotators[1], text="Is it an error?")
    answer_dispute(dispute=second, rater=cast.annotators[0], value=None, comment="I stay with it.")
    user, home = _user(cast), _home(cast)
    inside = [home, f"{home}rate/", f"{home}disputes/", f"{home}disputes/{first.number}/"]
    return Visit(user, [*inside, f"/account/digest/{digest_token(user)}/", *(f"/{each}" for each in OWN)])


def with_new_wording() -> Visit:
    """An item, and a dispute, before which old and new wording stand side by side."""
    disputed = make_project()
    round = opened(disputed)
    for annotator, value in zip(disputed.annotators, (1, 3, 5), strict=True):
        _answered(disputed, round, annotator, disputed.items[0], replace(REASONED, value=value))
    close_round_one(project=disputed.project, by=disputed.admin)
    _reword(disputed)
    open_round_two(project=disputed.project, by=disputed.admin)
    user = _user(disputed)
    rated = make_project()
    rated.project.memberships.filter(pk=rated.annotators[0].pk).update(user=user)
    rated.annotators[0].refresh_from_db()
    position = _answered(rated, opened(rated), rated.annotators[0], rated.items[0], REASONED)
    _reword(rated)
    return Visit(user, [f"{_home(disputed)}disputes/1/", f"{_home(rated)}rate/{position}/"])


def _reword(cast: Cast) -> None:
    reword_guidelines(project=cast.project, guidelines="Read *twice*. " * 30, note="Clearer.", by=cast.admin)


def _answered(cast: Cast, round: Round, annotator: Membership, item: Item, answer: Answer) -> int:
    """Save an answer and return the position at which the annotator meets the item."""
    held = assigned(cast, round, annotator, item)
    save_rating(assignment=held, dimension=frozen(round), answer=answer, by=annotator.user)
    assert held.position
    return held.position


def _user(cast: Cast) -> User:
    user = cast.annotators[0].user
    assert user
    return user


def _home(cast: Cast) -> str:
    return f"/projects/{cast.project.slug}/"
