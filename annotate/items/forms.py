"""Forms for finding items and for actions on many items."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.metadata import metadata_names
from annotate.core.models import ItemTag, Project, System
from annotate.core.page import chosen_values, offer_choices, query_of
from annotate.items.queries import ItemFilter, ItemOrder, RatedState, tags_of
from annotate.items.registry import MARKS


class ItemFilterForm(forms.Form):
    """The filter of the list of items; unknown values select all."""

    words = forms.CharField(
        label=_("Search"), required=False, max_length=200, widget=forms.TextInput({"type": "search"})
    )
    document = forms.CharField(label=_("Document key"), required=False, max_length=200)
    system = forms.ChoiceField(label=_("System"), required=False)
    state = forms.ChoiceField(
        label=_("Round I"), required=False, choices=[("", _("any")), *RatedState.choices]
    )
    raters = forms.IntegerField(label=_("Minimum raters"), required=False, min_value=0, max_value=1000)
    apart = forms.IntegerField(label=_("Minimum difference"), required=False, min_value=0, max_value=2000)
    tag = forms.ChoiceField(label=_("Tag"), required=False)
    metadata = forms.ChoiceField(label=_("Metadata"), required=False)
    metadata_value = forms.CharField(label=_("Value of the metadata"), required=False, max_length=200)
    order = forms.ChoiceField(label=_("Order"), required=False, choices=ItemOrder.choices)
    marked = forms.MultipleChoiceField(label=_("Only"), required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, entered: QueryDict, *, project: Project, shows_systems: bool) -> None:
        super().__init__(entered)
        listed = System.objects.filter(project=project, compares=False)
        systems = listed.order_by("name").values_list("name", flat=True)
        columns = metadata_names(project, of_items=shows_systems)  # an item's may name the system
        for name, known in (("system", systems), ("tag", tags_of(project)), ("metadata", columns)):
            offer_choices(self, name, [("", gettext("any")), *((each, each) for each in known)])
        offer_choices(self, "marked", [(mark.name, mark.label) for mark in MARKS.values()])
        # Without the field, a filter in the URL cannot reveal which items a hidden system produced.
        if not shows_systems:
            del self.fields["system"]
        if not columns:
            del self.fields["metadata"], self.fields["metadata_value"]

    @property
    def chosen(self) -> ItemFilter:
        return ItemFilter(**chosen_values(self))

    @property
    def query(self) -> str:
        return query_of(vars(self.chosen))

    @property
    def chips(self) -> list[tuple[str, str]]:
        """Each active filter as a label and the query without it. The order is no filter."""
        given = {name: value for name, value in vars(self.chosen).items() if value not in ("", None, ())}
        shown = []
        for name in given:
            if name in ("order", "metadata_value"):
                continue
            without = {**vars(self.chosen), name: () if name == "marked" else None}
            label, described = str(self.fields[name].label), self._describe(name, given[name])
            if name == "metadata":
                without["metadata_value"] = None
                described = f"{described} = {given.get('metadata_value', gettext('any'))}"
            shown.append((f"{label}: {described}", query_of(without)))
        return shown

    def _describe(self, name: str, value: object) -> str:
        labels = dict(getattr(self.fields[name], "choices", ()))
        values = value if isinstance(value, tuple) else (value,)
        return ", ".join(str(labels.get(each, each)) for each in values)


class BulkForm(forms.Form):
    TAG, UNTAG, SEND = "tag", "untag", "send"

    act = forms.ChoiceField(choices=[(TAG, TAG), (UNTAG, UNTAG), (SEND, SEND)])
    tag = forms.CharField(
        label=_("Tag"), required=False, max_length=ItemTag._meta.get_field("name").max_length
    )
    raters = forms.IntegerField(label=_("Raters for each"), required=False, min_value=1, max_value=100)
    item = forms.TypedMultipleChoiceField(required=False, coerce=int)
    everything = forms.BooleanField(required=False)

    def __init__(self, entered: QueryDict | None = None) -> None:
        # Both forms are on one page, and ids of HTML elements must be unique.
        super().__init__(entered, auto_id="bulk_%s")
        field = self.fields["item"]
        assert isinstance(field, forms.TypedMultipleChoiceField)
        field.choices = (
            # The view keeps only items of the project, so the form accepts any key.
            # Longer numbers can exceed 64 bits, and the database would raise an error.
            [(each, each) for each in entered.getlist("item") if each.isdecimal() and len(each) < 18]
            if entered
            else []
        )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if not given.get("everything") and not given.get("item"):
            raise forms.ValidationError(_("Select items first, or select all items that match."))
        if given.get("act") == self.SEND and not given.get("raters"):
            self.add_error("raters", _("Enter the number of raters for each item."))
        return given
