"""Forms of the pages about people."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from email.utils import parseaddr
from typing import Any

from allauth.account.forms import ChangePasswordForm as AllauthChangePasswordForm
from allauth.account.forms import ResetPasswordForm as AllauthResetPasswordForm
from allauth.account.forms import ResetPasswordKeyForm as AllauthResetPasswordKeyForm
from allauth.account.forms import SignupForm as AllauthSignupForm
from allauth.core import context
from django import forms
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.password_validation import validate_password
from django.core.validators import validate_email
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.api.tokens import revoke_tokens
from annotate.core.keys import ACTIONS, DIGITS, NAMED, VALUES, KeySet, problems_of
from annotate.core.mails import mail_is_sent
from annotate.core.models import Membership, Preferences, Role, User
from annotate.core.models.people import CHOSEN, NoticeKind
from annotate.core.page import offer_choices
from annotate.people.commands import make_first_account
from annotate.people.invitations import is_proven, mark_proven, proven_address
from annotate.people.mails import AccountChange, note_account_change
from annotate.people.sign_in_limits import may_send_mail

MOST_INVITED = 200  # at once

ROLES = [
    (Role.ANNOTATOR, _("annotator: rates items")),
    (Role.ADJUDICATOR, _("adjudicator: decides the disputes that discussion did not resolve")),
    (Role.RESEARCHER, _("researcher: reads results and exports")),
    (Role.ADMIN, _("admin: configures and runs the project")),
]
SENT = _(
    "With “Send by e-mail” the link goes to this address; otherwise it only tells links apart in the list."
)
NOT_SENT = _(
    "Tells links apart in the list. Nothing is sent, since no mail server is configured (CONCORD_EMAIL_URL): "
    "you pass the link on."
)


class InvitationForm(forms.Form):
    """The role, e-mail and note of an invitation."""

    role = forms.ChoiceField(widget=forms.RadioSelect, choices=ROLES, initial=Role.ANNOTATOR)
    email = forms.EmailField(label=_("For (e-mail, optional)"), required=False)
    send = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].help_text = str(SENT) if mail_is_sent() else str(NOT_SENT)

    def clean(self) -> dict[str, Any]:
        """Reject sending without an e-mail or a server."""
        values = self.cleaned_data
        if values.get("send") and not mail_is_sent():
            self.add_error(
                "email",
                gettext("No mail server is configured, so Concord cannot send mail. Make a link instead."),
            )
        elif values.get("send") and not values.get("email") and "email" not in self.errors:
            self.add_error(
                "email", gettext("Enter an e-mail to send the link, or make a link to pass on yourself.")
            )
        return values


class InvitationsForm(forms.Form):
    """The e-mails, role and note of several invitations."""

    role = forms.ChoiceField(widget=forms.RadioSelect, choices=ROLES, initial=Role.ANNOTATOR)
    addresses = forms.CharField(
        label=_("E-mail addresses"),
        widget=forms.Textarea(attrs={"rows": 5}),
        # Django renders this as HTML, so the angle brackets are entities.
        help_text=_("One on a line, or separated by commas; “Ann &lt;ann@example.org&gt;” is understood."),
    )
    note = forms.CharField(
        label=_("Description of the work"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text=_("The amount of work and the deadline. The mail and the page of the link show it."),
    )
    send = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def clean_addresses(self) -> list[str]:
        """Return the e-mails; list the invalid ones in the error."""
        parts = re.split(r"[\n;,]+", self.cleaned_data["addresses"])
        written = [part.strip() for part in parts if part.strip()]
        # Mail programs copy addresses with names, as in “Ann <ann@example.org>”.
        found = [parseaddr(part)[1] for part in written]
        wrong = []
        for part, address in zip(written, found, strict=True):
            try:
                validate_email(address)
            except forms.ValidationError:
                wrong.append(part)
        if wrong:
            sentence = gettext("Not valid e-mails: {parts}.")
            raise forms.ValidationError(sentence.format(parts=", ".join(wrong[:10])))
        if len(found) > MOST_INVITED:
            sentence = gettext("You entered {count} e-mails; invite up to {most} at a time.")
            raise forms.ValidationError(sentence.format(count=len(found), most=MOST_INVITED))
        return found

    def clean(self) -> dict[str, Any]:
        """Reject sending without a server."""
        if self.cleaned_data.get("send") and not mail_is_sent():
            raise forms.ValidationError(
                gettext("No mail server is configured, so Concord cannot send mail. Make links instead.")
            )
        return self.cleaned_data


class RoleForm(forms.Form):
    """A person's role in the project."""

    role = forms.ChoiceField(widget=forms.RadioSelect, choices=ROLES)


