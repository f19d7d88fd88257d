"""What a person chooses for themselves."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import Preferences
from annotate.models.preferences import CHOSEN


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]
    """A row of choices for each preference, and whether a digest of disputes is wanted."""

    digest = forms.BooleanField(
        required=False,
        label=_("By e-mail, once a day, what is new in disputes that need me"),
        help_text=_("Nothing is sent on days without news. Each message has a link that ends them."),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.initial["digest"] = bool(self.instance.digest_address)

    class Meta:
        model = Preferences
        fields = list(CHOSEN)
        widgets = dict.fromkeys(CHOSEN, forms.RadioSelect)

    def chosen(self, address: str) -> dict[str, str]:
        """Return what was chosen, for who reached Concord at this address."""
        kept = {name: self.cleaned_data[name] for name in CHOSEN}
        return {**kept, "digest_address": address if self.cleaned_data["digest"] else ""}
