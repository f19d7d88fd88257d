"""Forms of the pages about raters from outside."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.models import OutsideStudy, PayRule
from annotate.people.outside import SETTINGS

MOST_QUESTIONS, MOST_CHOICES, LONGEST_QUESTION, LONGEST_ANSWER = 20, 30, 300, 500


def check_redirect(url: str) -> None:
    """Raise ValidationError unless a redirect to this URL is safe: https, a host, no password."""
    URLValidator(schemes=["https"])(url)
    if "@" in urlsplit(url).netloc:
        raise ValidationError(gettext("Enter the URL without a name or password in it."))


def _url(label: Any, help_text: Any = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        required=False,
        max_length=500,
        help_text=help_text,
        validators=[check_redirect],
        error_messages={"invalid": _("Enter a URL that starts with https://.")},
        widget=forms.URLInput(attrs={"placeholder": "https://"}),
    )


def _code(label: Any, help_text: Any = "") -> forms.CharField:
    return forms.CharField(label=label, required=False, max_length=100, help_text=help_text)


class StudyForm(forms.Form):
    """Settings of a study: link, consent, questions, limits, end and pay."""

    is_open = forms.BooleanField(
        label=_("The link is open"),
        required=False,
        help_text=_("Closed: nobody new joins. Raters who joined before continue."),
    )
    most_raters = forms.IntegerField(
        label=_("Raters at most"), min_value=1, max_value=100_000, help_text=_("The link closes after these.")
    )
    consent = forms.CharField(
        label=_("Consent text"),
        required=False,
        max_length=50_000,
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}),
        help_text=_(
            "Markdown. Raters see it first and must agree. Name the purpose, the data and a contact."
        ),
    )
    questions = forms.CharField(
        label=_("Questions about the rater"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text=_(
            "One per line. Put choices after vertical bars: “First language? | English | another | I would "
            "rather not say”. Without choices, raters write a text."
        ),
    )
    items_per_rater = forms.IntegerField(
        label=_("Items per rater"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=_("Empty: as many as there are. Hidden checks come on top."),
    )
    completion_code = _code(_("Completion code"), _("Raters see it at the end."))
    completion_url = _url(_("Completion URL"), _("A button at the end leads there."))
    screened_code = _code(_("Code for screened-out raters"), _("Who fails practice sees it."))
    screened_url = _url(_("URL for screened-out raters"))
    pay_rule = forms.ChoiceField(label=_("Pay for"), widget=forms.RadioSelect, choices=PayRule.choices)
    pay_rate = forms.DecimalField(
        label=_("Amount"), required=False, min_value=0, max_digits=10, decimal_places=4
    )
    currency = forms.RegexField(
        label=_("Currency"),
        required=False,
        regex=r"^[A-Z]{3}$",
        max_length=3,
        error_messages={"invalid": _("Enter the three capital letters of a currency, such as GBP.")},
        help_text=_("Three letters, such as GBP."),
    )

    @classmethod
    def initial_of(cls, study: OutsideStudy) -> dict[str, Any]:
        """Return the initial values for a study."""
        values = {name: getattr(study, name) for name in SETTINGS}
        lines = (" | ".join([each["question"], *each["choices"]]) for each in study.questions)
        rate = None if study.pay_rate is None else f"{study.pay_rate.normalize():f}"
        return {**values, "questions": "\n".join(lines), "pay_rate": rate}

    def clean_questions(self) -> list[dict[str, Any]]:
        """Read a question and its choices from each line."""
        lines = [line for line in self.cleaned_data["questions"].splitlines() if line.strip()]
        read = [[part.strip() for part in line.split("|")] for line in lines]
        if len(read) > MOST_QUESTIONS:
            raise ValidationError(gettext("Ask up to {most} questions.").format(most=MOST_QUESTIONS))
        for line, (question, *choices) in zip(lines, read, strict=True):
            problem = _problem_of_question(question, choices)
            if problem:
                raise ValidationError(f"“{line.strip()[:60]}”: {problem}")
        return [{"question": question, "choices": choices} for question, *choices in read]

    def clean(self) -> dict[str, Any]:
        """Check pairs of fields: an open link and its consent text, a rule of pay and its amount."""
        given = self.cleaned_data
        if given.get("is_open") and not given.get("consent") and "consent" not in self.errors:
            self.add_error("consent", gettext("Write the consent text before you open the link."))
        if given.get("pay_rule") == PayRule.NONE:
            given["pay_rate"], given["currency"] = None, ""
        elif given.get("pay_rate") is None and "pay_rate" not in self.errors:
            self.add_error("pay_rate", gettext("Enter the amount."))
        return given


def _problem_of_question(question: str, choices: list[str]) -> str:
    if not question:
        return gettext("Write the question before the first bar.")
    if len(choices) == 1 or "" in choices:
        return gettext("Give two choices or more, or none; no choice is empty.")
    if len(set(choices)) < len(choices):
        return gettext("Two choices are the same.")
    if len(choices) > MOST_CHOICES or max(map(len, (question, *choices))) > LONGEST_QUESTION:
        return gettext(
            "A question has up to {most} choices, and each text up to {longest} characters."
        ).format(most=MOST_CHOICES, longest=LONGEST_QUESTION)
    return ""


class AboutRaterForm(forms.Form):
    """A study's questions about the rater, each with an answer."""

    def __init__(self, entered: Any, *, study: OutsideStudy) -> None:
        super().__init__(entered)
        self.questions = study.questions
        for number, each in enumerate(study.questions):
            self.fields[f"answer_{number}"] = (
                forms.ChoiceField(
                    label=each["question"],
                    widget=forms.RadioSelect,
                    choices=[(choice, choice) for choice in each["choices"]],
                )
                if each["choices"]
                else forms.CharField(
                    label=each["question"],
                    max_length=LONGEST_ANSWER,
                    widget=forms.TextInput(attrs={"dir": "auto"}),
                )
            )

    @property
    def answers(self) -> list[dict[str, str]]:
        """The answers, each with its question."""
        return [
            {"question": each["question"], "answer": self.cleaned_data[f"answer_{number}"]}
            for number, each in enumerate(self.questions)
        ]
