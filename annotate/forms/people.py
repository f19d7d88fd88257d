"""Inviting people, and changing what they do."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.invitation_mail import mail_is_sent
from annotate.models import Membership, Role

ROLES = [
    (Role.ANNOTATOR, "annotator: rates items"),
    (Role.RESEARCHER, "researcher: reads results and exports"),
    (Role.ADMIN, "admin: configures and runs the project"),
]
SENT = "With “Send by e-mail” the link goes to this address; otherwise it only tells links apart in the list."
NOT_SENT = (
    "Tells links apart in the list. Nothing is sent, since no mail server is configured (CONCORD_EMAIL_URL): "
    "you pass the link on."
)


class InvitationForm(forms.Form):
    """What the invited person will be, and for whom the link is."""

    role = forms.ChoiceField(widget=forms.RadioSelect, choices=ROLES, initial=Role.ANNOTATOR)
    email = forms.EmailField(label=_("For whom (e-mail address, optional)"), required=False)
    send = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].help_text = SENT if mail_is_sent() else NOT_SENT

    def clean(self) -> dict[str, Any]:
        """Refuse to send without an address or a server."""
        values = self.cleaned_data
        if values.get("send") and not mail_is_sent():
            self.add_error(
                "email", gettext("No mail server is configured, so nothing can be sent. Make a link instead.")
            )
        elif values.get("send") and not values.get("email") and "email" not in self.errors:
            self.add_error(
                "email", gettext("Enter the address to send the link to, or make a link to pass on yourself.")
            )
        return values


class RoleForm(forms.Form):
    """What a person does in the project."""

    role = forms.ChoiceField(widget=forms.RadioSelect, choices=ROLES)


class HandOverForm(forms.Form):
    """Who takes over an annotator's unfinished work."""

    QUEUE, EVERYONE = "queue", "everyone"
    to = forms.ChoiceField(label=_("To whom"))

    def __init__(self, entered: Mapping[str, Any] | None, *, others: Sequence[Membership]) -> None:
        super().__init__(entered)
        self.others = {str(other.pk): other for other in others}
        field = self.fields["to"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            (self.QUEUE, "whoever asks for work next"),
            *([(self.EVERYONE, "all other annotators, evenly")] if others else []),
            *((key, other.label) for key, other in self.others.items()),
        ]

    @property
    def receivers(self) -> list[Membership]:
        """The annotators who were chosen, none for whoever asks next."""
        chosen = self.cleaned_data["to"]
        if chosen == self.EVERYONE:
            return list(self.others.values())
        return [self.others[chosen]] if chosen in self.others else []