class LabelForm(forms.Form):
    """An annotator's label in tables and charts."""

    label = forms.CharField(
        label=_("Label"),
        max_length=150,
        help_text=_("The rater's name in a paper, for example A1. Exports keep the pseudonym unchanged."),
    )


class HandOverForm(forms.Form):
    """The members who receive an annotator's unfinished items."""

    QUEUE, EVERYONE = "queue", "everyone"
    to = forms.ChoiceField(label=_("To whom"))

    def __init__(self, entered: Mapping[str, Any] | None, *, others: Sequence[Membership]) -> None:
        super().__init__(entered)
        # Only members of the project are choices, so no request can name anyone else.
        self.others = {str(other.pk): other for other in others}
        choices = [(self.QUEUE, gettext("whoever asks for work next"))]
        if others:
            choices.append((self.EVERYONE, gettext("all other annotators, evenly")))
        offer_choices(self, "to", [*choices, *((key, other.label) for key, other in self.others.items())])

    @property
    def receivers(self) -> list[Membership]:
        """Return the chosen annotators; empty if the items go to the next annotators."""
        chosen = self.cleaned_data["to"]
        if chosen == self.EVERYONE:
            return list(self.others.values())
        return [self.others[chosen]] if chosen in self.others else []


class JoinForm(forms.Form):
    """The actual rater of a membership's recorded ratings."""

    member = forms.ChoiceField(label=_("Whose ratings are these?"))

    def __init__(self, entered: Mapping[str, Any] | None, *, members: Sequence[Membership]) -> None:
        super().__init__(entered)
        self.members = {str(member.pk): member for member in members}
        offer_choices(self, "member", [(key, member.label) for key, member in self.members.items()])

    @property
    def chosen(self) -> Membership:
        return self.members[self.cleaned_data["member"]]


class AddressForm(forms.Form):
    """A person's e-mail."""

    email = forms.EmailField(
        label=_("E-mail address"), widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )

    def clean_email(self) -> str:
        """Return the e-mail in lower case, as accounts store it."""
        return str(self.cleaned_data["email"]).lower()


