"""What the rating page sends."""

from typing import Any

from django import forms

from annotate.commands.ratings import Answer, Sent

NOT_APPLICABLE = "not_applicable"


class ValueField(forms.IntegerField):
    """A whole number, or the word that stands in its place where the dimension does not apply."""

    def to_python(self, value: Any) -> Any:
        """Return a number, the word, or None."""
        return NOT_APPLICABLE if value == NOT_APPLICABLE else super().to_python(value)


class AnswerForm(forms.Form):
    """An answer about one unit, with what the page knew when it was given."""

    value = ValueField(required=False, error_messages={"invalid": "A rating is a whole number on the scale."})
    unsure = forms.BooleanField(required=False)
    cannot_rate = forms.BooleanField(required=False)
    comment = forms.CharField(required=False, strip=False)
    revision = forms.IntegerField(required=False, min_value=0)
    active_seconds = forms.FloatField(required=False, min_value=0, max_value=86_400)
    client = forms.CharField(required=False, max_length=36)
    sequence = forms.IntegerField(required=False, min_value=0, max_value=2**62)
    guideline = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)

    def answer(self) -> Answer:
        """Return what was answered."""
        data = self.cleaned_data
        not_applicable = data["value"] == NOT_APPLICABLE
        value = None if not_applicable else data["value"]
        return Answer(value, data["unsure"], data["cannot_rate"], data["comment"], not_applicable)

    def sent(self) -> Sent:
        """Return how it was sent."""
        data = self.cleaned_data
        return Sent(
            data["revision"] or 0,
            data["active_seconds"] or 0.0,
            data["client"],
            data["sequence"] or 0,
            data["guideline"],
        )

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was answered, before or now."""
        return self.answer() == Answer() and not self.cleaned_data["revision"]
