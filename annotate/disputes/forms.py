"""Forms of pages about disputes, with typed values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from django import forms
from django.db.models import OuterRef, Subquery
from django.forms.boundfield import BoundField
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.guidelines import format_value
from annotate.core.models import Dimension, Dispute, Membership, Project, Role, User
from annotate.core.page import chosen_values, offer_choices, query_of
from annotate.core.rounds import disputes_of
from annotate.core.scale import is_on_scale
from annotate.core.strings import natural_key
from annotate.disputes.commands.disputes import OwnRule, adjudicate, ask_again, leave_open, open_again
from annotate.disputes.queries.activity import DisputeFilter
from annotate.disputes.queries.disputes import PendingStep, WorkFilter
from annotate.disputes.queries.rules import Rule, RulePreview
from annotate.rating.forms import DataField, EvidenceField, PointsFormField
from annotate.rating.queries.own_items import has_many_documents

# Decisions without a value, by the name of their button.
DECISIONS: dict[str, Callable[..., Dispute]] = {
    "leave_open": leave_open,
    "open_again": open_again,
    "ask_again": ask_again,
}
SILENT = [
    ("", _("any time")),
    ("1", _("a day")),
    ("3", _("3 days")),
    ("7", _("7 days")),
    ("14", _("14 days")),
]


class DisputeAnswerForm(forms.Form):
    """Keep the answer (`keep`: its value on the page) or change it, with reason and evidence.

    A short reason, or `differs`, keeps the answer, too. `take_over` copies another rater's answer. The page
    sends an answer of several pieces as `data`; `kept_data` is the data of the answer on the page.
    `only_send`: the comment is a message to the other raters, and no answer.
    """

    keep = PointsFormField(required=False)
    kept_data = DataField(required=False)
    take_over = DataField(required=False)
    value = PointsFormField(
        required=False, error_messages={"invalid": _("A rating is a number on the scale.")}
    )
    data = DataField(required=False)  # type: ignore[assignment]  # a field's name is no attribute
    comment = forms.CharField(required=False)
    short_reason = forms.CharField(required=False)
    differs = forms.BooleanField(required=False)
    evidence = EvidenceField(required=False)
    # Required: without it, an answer from an outdated page would overwrite a newer one.
    seen_revision = forms.IntegerField(
        min_value=0, error_messages={"required": _("This page is out of date; load it again.")}
    )

    seen_status = forms.CharField(required=False)
    guideline_version = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    stay = forms.BooleanField(required=False)
    only_send = forms.BooleanField(required=False)

    @property
    def given(self) -> dict[str, Any]:
        given = (
            *("value", "data", "comment", "short_reason", "differs", "evidence"),
            *("seen_revision", "seen_status", "guideline_version"),
        )
        return {name: self.cleaned_data[name] for name in given}

    def clean(self) -> dict[str, object]:
        """Require an answer to keep or to change to: a missing number does not mean to keep."""
        data = super().clean() or {}
        if data.get("only_send"):
            return data
        # Both keep the answer, whatever value the page has selected.
        if data.get("short_reason") or data.get("differs"):
            data["value"] = data["data"] = None
        elif data.get("keep") is not None:
            data["value"], data["data"] = data["keep"], data.get("kept_data")
        elif data.get("take_over"):
            data["value"], data["data"] = None, data["take_over"]
        elif data.get("value") is None and data.get("data") is None and not self.errors:
            self.add_error("value", gettext("Choose the value to change to, or keep yours."))
        return data


class UndoForm(forms.Form):
    """The answer to undo."""

    revision = forms.IntegerField(
        min_value=1, error_messages={"required": _("This page is out of date; load it again.")}
    )


class WordingForm(forms.Form):
    """The version of the guideline that the user read."""

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1)


class AfterForm(forms.Form):
    """The number of the dispute that was answered before this page, from its URL."""

    after = forms.IntegerField(min_value=1, max_value=2**31 - 1)


class PostForm(forms.Form):
    """One message of the thread; length and emptiness are judged by the command."""

    text = forms.CharField(required=False)


class AdjudicationForm(forms.Form):
    """A decision about a disputed unit: an answer, to leave it open, or to open it again.

    `reason` is one of the project's short reasons; with a note, it comes first.
    """

    value = PointsFormField(
        required=False, error_messages={"invalid": _("A rating is a number on the scale.")}
    )
    data = DataField(required=False)  # type: ignore[assignment]  # a field's name is no attribute
    note = forms.CharField(required=False, strip=True)
    reason = forms.CharField(required=False)
    leave_open = forms.BooleanField(required=False)
    open_again = forms.BooleanField(required=False)
    ask_again = forms.BooleanField(required=False)

    @property
    def _decision(self) -> Callable[..., Dispute] | None:
        """The decision without a value, None if it is one."""
        chosen = self.cleaned_data
        return next((decide for name, decide in DECISIONS.items() if chosen.get(name)), None)

    def clean(self) -> dict[str, object]:
        """Require a value unless the unit is to remain open, to be reopened or answered again."""
        data = super().clean() or {}
        data["note"] = " · ".join(filter(None, (data.get("reason"), data.get("note"))))
        is_empty = data.get("value") is None and data.get("data") is None
        if self._decision is None and is_empty and "value" not in self.errors:
            self.add_error("value", gettext("Choose the final value."))
        return data

    def decide(self, dispute: Dispute, *, by: User) -> None:
        """Carry out the decision of a valid form."""
        data, note = self.cleaned_data, self.cleaned_data["note"]
        if self._decision:
            self._decision(dispute=dispute, note=note, by=by)
        else:
            adjudicate(dispute=dispute, value=data["value"], data=data["data"], note=note, by=by)


class DisputeFilterForm(forms.Form):
    """Filters for the disputes of a project. An unknown value matches all.

    with_labels: raters have the names that admins use, as in the list.
    """

    status = forms.ChoiceField(required=False, choices=[("", _("any")), *Dispute.Status.choices])
    dimension = forms.ChoiceField(required=False)
    silent = forms.TypedChoiceField(
        required=False, choices=SILENT, coerce=int, empty_value=None, label=_("Open without a word for")
    )
    rater = forms.ChoiceField(required=False, label=_("Waiting on"))

    def __init__(self, entered: QueryDict, *, project: Project, with_labels: bool = False) -> None:
        super().__init__(entered)
        dimensions = project.dimensions.values_list("key", "name")
        raters = project.memberships.filter(role=Role.ANNOTATOR).order_by("alias")
        anyone = ("", gettext("any"))
        named = (
            (each.alias, each.label if with_labels else gettext("Rater {alias}").format(alias=each.alias))
            for each in raters
        )
        offer_choices(self, "dimension", [anyone, *dimensions])
        offer_choices(self, "rater", [anyone, *named])

    @property
    def chosen(self) -> DisputeFilter:
        return DisputeFilter(**chosen_values(self))

    @property
    def query(self) -> str:
        # Without `all` a reader who also rates would get the list of the own disputes.
        return query_of({"all": 1, **vars(self.chosen)})


class WorkFilterForm(forms.Form):
    """Filters for a rater's own disputes. An unknown value matches all."""

    waits = forms.ChoiceField(
        required=False, label=_("Waits"), choices=[("", _("for anybody")), *PendingStep.choices]
    )
    is_new = forms.TypedChoiceField(
        required=False,
        label=_("New"),
        choices=[("", _("or not")), ("1", _("since my last visit"))],
        coerce=bool,
        empty_value=None,
    )
    dimension = forms.ChoiceField(required=False, label=_("Dimension"))
    document = forms.ChoiceField(required=False, label=_("Document"))
    words = forms.CharField(required=False, label=_("Words in the text"), max_length=200)

    def __init__(self, entered: QueryDict, *, membership: Membership) -> None:
        super().__init__(entered)
        own, anything = disputes_of(membership).order_by(), ("", gettext("any"))
        # Not EXISTS, for which PostgreSQL would read all of the rater's disputes.
        one_of_them = Subquery(own.filter(dimension=OuterRef("pk")).values("pk")[:1])
        disputed = Dimension.objects.filter(project=membership.project_id).annotate(dispute=one_of_them)
        dimensions = disputed.filter(dispute__isnull=False).values_list("key", "name")
        offer_choices(self, "dimension", [anything, *sorted(dimensions, key=itemgetter(1))])
        if has_many_documents(membership.project_id):
            # Thousands of choices take longer than the page; the words find a document's title, too.
            del self.fields["document"]
        else:
            documents = own.values_list("item__document__key", "item__document__title").distinct()
            by_title = sorted(documents, key=lambda document: natural_key(document[1]))
            offer_choices(self, "document", [anything, *by_title])

    @property
    def chosen(self) -> WorkFilter:
        return WorkFilter(**chosen_values(self))

    @property
    def is_narrowed(self) -> bool:
        return self.chosen != WorkFilter()


