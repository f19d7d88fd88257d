"""Forms of the pages about rating."""

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.forms.models import model_to_dict
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import format_value
from annotate.core.models import AssignmentPlan, DimensionOrder, Project, WorkOrder
from annotate.core.page import chosen_values, query_of
from annotate.core.scale import int_if_whole
from annotate.rating.commands.ratings import Answer, SaveOrigin
from annotate.rating.evidence import Passage
from annotate.rating.planning import ListRefusedError, read_list
from annotate.rating.queries.own_items import Marked, OwnFilter
from annotate.rating.queries.plans import names_of_annotators, names_of_items

# The longest scale of whole points, from -1000 to 1000, has this number of values.
MOST_VALUES = 2001  # of a scale that are offered to choose from

# The day by which a round shall be done.


class DeadlineForm(forms.Form):
    """A day, or none."""

    deadline = forms.DateField(
        required=False,
        label=_("Raters should finish by the end of"),
        help_text=(
            _(
                "Leave it empty for no deadline. After the deadline raters can continue, and you "
                "are reminded to close the round or move the deadline."
            )
        ),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={"invalid": _("Write the day as 2026-12-31.")},
    )


# How Round I is to be shared out.

Kind, DealtBy = AssignmentPlan.Kind, AssignmentPlan.DealtBy
LARGEST_LIST = 20 * 1024**2


class PlanForm(forms.Form):
    kind = forms.ChoiceField(
        label=_("How items are shared out"),
        widget=forms.RadioSelect,
        choices=[
            (
                Kind.QUEUE,
                _("Shared queue: whoever asks for work gets the next items; people may join later."),
            ),
            (Kind.EVERYONE, _("Everyone rates everything.")),
            (
                Kind.BALANCED,
                _("N of M, dealt out evenly: equal loads, and pairs share nearly equal numbers."),
            ),
            (
                Kind.SHARING,
                _("Every pair shares a set share of items: enough for a coefficient of each pair."),
            ),
            (Kind.LISTED, _("Fixed lists from a file.")),
        ],
    )
    share = forms.IntegerField(
        label=_("Percent of items that every pair shares"),
        min_value=0,
        max_value=100,
        help_text=_(
            "For “every pair shares”. If the raters per item allow less, everyone rates a random block."
        ),
    )
    dealt_by = forms.ChoiceField(
        label=_("What is dealt out"),
        required=False,
        widget=forms.RadioSelect,
        choices=[
            (DealtBy.DOCUMENTS, _("Whole documents: the same people rate all systems of a document.")),
            (DealtBy.ITEMS, _("Single items: loads are equal to one item.")),
        ],
        help_text=_(
            "For “N of M” and “every pair shares”. With whole documents no system meets stricter raters."
        ),
    )
    work_order = forms.ChoiceField(
        label=_("Order of work"),
        required=False,
        widget=forms.RadioSelect,
        choices=[
            (WorkOrder.BY_DOCUMENT, _("By document: each document is read once, and its items follow.")),
            (WorkOrder.MIXED, _("Fully mixed: items come in random order over all documents.")),
        ],
        help_text=_("Documents, and the items of each, come in an order drawn for each annotator."),
    )
    dimension_order = forms.ChoiceField(
        label=_("Order of dimensions"),
        required=False,
        widget=forms.RadioSelect,
        choices=[
            (DimensionOrder.FIXED, _("As they are listed, the same for everyone.")),
            (DimensionOrder.DRAWN, _("Drawn once for each annotator, so that none always comes first.")),
        ],
    )
    gold_every = forms.IntegerField(
        label=_("Hidden gold after every … items"),
        min_value=0,
        max_value=1000,
        help_text=_("Items marked as hidden gold, among each annotator’s own. 0: none."),
    )
    repeat_every = forms.IntegerField(
        label=_("An item a second time after every … items"),
        min_value=0,
        max_value=1000,
        help_text=_("At least ten items later, to see how far people agree with themselves. 0: none."),
    )
    file = forms.FileField(
        label=_("List (CSV)"),
        required=False,
        help_text=_(
            "For fixed lists: columns item,annotator. An item is its document, a slash and its system; "
            "an annotator is a name, an address or a letter. Items that are not listed get no rater."
        ),
    )

    def __init__(self, entered: Any, files: Any, *, choice: AssignmentPlan) -> None:
        self.choice = choice
        super().__init__(entered, files, initial=model_to_dict(choice, AssignmentPlan.SETTINGS))

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        # Lists belong to fixed lists only; another plan drops them.
        values["pairs"] = []
        # A request without these settings keeps the present ones.
        for name in ("dealt_by", "work_order", "dimension_order"):
            values[name] = values.get(name) or getattr(self.choice, name)
        if values.get("kind") == Kind.LISTED and "file" not in self.errors:
            if values.get("file"):
                values["pairs"] = self._read_list(values["file"], self.choice.project)
            # Without a new file the stored lists stay.
            elif self.choice.kind == Kind.LISTED and self.choice.pairs:
                values["pairs"] = [(item, annotator) for item, annotator in self.choice.pairs]
            else:
                self.add_error("file", gettext("Choose the file with the lists."))
        return values

    def _read_list(self, file: "UploadedFile[Any]", project: Project) -> list[tuple[int, int]]:
        if (file.size or 0) > LARGEST_LIST:
            self.add_error(
                "file", gettext("The file is larger than {value} MB.").format(value=LARGEST_LIST // 1024**2)
            )
            return []
        try:
            text = file.read().decode("utf-8-sig")
            return read_list(text, items=names_of_items(project), annotators=names_of_annotators(project))
        except UnicodeDecodeError:
            self.add_error("file", gettext("The file is not in UTF-8. Save it as UTF-8 and send it again."))
        except ListRefusedError as refused:
            self.add_error("file", refused.reasons)
        return []


# Data from the rating page.

NOT_APPLICABLE = "not_applicable"
MOST_ANSWERS = 1000  # in one request; a page sends up to one for each of its dimensions


NO_EVIDENCE = _("Evidence is a list of passages, each with its part, its start and its end.")


class PointsFormField(forms.FloatField):
    def to_python(self, value: Any) -> Any:
        found = super().to_python(value)
        # Whole numbers are ints, as the database returns them; validation rejects infinite ones.
        return found if found is None or not isfinite(found) else int_if_whole(found)


class ValueField(PointsFormField):
    """A value, or the word for "not applicable"."""

    def to_python(self, value: Any) -> Any:
        return NOT_APPLICABLE if value == NOT_APPLICABLE else super().to_python(value)

    def validate(self, value: Any) -> None:
        if value != NOT_APPLICABLE:
            super().validate(value)


class EvidenceField(forms.Field):
    def to_python(self, value: Any) -> Any:
        try:
            rows = json.loads(value or "[]")
            passages = sorted(Passage(*row) for row in rows)
        except (ValueError, TypeError, RecursionError):
            raise forms.ValidationError(NO_EVIDENCE) from None
        # `true` is an int for Python, and 1.0 compares like one.
        if not all(type(number) is int for row in rows for number in row):
            raise forms.ValidationError(NO_EVIDENCE)
        return tuple(passages)


class DataField(forms.JSONField):
    def to_python(self, value: Any) -> Any:
        # A queued answer of a JSON list has an object here; the page's field has a string.
        if not value or isinstance(value, dict):
            return value or None
        try:
            data = json.loads(value)
        except (ValueError, TypeError, RecursionError):
            data = False
        if data is not None and not isinstance(data, dict):
            raise forms.ValidationError(_("The answer cannot be read; choose it again."))
        return data or None


class AnswerForm(forms.Form):
    value = ValueField(required=False, error_messages={"invalid": _("A rating is a number on the scale.")})
    unsure = forms.BooleanField(required=False)
    cannot_rate = forms.BooleanField(required=False)
    comment = forms.CharField(required=False, strip=False)
    evidence = EvidenceField(required=False)
    data = DataField(required=False)  # type: ignore[assignment]  # a field's name is no attribute
    # The largest numbers fit the database's columns: PostgreSQL raises an error beyond them.
    revision = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
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
            data["data"],
        )

    def to_sent(self) -> SaveOrigin:
        data = self.cleaned_data
        return SaveOrigin(
            data["revision"] or 0,
            data["active_seconds"] or 0.0,
            data["client"],
            data["sequence"] or 0,
            data["guideline"],
        )

    @property
    def is_untouched(self) -> bool:
        """True if the answer is empty, before and now."""
        return self.answer() == Answer() and not self.cleaned_data["revision"]


