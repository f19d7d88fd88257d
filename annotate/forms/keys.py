"""The keys that a person chooses for the rating page."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.keys import ACTIONS, DIGITS, NAMED, VALUES, KeySet, problems_of
from annotate.models import Preferences


class KeysForm(forms.Form):
    """A set of keys, others in the place of single ones, and whether the page goes on by itself."""

    goes_on = forms.BooleanField(
        label=_("Go on by itself when everything is rated"),
        required=False,
        help_text=_("After a short pause, which any key or click ends."),
    )
    key_set = forms.ChoiceField(label=_("Set of keys"), choices=KeySet.choices, widget=forms.RadioSelect)

    def __init__(self, data: Any, *, preferences: Preferences) -> None:
        """Show the keys of the set in empty fields, and the person's own in theirs."""
        own, key_set = preferences.own_keys, preferences.key_set
        super().__init__(data, initial={"goes_on": preferences.goes_on, "key_set": key_set, **own})
        values = _key_field(gettext("Rate: the keys of the values, in order"), DIGITS)
        self.fields[VALUES] = values
        for each in ACTIONS:
            self.fields[each.name] = _key_field(str(each.label), getattr(each, key_set))

    def clean(self) -> dict[str, Any]:
        """Refuse keys that cannot be had, and two for which one key would stand."""
        data = super().clean() or self.cleaned_data
        own = {name: _plain(data[name]) for name in self._key_names() if data.get(name)}
        data["own_keys"] = own
        if "key_set" in data:
            for name, problem in problems_of(data["key_set"], own).items():
                self.add_error(name, problem)
        return data

    def chosen(self) -> dict[str, Any]:
        """Return the preferences as they are kept."""
        return {name: self.cleaned_data[name] for name in ("goes_on", "key_set", "own_keys")}

    def _key_names(self) -> list[str]:
        return [VALUES, *(each.name for each in ACTIONS)]


def _key_field(label: str, placeholder: str) -> forms.CharField:
    shown = forms.TextInput({"placeholder": placeholder, "autocomplete": "off", "autocapitalize": "off"})
    return forms.CharField(label=label, required=False, max_length=len(DIGITS), widget=shown)


def _plain(key: str) -> str:
    named = {name.lower(): name for name in NAMED}
    return named.get(key.lower(), key.lower())