# Dispute rules: the project's, and those for dimensions that differ from it.

# The longest scale runs from -1000 to 1000.
LARGEST = 2000


class ShortReasonsField(forms.CharField):
    """Short reasons, one on a line."""

    widget = forms.Textarea(attrs={"rows": 4})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        """Return the non-empty lines, each once."""
        lines = [line.strip() for line in super().clean(value).splitlines()]
        return list(dict.fromkeys(filter(None, lines)))


class DisputeRulesForm(forms.Form):
    """A threshold and a tolerance for the project; each dimension may have its own, or leave it empty."""

    threshold = forms.IntegerField(
        min_value=1,
        max_value=LARGEST,
        help_text=_("A unit whose Round I values lie this far apart is disputed."),
    )
    tolerance = forms.IntegerField(
        min_value=0, max_value=LARGEST, help_text=_("It is settled when all values lie within this distance.")
    )
    keep_reasons = ShortReasonsField(
        required=False,
        label=_("Short reasons"),
        help_text=_(
            "One on a line. In Round II raters choose one to keep a value without writing; the reasons are "
            "counted and exported."
        ),
    )

    def __init__(
        self,
        entered: Mapping[str, Any] | None,
        *,
        project: Project,
        previews: Sequence[RulePreview],
        frozen: bool = False,
    ) -> None:
        self.previews = [preview for preview in previews if preview.has_own_rule]
        initial: dict[str, Any] = {"threshold": project.dispute_threshold, "tolerance": project.tolerance}
        initial["keep_reasons"] = project.keep_reasons
        for preview in self.previews:
            initial[field_name("threshold", preview.dimension)] = preview.dimension.dispute_threshold
            initial[field_name("tolerance", preview.dimension)] = preview.dimension.tolerance
        super().__init__(entered, initial=initial)
        for preview in self.previews:
            step = preview.step
            usual = "project’s" if preview.is_scale else format_value(preview.kind.threshold)
            for what, least in (("threshold", step), ("tolerance", 0)):
                label = gettext("{capitalize} of {name}")
                shown = usual if what == "threshold" or preview.is_scale else ""
                self.fields[field_name(what, preview.dimension)] = PointsFormField(
                    required=False,
                    min_value=least,
                    # Distances of other questions are between 0 and 1.
                    max_value=LARGEST if preview.is_scale else 1,
                    label=label.format(capitalize=what.capitalize(), name=preview.dimension.name),
                    widget=forms.NumberInput(attrs={"placeholder": shown, "step": str(step)}),
                )
        for field in self.fields.values():
            field.disabled = frozen

    def rows(
        self, previews: Sequence[RulePreview]
    ) -> Iterator[tuple[RulePreview, BoundField | None, BoundField | None]]:
        """Yield every dimension with its two fields; None for categories, which have a fixed rule."""
        for preview in previews:
            names = [field_name(what, preview.dimension) for what in ("threshold", "tolerance")]
            threshold, tolerance = (self[name] if name in self.fields else None for name in names)
            yield preview, threshold, tolerance

    def clean(self) -> dict[str, Any]:
        """Reject tolerances that would settle a disputed unit, and thresholds longer than a scale."""
        values = self.cleaned_data
        self._compare(values.get("threshold"), values.get("tolerance"), "tolerance")
        for preview in self.previews:
            names = [field_name(what, preview.dimension) for what in ("threshold", "tolerance")]
            own_threshold, own_tolerance = (values.get(name) for name in names)
            # Without an own threshold, a scale follows the threshold entered for the project.
            usual = values.get("threshold") if preview.is_scale else preview.kind.threshold
            self._compare(own_threshold or usual, own_tolerance, names[1])
            for name in names:
                self._refuse_off_steps(name, values.get(name), preview.step)
            if own_threshold is not None and own_threshold > preview.longest:
                sentence = gettext("The scale is only {longest} long: nothing could be disputed.")
                self.add_error(names[0], sentence.format(longest=preview.longest))
        return values

    @property
    def rule(self) -> Rule:
        return Rule(self.cleaned_data["threshold"], self.cleaned_data["tolerance"])

    @property
    def own(self) -> dict[int, OwnRule]:
        """Return the rules of dimensions that differ from the project's, by their keys."""
        names = ("threshold", "tolerance")
        dimensions = [preview.dimension for preview in self.previews]
        return {
            each.pk: OwnRule(*(self.cleaned_data[field_name(name, each)] for name in names))
            for each in dimensions
        }

    def _refuse_off_steps(self, field: str, value: float | None, step: float) -> None:
        if value is None or is_on_scale(value, 0, LARGEST, 1) or is_on_scale(value, 0, LARGEST, step):
            return
        if step == 1:
            self.add_error(field, gettext("Enter a whole number."))
        else:
            sentence = gettext("Enter whole points, or a multiple of {step}.")
            self.add_error(field, sentence.format(step=format_value(step)))

    def _compare(self, threshold: float | None, tolerance: float | None, field: str) -> None:
        if threshold is not None and tolerance is not None and tolerance >= threshold:
            self.add_error(field, gettext("The tolerance must be less than the threshold."))


def field_name(what: str, dimension: Dimension) -> str:
    return f"{what}_{dimension.pk}"
