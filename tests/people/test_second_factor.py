"""A code beside the password: set up, asked for, lost, and required of admins."""

import json
import re
from datetime import timedelta
from io import StringIO
from time import monotonic, sleep, time
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client

from annotate.api.tokens import make_token, usable_token
from annotate.core.access import reads_results
from annotate.core.models import AuditEntry, Project, Role, SharedEntry, User
from annotate.people.commands import add_member, invite
from annotate.people.invitations import invitation_token, mark_proven
from annotate.people.second_factor import has_second_factor
from tests.api.client import ApiClient
from tests.factories import PASSWORD, Cast, make_member, make_project, make_user
from tests.people.mails import sent_mails
from tests.people.test_sessions import is_signed_in, sign_in

pytestmark = pytest.mark.django_db

ACTIVATE, AUTHENTICATE, CODES = (
    "/accounts/2fa/totp/activate/",
    "/accounts/2fa/authenticate/",
    "/accounts/2fa/recovery-codes/",
)

ADD_PASSKEY = "/accounts/2fa/webauthn/add/"
RESPONSE = {"clientDataJSON": "e30", "attestationObject": "oA", "authenticatorData": "AA", "signature": "AA"}
UNREADABLE = (
    "no json",
    '{"id": 1}',
    "[]",
    '"a word"',
    '{"response": {"userHandle": "MQ"}}',
    "",
    "{}",
    '{"id": "AA", "rawId": "AA", "type": "public-key", "response": {}}',
    json.dumps({"id": "AA", "rawId": "AA", "type": "public-key", "response": RESPONSE}),
)


