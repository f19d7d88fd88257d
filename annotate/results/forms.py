"""The filter of units by disagreement."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.models import Document, Project, System
from annotate.core.page import offer_choices
from annotate.questions.scale import SCALE
from annotate.rating.queries.own_items import has_many_documents
from annotate.results.queries.disagreements import Disagreement


class DisagreementForm(forms.Form):
    """Dimension, system, document, and minimum range; unknown values select all."""

    dimension = forms.ChoiceField(label=_("Dimension"), required=False)
    apart = forms.FloatField(label=_("Minimum difference"), min_value=0, max_value=100, required=False)
    system = forms.ChoiceField(label=_("System"), required=False)
    document = forms.ChoiceField(label=_("Document"), required=False)

    def __init__(self, asked: QueryDict, *, project: Project, shows_systems: bool) -> None:
        super().__init__({"apart": 1, **{name: asked[name] for name in asked}})
        any_of = [("", gettext("any"))]
        systems = System.objects.filter(project=project, compares=False).order_by("name")
        self._documents = Document.objects.filter(project=project)
        choices: dict[str, Any] = {
            "dimension": project.dimensions.filter(kind=SCALE.key)
            .order_by("position")
            .values_list("key", "name"),
            "system": systems.values_list("name", "name"),
        }
        if has_many_documents(project.pk):  # thousands of choices take longer than the rest of the page
            self.fields["document"] = forms.CharField(label=_("Key of the document"), required=False)
        else:
            choices["document"] = self._documents.order_by("key").values_list("key", "key")
        for name, listed in choices.items():
            offer_choices(self, name, [*any_of, *listed])
        if not shows_systems:
            del self.fields["system"]

    def clean_document(self) -> str:
        """Return the key of an existing document."""
        key: str = self.cleaned_data["document"]
        if key and not self._documents.filter(key=key).exists():
            raise forms.ValidationError(_("No document has this key."))
        return key

    @property
    def meant(self) -> Disagreement:
        """The filter."""
        return Disagreement(**self._chosen_values)

    @property
    def query(self) -> str:
        """The filter as a URL query."""
        return urlencode(self._chosen_values)

    @property
    def _chosen_values(self) -> dict[str, Any]:
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}
