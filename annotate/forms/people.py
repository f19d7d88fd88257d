"""Inviting people."""

from django import forms

from annotate.models import Role


class InvitationForm(forms.Form):
    """What the invited person will be, and for whom the link is."""

    role = forms.ChoiceField(
        widget=forms.RadioSelect,
        choices=[
            (Role.ANNOTATOR, "annotator: rates items"),
            (Role.RESEARCHER, "researcher: reads results and exports"),
            (Role.ADMIN, "admin: configures and runs the project"),
        ],
        initial=Role.ANNOTATOR,
    )
    email = forms.EmailField(
        label="For whom (e-mail address, optional)",
        required=False,
        help_text="Tells links apart in the list. Nothing is sent: you pass the link on.",
    )