def code_of(secret: str, *, steps: int = 0) -> str:
    return str(format_hotp_value(hotp_value(secret, int(time()) // 30 + steps)))


def with_password(client: Client) -> Client:
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def set_up(client: Client) -> str:
    """Turn it on, and return the secret that the app has."""
    page = with_password(client).get(ACTIVATE).content.decode()
    found = re.search(r'id="totp-key"[^>]*value="(\w+)"', page)
    assert found
    assert client.post(ACTIVATE, {"code": code_of(found[1])})["Location"] == CODES
    return found[1]


def recovery_codes(client: Client) -> list[str]:
    return re.findall(r"\b\d{8}\b", client.get(CODES).content.decode())


def enter_password(user: User) -> Client:
    client = Client()
    answer = client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert answer["Location"] == AUTHENTICATE
    return client


@pytest.fixture
def user() -> User:
    return make_user()


def test_the_password_alone_no_longer_signs_in(user: User) -> None:
    secret = set_up(sign_in(user))
    client = enter_password(user)
    assert not is_signed_in(client)
    assert "Your code" in client.get(AUTHENTICATE).content.decode()
    client.post(AUTHENTICATE, {"code": code_of(secret)})
    assert is_signed_in(client)


def test_a_code_works_once_for_as_long_as_it_counts(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = set_up(sign_in(user))
    step = int(time()) // 30
    code = format_hotp_value(hotp_value(secret, step + 1))
    for seconds in (0, 89):  # a phone that is half a minute ahead shows it at 0, and it counts until 90
        SharedEntry.objects.update(expires=F("expires") - timedelta(seconds=seconds))
        late = SimpleNamespace(time=lambda seconds=seconds: step * 30 + seconds)
        monkeypatch.setattr("allauth.mfa.totp.internal.auth.time", late)
        client = enter_password(user)
        client.post(AUTHENTICATE, {"code": code})
        assert is_signed_in(client) == (seconds == 0)


def test_a_recovery_code_works_once(user: User) -> None:
    owner = sign_in(user)
    set_up(owner)
    codes = recovery_codes(owner)
    assert len(codes) == 10
    for expected in (True, False):
        client = enter_password(user)
        client.post(AUTHENTICATE, {"code": codes[0]})
        assert is_signed_in(client) == expected
    assert "You have 9 recovery codes" in owner.get("/accounts/2fa/").content.decode()


def test_codes_are_not_guessed(user: User) -> None:
    secret = set_up(sign_in(user))
    client = enter_password(user)
    right = code_of(secret)
    wrong = [f"{(int(right) + each) % 1_000_000:06}" for each in range(10, 16)]
    pages = [client.post(AUTHENTICATE, {"code": code}).content.decode() for code in wrong]
    assert "Too many wrong" in pages[-1]
    client.post(AUTHENTICATE, {"code": right})
    assert not is_signed_in(client)


def test_codes_are_not_guessed_all_day(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = set_up(sign_in(user))
    client, now = enter_password(user), time()
    right = code_of(secret)
    pages = []
    for each in range(21):
        later = now + each // 5 * 360  # five, then a pause of six minutes
        clock = {"time": lambda later=later: later, "monotonic": monotonic, "sleep": sleep}
        monkeypatch.setattr("allauth.core.internal.ratelimit.time", SimpleNamespace(**clock))
        wrong = f"{(int(right) + 10 + each) % 1_000_000:06}"
        pages.append(client.post(AUTHENTICATE, {"code": wrong}).content.decode())
    assert ["Too many wrong" in page for page in pages] == [False] * 20 + [True]


def test_a_device_is_not_known_before_the_code(user: User) -> None:
    set_up(sign_in(user))
    assert "concord_device" not in enter_password(user).cookies


def test_database_does_not_reveal_the_source_of_codes(user: User) -> None:
    client = sign_in(user)
    secret = set_up(client)
    kept = json.dumps(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in kept
    assert all(code not in kept for code in recovery_codes(client))


def test_secrets_are_encrypted_again_with_the_first(user: User, settings: Any) -> None:
    secret = set_up(sign_in(user))
    settings.KEY_ENCRYPTION = ("n" * 40,)
    call_command("reencrypt_keys", stdout=StringIO())
    settings.SECRET_KEY = "another" * 8
    client = enter_password(user)
    client.post(AUTHENTICATE, {"code": code_of(secret)})
    assert is_signed_in(client)


def test_unreadable_secret_admits_no_one_and_is_reported(user: User, settings: Any) -> None:
    secret = set_up(sign_in(user))
    settings.SECRET_KEY = "another" * 8
    answer = enter_password(user).post(AUTHENTICATE, {"code": code_of(secret)})
    assert answer.status_code == 403
    assert "Contact your administrator" in answer.content.decode()


def test_setting_up_and_turning_off_ask_for_the_password(user: User) -> None:
    client = sign_in(user)
    assert client.get(ACTIVATE)["Location"].startswith("/accounts/reauthenticate/")
    set_up(client)
    client.post("/accounts/2fa/totp/deactivate/")
    assert not has_second_factor(user)
    assert not Authenticator.objects.exists()


def test_each_project_of_who_turns_it_on_or_off_has_it_in_its_log() -> None:
    one, other = make_project(), make_project()
    add_member(project=other.project, role=Role.RESEARCHER, user=one.admin)
    client = sign_in(one.admin)
    set_up(client)
    client.post("/accounts/2fa/totp/deactivate/")
    entries = AuditEntry.objects.filter(act__startswith="person.second_factor").order_by("pk")
    acts = ["person.second_factor_added", "person.second_factor_removed"]
    for cast in (one, other):
        assert [entry.act for entry in entries if entry.project == cast.project] == acts
    assert {(entry.actor_email, entry.after["kind"]) for entry in entries if entry.after} == {
        (one.admin.email, "codes of an app")
    }


def test_a_wrong_code_sets_nothing_up_and_is_not_recorded() -> None:
    cast = make_project()
    client = with_password(sign_in(cast.admin))
    client.get(ACTIVATE)
    assert client.post(ACTIVATE, {"code": "000000"}).status_code == 200
    assert not has_second_factor(cast.admin)
    assert not AuditEntry.objects.filter(act__startswith="person.second_factor").exists()


def test_an_operator_removes_it_from_who_lost_everything() -> None:
    cast = make_project()
    operator = with_password(
        sign_in(User.objects.create_user("operator@example.org", PASSWORD, is_staff=True))
    )
    set_up(sign_in(cast.admin))
    fields = {"change": "remove_factor", "note": "New phone."}
    operator.post(f"/installation/people/{cast.admin.pk}/", fields)
    assert is_signed_in(sign_in(cast.admin))
    entry = AuditEntry.objects.get(act="person.second_factor_removed")
    assert (entry.project, entry.note, entry.actor_email) == (
        cast.project,
        "New phone.",
        "operator@example.org",
    )


def test_the_command_removes_it_too(user: User) -> None:
    def run(*arguments: str) -> list[dict[str, object]]:
        out = StringIO()
        call_command("second_factor", *arguments, "--json", stdout=out)
        return list(json.loads(out.getvalue()))

    set_up(sign_in(user))
    assert run(user.email) == [{"email": user.email, "second_factor": True}]
    assert run(user.email, "--remove") == [{"email": user.email, "second_factor": False}]
    with pytest.raises(CommandError, match="Nobody has an account"):
        run("nobody@example.org")


@pytest.fixture
def required(settings: Any) -> None:
    settings.ADMINS_NEED_SECOND_FACTOR = True


def test_admins_without_a_second_factor_get_a_setup_prompt(cast: Cast, required: None) -> None:
    client = sign_in(cast.admin)
    for page in ("", "people/", "results/", "settings/"):
        answer = client.get(f"/projects/{cast.project.slug}/{page}")
        assert answer.status_code == 403
        assert "Admins need a second factor here." in answer.content.decode()
    set_up(client)
    assert client.get(f"/projects/{cast.project.slug}/people/").status_code == 200


def test_admin_without_a_second_factor_still_has_other_roles(cast: Cast, required: None) -> None:
    make_member(cast.project, Role.RESEARCHER, user=cast.admin)
    client, home = sign_in(cast.admin), f"/projects/{cast.project.slug}/"
    assert reads_results(cast.admin, cast.project)
    assert client.get(f"{home}results/").status_code == 200
    assert client.get(home).status_code == 200
    assert client.get(f"{home}people/").status_code == 403


def test_their_programs_wait_too(cast: Cast, required: None) -> None:
    answer = ApiClient(cast.admin).get(f"projects/{cast.project.slug}/people/")
    assert (answer.status_code, "second factor" in answer.json()["message"]) == (403, True)


def test_project_creation_requires_a_second_factor(cast: Cast, required: None) -> None:
    sent = {"name": "Another", "template": ""}
    client = sign_in(cast.admin)
    for answer in (client.post("/projects/new/", sent), ApiClient(cast.admin).post("projects/", sent)):
        assert (answer.status_code, "second factor" in answer.content.decode()) == (403, True)
    assert not Project.objects.filter(name="Another").exists()
    set_up(client)
    assert client.post("/projects/new/", sent).status_code == 302


def test_a_passkey_is_enough(cast: Cast, required: None) -> None:
    client = sign_in(cast.admin)
    Authenticator.objects.create(user=cast.admin, type=Authenticator.Type.WEBAUTHN, data={"name": "phone"})
    assert has_second_factor(cast.admin)
    assert client.get(f"/projects/{cast.project.slug}/people/").status_code == 200


def test_user_with_a_passkey_can_use_it_or_the_password(user: User) -> None:
    Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data={"name": "phone"})
    assert not is_signed_in(enter_password(user))


def test_invalid_passkey_cannot_sign_in(user: User) -> None:
    client = Client()
    options = client.get("/accounts/2fa/webauthn/login/", HTTP_ACCEPT="application/json").json()
    assert options["request_options"]["publicKey"]["userVerification"] == "required"
    for sent in UNREADABLE:
        answer = client.post("/accounts/2fa/webauthn/login/", {"credential": sent})
        assert answer["Location"] == "/accounts/login/"
        assert not is_signed_in(client)


def test_invalid_passkey_is_no_second_factor(user: User) -> None:
    set_up(sign_in(user))
    client = enter_password(user)
    for sent in UNREADABLE[1:5]:  # of five the last would be refused as too many
        assert client.post(AUTHENTICATE, {"credential": sent}).status_code == 200
        assert not is_signed_in(client)


def test_invalid_passkey_cannot_be_added(user: User) -> None:
    client = with_password(sign_in(user))
    for sent in UNREADABLE:
        client.get(ADD_PASSKEY)
        assert client.post(ADD_PASSKEY, {"credential": sent}).status_code == 200
    assert not has_second_factor(user)


def test_annotators_and_researchers_need_none(cast: Cast, required: None) -> None:
    rater = cast.annotators[0].user
    assert rater
    for user in (rater, cast.researcher):
        assert sign_in(user).get(f"/projects/{cast.project.slug}/").status_code == 200


def test_operators_need_it_too(cast: Cast, required: None) -> None:
    operator = User.objects.create_user("operator@example.org", PASSWORD, is_staff=True)
    client = sign_in(operator)
    assert client.get("/installation/people/").status_code == 403
    set_up(client)
    assert client.get("/installation/people/").status_code == 200


def follow_link_for_new_password(user: User) -> tuple[Client, str]:
    """Choose another password by a mailed link; return the browser and where it is led."""
    client = Client()
    client.post("/accounts/password/reset/", {"email": user.email})
    [message] = [each for each in sent_mails() if "/reset/key/" in str(each.body)][-1:]
    link = str(message.body).partition("http://testserver")[2].split()[0]
    form = client.get(link)["Location"]
    new = {"password1": "another fine pass", "password2": "another fine pass"}
    return client, client.post(form, new)["Location"]


@pytest.mark.parametrize("proven", [True, False])
def test_a_new_password_by_mail_keeps_the_second_factor(user: User, proven: bool) -> None:
    if proven:
        mark_proven(user)
    secret = set_up(sign_in(user))
    client, led_to = follow_link_for_new_password(user)
    assert led_to == AUTHENTICATE
    assert not is_signed_in(client)
    client.post(AUTHENTICATE, {"code": code_of(secret)})
    assert is_signed_in(client)


@pytest.mark.parametrize("made_by", ["createsuperuser", "a link that was passed on"])
def test_a_mailbox_alone_opens_no_account_with_a_factor(made_by: str, cast: Cast) -> None:
    if made_by == "createsuperuser":
        User.objects.create_superuser("ann@example.org", PASSWORD)
    else:
        join_by_link(cast)
    user = User.objects.get(email="ann@example.org")
    owner = sign_in(user)
    set_up(owner)
    codes = recovery_codes(owner)
    client, _ = follow_link_for_new_password(user)
    assert not is_signed_in(client)
    assert not AuditEntry.objects.filter(act="person.second_factor_removed").exists()
    client.post(AUTHENTICATE, {"code": codes[0]})
    assert is_signed_in(client)


def test_pages_explain_the_remedy_for_a_missing_app_and_codes(user: User) -> None:
    set_up(sign_in(user))
    client = Client()
    client.post("/accounts/password/reset/", {"email": user.email})
    link = str(sent_mails()[-1].body).partition("http://testserver")[2].split()[0]
    form = client.get(link, follow=True).content.decode()
    assert "A new password does not remove your second factor." in form
    page = enter_password(user).get(AUTHENTICATE).content.decode()
    assert "Lost both? Your administrator can remove the second factor." in page


def test_an_operator_lets_in_who_lost_password_and_factor(user: User) -> None:
    set_up(sign_in(user))
    call_command("second_factor", user.email, "--remove", stdout=StringIO())
    client, _ = follow_link_for_new_password(user)
    assert is_signed_in(client)


def test_first_email_proof_ends_earlier_tokens(cast: Cast) -> None:
    _, token = make_token(user=cast.admin, name="n", scopes=["read"], lasts=timedelta(days=1))
    client, _ = follow_link_for_new_password(cast.admin)
    assert is_signed_in(client)
    assert usable_token(token) is None


def join_by_link(cast: Cast) -> Client:
    """Make an account for ann@example.org by a link that was passed on."""
    offer = invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email="ann@example.org")
    client = Client()
    client.get(f"/invitations/{invitation_token(offer)}/")
    entered = {"name": "Ann", "email": "ann@example.org", "password1": PASSWORD, "password2": PASSWORD}
    client.post("/accounts/signup/", entered)
    return client


def test_who_joined_by_a_link_that_was_passed_on_sets_it_up(cast: Cast) -> None:
    client = join_by_link(cast)
    set_up(client)
    assert has_second_factor(User.objects.get(email="ann@example.org"))
    assert client.get("/accounts/2fa/webauthn/add/").status_code == 200
