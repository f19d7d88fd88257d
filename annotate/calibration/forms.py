"""Forms of pages about calibration sessions."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.core.models import Document, Project, Role

LISTED = 100  # documents to choose from


class SessionForm(forms.Form):
    documents = forms.ModelMultipleChoiceField(
        queryset=Document.objects.none(), widget=forms.CheckboxSelectMultiple, label=_("Documents")
    )
    annotators = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, label=_("Annotators"))

    def __init__(self, entered: Any, *, project: Project) -> None:
        super().__init__(entered)
        listed = list(project.documents.order_by("pk").values_list("pk", flat=True)[:LISTED])
        documents: Any = self.fields["documents"]
        documents.queryset = project.documents.filter(pk__in=listed).order_by("pk")
        members = project.memberships.filter(role=Role.ANNOTATOR, active=True, user__isnull=False)
        annotators: Any = self.fields["annotators"]
        annotators.choices = [(str(each.pk), each.label) for each in members.order_by("alias")]
        self.initial = {"annotators": [key for key, _name in annotators.choices]}

    @property
    def chosen(self) -> dict[str, list[int]]:
        data = self.cleaned_data
        return {
            "documents": [each.pk for each in data["documents"]],
            "annotators": [int(each) for each in data["annotators"]],
        }


class AgreedForm(forms.Form):
    text = forms.CharField(
        required=False,
        max_length=20_000,
        label=_("Agreement"),
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text=_("Markdown. It is added at the end of the project’s guidelines."),
    )
