"""What the pages of Round II send."""

from django import forms


class DisputeAnswerForm(forms.Form):
    """Keep one's value (`keep` is what the page showed it to be) or change it, with a reason."""

    keep = forms.IntegerField(required=False)
    value = forms.IntegerField(
        required=False, error_messages={"invalid": "A rating is a whole number on the scale."}
    )
    comment = forms.CharField(required=False)
    seen_revision = forms.IntegerField(
        min_value=0, error_messages={"required": "This page is out of date; load it again."}
    )

    def clean(self) -> dict[str, object]:
        """Require one of the two: a number that was not typed does not mean to keep."""
        data = super().clean() or {}
        if data.get("keep") is not None:
            data["value"] = data["keep"]
        elif data.get("value") is None and "value" not in self.errors:
            self.add_error("value", "Choose the value to change to, or keep yours.")
        return data


class PostForm(forms.Form):
    """One message of the thread; length and emptiness are judged by the command."""

    text = forms.CharField(required=False)


class AdjudicationForm(forms.Form):
    """An admin's decision about a disputed unit: a value, to leave it open, or to open it again."""

    value = forms.IntegerField(
        required=False, error_messages={"invalid": "A rating is a whole number on the scale."}
    )
    note = forms.CharField(required=False, strip=True)
    leave_open = forms.BooleanField(required=False)
    open_again = forms.BooleanField(required=False)

    def clean(self) -> dict[str, object]:
        """Require a value unless the unit is left open or opened again."""
        data = super().clean() or {}
        if (
            not data.get("leave_open")
            and not data.get("open_again")
            and data.get("value") is None
            and "value" not in self.errors
        ):
            self.add_error("value", "Choose the value that shall stand.")
        return data
