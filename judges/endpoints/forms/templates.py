"""Forms of a prompt template, typed or uploaded, and of the item for its preview."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.errors import InvalidValueError
from judges.core.models import Judge
from judges.endpoints.commands import refuse_text
from judges.methods import METHODS
from judges.methods.reading.reader import LONGEST, problem_of_pattern

LARGEST_FILE = 200_000
LONGEST_TEXT = 100_000


class TemplateForm(forms.Form):
    """A template's name and prompt, or one dimension's wording; an uploaded file replaces the prompt."""

    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"dir": "auto"}))
    text = forms.CharField(
        required=False,
        strip=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 22, "dir": "auto", "spellcheck": "false", "class": "code"}),
    )
    file = forms.FileField(
        label=_("Or upload a file"),
        required=False,
        help_text=_(
            "Plain UTF-8 file. Concord uses it word for word, with the placeholders in double braces."
        ),
    )

    pattern = forms.CharField(
        label=_("Pattern of the answer"),
        required=False,
        max_length=LONGEST,
        widget=forms.TextInput(attrs={"spellcheck": "false", "placeholder": r"Final grade: (\w+)"}),
        help_text=_(
            "For replies that the rules cannot read: a regular expression. Its last match counts, of it the "
            "first group. Empty: the rules. Not for JSON of a given shape, nor for probabilities."
        ),
    )
    replies = forms.CharField(
        label=_("Replies to try it on"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto", "spellcheck": "false"}),
        help_text=_("Paste some; a line of three dashes divides them. They are not saved."),
    )

    def __init__(
        self,
        *args: Any,
        method: str,
        named: bool = False,
        of_dimension: bool = False,
        reads: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.method = method
        if named:
            del self.fields["name"]
        if of_dimension or METHODS[method].takes_steps:  # no single reply has the value
            del self.fields["pattern"], self.fields["replies"]
        for field in self.fields.values():
            field.disabled = reads

    def clean_file(self) -> str:
        file: UploadedFile[Any] | None = self.cleaned_data["file"]
        if file is None:
            return ""
        if (file.size or 0) > LARGEST_FILE:
            raise forms.ValidationError(gettext("This file is too large for a prompt."))
        try:
            text: str = file.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise forms.ValidationError(gettext("This file is not valid UTF-8; save it as UTF-8.")) from None
        return text

    def clean_pattern(self) -> str:
        pattern: str = self.cleaned_data["pattern"]
        if problem := problem_of_pattern(pattern):
            raise forms.ValidationError(problem)
        return pattern

    def clean(self) -> dict[str, Any]:
        """Reject placeholders that the method does not support, or missing ones that it needs."""
        data = self.cleaned_data
        text = data.get("file") or data.get("text", "")
        data["text"] = text.replace("\r\n", "\n")
        if not self.errors:
            try:
                refuse_text(self.method, data["text"])
            except InvalidValueError as error:
                self.add_error("text", error.message)
        return data


class StepsForm(forms.Form):
    """The judge with the model that writes evaluation steps."""

    judge = forms.ModelChoiceField(
        Judge.objects.none(), label=_("Judge with the model to use"), empty_label=None
    )

    def __init__(self, entered: Mapping[str, Any] | None, *, judges: QuerySet[Judge]) -> None:
        super().__init__(entered)
        field = self.fields["judge"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = judges


class ShownOnForm(forms.Form):
    """The item and dimension of a prompt preview; invalid values fall back to the first ones."""

    on_dimension = forms.ChoiceField(label=_("Dimension"), required=False)
    on_item = forms.IntegerField(label=_("Item"), required=False, min_value=1, initial=1)

    def __init__(self, *args: Any, dimensions: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["on_dimension"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = dimensions

    def preview_choice(self, dimension: str = "") -> dict[str, Any]:
        """Return the dimension's key and the item's number, as a preview expects them.

        dimension: the only one to show it on, if there is one.
        """
        self.is_valid()
        data = self.cleaned_data if self.is_bound else {}
        chosen = dimension or data.get("on_dimension") or ""
        return {"dimension": chosen, "number": data.get("on_item") or 1}