class SignupForm(AllauthSignupForm):  # type: ignore[misc]
    """Sign-up with a name in addition to the e-mail and password."""

    name = forms.CharField(
        max_length=150,
        help_text=_("Admins of your projects see it; other annotators see an alias."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    field_order = ("name", "email", "password1", "password2")

    def __init__(self, *args: Any, **options: Any) -> None:
        """Show the e-mail that the invitation or a mailed link proves; no other is possible."""
        super().__init__(*args, **options)
        self.proven = proven_address(context.request.session)
        if self.proven:
            self.initial["email"] = self.proven
            self.fields["email"].widget.attrs["readonly"] = True

    def clean(self) -> dict[str, Any]:
        """Reject a password similar to the name; allauth compares it only with the e-mail."""
        values: dict[str, Any] = super().clean()
        if "password1" in values and "password1" not in self.errors:
            person = User(name=values.get("name", ""), email=values.get("email", ""))
            try:
                validate_password(values["password1"], person)
            except forms.ValidationError as error:
                self.add_error("password1", error)
        return values

    def clean_email(self) -> str:
        """Reject an unproven e-mail."""
        email: str = super().clean_email()
        # `readonly` only guides the browser: a request can contain any e-mail.
        if self.proven and email.lower() != self.proven:
            sentence = gettext("This invitation is for {email}. Ask for a link of your own.")
            raise forms.ValidationError(sentence.format(email=self.proven))
        return email


class FirstAccountForm(BaseUserCreationForm):  # type: ignore[type-arg]
    """The operator's name, e-mail and password."""

    class Meta:
        model = User
        fields = ("name", "email")

    def save(self, commit: bool = True) -> User:  # noqa: ARG002
        given = self.cleaned_data
        return make_first_account(name=given["name"], email=given["email"], password=given["password1"])


class ResetPasswordForm(AllauthResetPasswordForm):  # type: ignore[misc]
    """Asks for a link by which a new password is chosen."""

    def save(self, request: HttpRequest, **options: Any) -> str:
        """Queue the mail unless this mailbox had several; the page is the same in both cases."""
        email: str = self.cleaned_data["email"]
        if may_send_mail(request, email, purpose="new password"):
            super().save(request, **options)
        return email


class NewPassword(forms.Form):
    """A new password, which ends all other sessions and optionally revokes API tokens."""

    revoke_tokens = forms.BooleanField(
        label=_("Revoke my tokens of the API, too"),
        required=False,
        help_text=_(
            "Choose this if someone else may know the old password. Programs that use the tokens lose access."
        ),
    )

    def save(self) -> None:
        super().save()  # type: ignore[misc]
        user: User = self.user  # type: ignore[attr-defined]
        # The session in which the person changed the password stays.
        session = context.request.session.session_key
        note_account_change(user=user, change=AccountChange.PASSWORD, session=session)
        if self.cleaned_data["revoke_tokens"]:
            revoke_tokens(user=user)


class ChangePasswordForm(NewPassword, AllauthChangePasswordForm):  # type: ignore[misc]
    """A new password for a user with the current one."""

    field_order = ("oldpassword", "password1", "password2", "revoke_tokens")


class ResetPasswordKeyForm(NewPassword, AllauthResetPasswordKeyForm):  # type: ignore[misc]
    """A new password for a user with a mailed link."""

    field_order = ("password1", "password2", "revoke_tokens")

    @transaction.atomic
    def save(self) -> None:
        """Save the password and mark the e-mail as proven, because the link came from its mailbox.

        Second factors stay, so a mailbox alone opens no account with one. Tokens of an unproven account are
        revoked, because another person may have created it.
        """
        # Checked first, because `mark_proven` below changes the answer.
        if not is_proven(self.user):
            revoke_tokens(user=self.user)
        super().save()
        mark_proven(self.user)


class KeysForm(forms.Form):
    """A set of keys, replacements of individual keys, and whether the page advances automatically."""

    goes_on = forms.BooleanField(
        label=_("Go on by itself when everything is rated"),
        required=False,
        help_text=_("After a short pause, which any key or click ends."),
    )
    key_set = forms.ChoiceField(label=_("Set of keys"), choices=KeySet.choices, widget=forms.RadioSelect)

    def __init__(self, data: Any, *, preferences: Preferences) -> None:
        """Show the keys of the set as placeholders, and the person's own keys as values."""
        own, key_set = preferences.own_keys, preferences.key_set
        super().__init__(data, initial={"goes_on": preferences.goes_on, "key_set": key_set, **own})
        values = _key_field(gettext("Rate: the keys of the values, in order"), DIGITS)
        self.fields[VALUES] = values
        for each in ACTIONS:
            self.fields[each.name] = _key_field(str(each.label), getattr(each, key_set))

    def clean(self) -> dict[str, Any]:
        """Reject unsupported keys and duplicate keys."""
        data = super().clean() or self.cleaned_data
        names = [VALUES, *(each.name for each in ACTIONS)]
        own = {name: _plain(data[name]) for name in names if data.get(name)}
        data["own_keys"] = own
        if "key_set" in data:
            for name, problem in problems_of(data["key_set"], own).items():
                self.add_error(name, problem)
        return data

    def to_preferences(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("goes_on", "key_set", "own_keys")}


def _key_field(label: str, placeholder: str) -> forms.CharField:
    shown = forms.TextInput({"placeholder": placeholder, "autocomplete": "off", "autocapitalize": "off"})
    return forms.CharField(label=label, required=False, max_length=len(DIGITS), widget=shown)


def _plain(key: str) -> str:
    named = {name.lower(): name for name in NAMED}
    return named.get(key.lower(), key.lower())


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]
    """A row of choices for each preference, and whether a digest of disputes is wanted."""

    digest = forms.BooleanField(
        required=False,
        label=_("A daily e-mail with new activity in my disputes"),
        help_text=_("You get no mail on days without news. Each mail has a link to unsubscribe."),
    )

    notices = forms.MultipleChoiceField(
        required=False,
        label=_("By e-mail, when"),
        choices=NoticeKind.choices,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("You get one mail for each event, in all projects that you are a member of."),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.initial["digest"] = bool(self.instance.digest_address)
        self.initial["notices"] = self.instance.notices

    class Meta:
        model = Preferences
        fields = list(CHOSEN)
        widgets = dict.fromkeys(CHOSEN, forms.RadioSelect)

    def to_preferences(self, address: str) -> dict[str, Any]:
        chosen = self.cleaned_data
        mails = {
            "digest_address": address if chosen["digest"] else "",
            "notices": chosen["notices"],
            "notice_address": address if chosen["notices"] else "",
        }
        return {**{name: chosen[name] for name in CHOSEN}, **mails}


LASTS = [(30, _("30 days")), (90, _("90 days")), (365, _("a year"))]
SCOPES = [
    ("read", _("read: everything that you see on pages")),
    ("write", _("write: manage your projects as an admin, start and delete exports")),
    ("rate", _("rate: request work, rate and discuss disputes as you")),
]


class TokenForm(forms.Form):
    """A token's purpose, permissions and lifetime."""

    name = forms.CharField(label=_("Purpose"), max_length=80)
    scopes = forms.MultipleChoiceField(
        label=_("It may"), choices=SCOPES, initial=["read"], widget=forms.CheckboxSelectMultiple
    )
    days = forms.TypedChoiceField(label=_("It lasts"), choices=LASTS, coerce=int, initial=90)

    @property
    def lasts(self) -> timedelta:
        """How long the token can be used."""
        return timedelta(days=self.cleaned_data["days"])