def sent_answers(text: str) -> list[dict[str, Any]]:
    """Return the answers of a request with several: a JSON list of objects with the form's fields."""
    try:
        answers = json.loads(text)
    except (ValueError, RecursionError):
        answers = None
    if (
        not isinstance(answers, list)
        or not 0 < len(answers) <= MOST_ANSWERS
        or not all(isinstance(answer, dict) for answer in answers)
    ):
        raise InvalidValueError(
            gettext("Send a list of 1 to {count} answers, each with its fields.").format(count=MOST_ANSWERS)
        )
    return answers


class _Shared(dict[str, forms.Field]):
    """Fields that no form changes, so that none needs a copy: copying took longer than reading an answer."""

    def __deepcopy__(self, _memo: object) -> "_Shared":
        return self


AnswerForm.base_fields = _Shared(AnswerForm.base_fields)


class OwnWorkForm(forms.Form):
    """A filter of an annotator's own items; an unknown value matches all."""

    document = forms.ChoiceField(required=False, label=_("Document"))
    title = forms.CharField(required=False, label=_("Words in the document’s title"), max_length=200)
    dimension = forms.ChoiceField(required=False, label=_("Dimension"))
    value = forms.TypedChoiceField(
        required=False, label=_("Value"), coerce=lambda text: int_if_whole(float(text)), empty_value=None
    )
    marked = forms.MultipleChoiceField(
        required=False, label=_("Only"), choices=Marked.choices, widget=forms.CheckboxSelectMultiple
    )

    def __init__(
        self,
        entered: QueryDict,
        *,
        dimensions: Sequence[FrozenDimension],
        documents: Sequence[tuple[str, str]] | None,
    ) -> None:
        super().__init__(entered)
        # Thousands of choices would take longer than the page, and are useless to search.
        self.fields.pop("document" if documents is None else "title")
        values = sorted({value for each in dimensions if each.is_scale for value in each.values})
        choices: dict[str, Sequence[tuple[Any, Any]]] = {
            "document": [(key, title or key) for key, title in documents or ()],
            "dimension": [(each.key, each.name) for each in dimensions],
            "value": [(value, format_value(value)) for value in values[:MOST_VALUES]],
        }
        for name, known in choices.items():
            if isinstance(field := self.fields.get(name), forms.ChoiceField):
                field.choices = [("", gettext("any")), *known]

    @property
    def chosen(self) -> OwnFilter:
        return OwnFilter(**chosen_values(self))

    @property
    def query(self) -> str:
        return query_of(vars(self.chosen))
