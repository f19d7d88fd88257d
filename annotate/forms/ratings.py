"""What the rating page sends."""

import json
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.commands.ratings import Answer, Sent
from annotate.evidence import Passage

NOT_APPLICABLE = "not_applicable"


NO_EVIDENCE = _("Evidence is a list of passages, each with its part, its start and its end.")


class ValueField(forms.IntegerField):
    """A whole number, or the word that stands in its place where the dimension does not apply."""

    def to_python(self, value: Any) -> Any:
        """Return a number, the word, or None."""
        return NOT_APPLICABLE if value == NOT_APPLICABLE else super().to_python(value)


class EvidenceField(forms.Field):
    """Passages as the page sends them: a list of [part, start, end]."""

    def to_python(self, value: Any) -> Any:
        """Return passages in the order of the texts."""
        try:
            rows = json.loads(value or "[]")
            passages = sorted(Passage(*row) for row in rows)
        except (ValueError, TypeError, RecursionError):
            raise forms.ValidationError(NO_EVIDENCE) from None
        if not all(type(number) is int for row in rows for number in row):
            raise forms.ValidationError(NO_EVIDENCE)
        return tuple(passages)


class AnswerForm(forms.Form):
    """An answer about one unit, with what the page knew when it was given."""

    value = ValueField(
        required=False, error_messages={"invalid": _("A rating is a whole number on the scale.")}
    )
    unsure = forms.BooleanField(required=False)
    cannot_rate = forms.BooleanField(required=False)
    comment = forms.CharField(required=False, strip=False)
    evidence = EvidenceField(required=False)
    revision = forms.IntegerField(required=False, min_value=0)
    active_seconds = forms.FloatField(required=False, min_value=0, max_value=86_400)
    client = forms.CharField(required=False, max_length=36)
    sequence = forms.IntegerField(required=False, min_value=0, max_value=2**62)
    guideline = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)

    def _clean_fields(self) -> None:
        """Read each field as Django does, without the objects for showing it: a save shows none."""
        for name, field in self.fields.items():
            sent = field.widget.value_from_datadict(self.data, self.files, self.add_prefix(name))
            try:
                self.cleaned_data[name] = field.clean(sent)
            except forms.ValidationError as error:
                self.add_error(name, error)

    def answer(self) -> Answer:
        """Return what was answered."""
        data = self.cleaned_data
        not_applicable = data["value"] == NOT_APPLICABLE
        value = None if not_applicable else data["value"]
        return Answer(
            value,
            data["unsure"],
            data["cannot_rate"],
            data["comment"],
            not_applicable,
            data["evidence"],
        )

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


class _Shared(dict[str, forms.Field]):
    """Fields that no form changes, so that none needs a copy: copying took longer than reading an answer."""

    def __deepcopy__(self, _memo: object) -> "_Shared":
        return self


AnswerForm.base_fields = _Shared(AnswerForm.base_fields)
