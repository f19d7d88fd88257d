"""How Round I is to be shared out."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.models import AssignmentPlan, Project
from annotate.planning import ListRefusedError, read_list
from annotate.queries.plans import names_of_annotators, names_of_items

Kind = AssignmentPlan.Kind
KEPT = ("kind", "share", "gold_every", "repeat_every")
LARGEST_LIST = 20 * 1024**2


class PlanForm(forms.Form):
    """A kind of plan with what it needs."""

    kind = forms.ChoiceField(
        label=_("How items are shared out"),
        widget=forms.RadioSelect,
        choices=[
            (Kind.QUEUE, "Shared queue: whoever asks for work gets the next items; people may join later."),
            (Kind.EVERYONE, "Everyone rates everything."),
            (Kind.BALANCED, "N of M, dealt out evenly: equal loads, and pairs share nearly equal numbers."),
            (Kind.SHARING, "Every pair shares a set share of items: enough for a coefficient of each pair."),
            (Kind.LISTED, "Fixed lists from a file."),
        ],
    )
    share = forms.IntegerField(
        label=_("Percent of items that every pair shares"),
        min_value=0,
        max_value=100,
        help_text=_(
            "For “every pair shares”. Where raters per item give less, everyone rates a random block."
        ),
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
        super().__init__(entered, files, initial={name: getattr(choice, name) for name in KEPT})

    def clean(self) -> dict[str, Any]:
        """Read the list where one is needed; one that is kept need not be sent again."""
        values = self.cleaned_data
        values["pairs"] = []
        if values.get("kind") == Kind.LISTED and "file" not in self.errors:
            if values.get("file"):
                values["pairs"] = self._read(values["file"], self.choice.project)
            elif self.choice.kind == Kind.LISTED and self.choice.pairs:
                values["pairs"] = [(item, annotator) for item, annotator in self.choice.pairs]
            else:
                self.add_error("file", gettext("Choose the file with the lists."))
        return values

    def _read(self, file: "UploadedFile[Any]", project: Project) -> list[tuple[int, int]]:
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
