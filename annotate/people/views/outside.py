"""Raters from outside: their pages before and after rating, and the settings of admins."""

from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from allauth.account.adapter import get_adapter
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core.access import membership, project_for_admin
from annotate.core.audit import digest_of
from annotate.core.errors import DomainError
from annotate.core.models import OutsideRater, OutsideStudy, PayRule, Role, User
from annotate.core.page import render_in_project, request_user
from annotate.people.outside import (
    PERSON,
    SESSION,
    SETTINGS,
    STUDY,
    Consent,
    consent_now,
    count_raters,
    is_outside_account,
    is_same_session,
    join_study,
    rater_of_account,
    rater_of_person,
    read_parameters,
    refuse_closed_study,
    renew_join_link,
    save_study,
    study_of,
    study_of_link,
)
from annotate.people.sign_in_limits import count_attempt, may_join, return_counters, take_back

MOST_QUESTIONS, MOST_CHOICES, LONGEST_QUESTION, LONGEST_ANSWER = 20, 30, 300, 500


def check_redirect(url: str) -> None:
    """Raise ValidationError unless a redirect to this URL is safe: https, a host, no password."""
    URLValidator(schemes=["https"])(url)
    # In https://known.example@other.example the host is other.example, which misleads a reader.
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
        """Check pairs of fields: an open link and its consent form, a payment rule and its amount."""
        given = self.cleaned_data
        if given.get("is_open") and not given.get("consent") and "consent" not in self.errors:
            self.add_error("consent", gettext("Write the consent text before you open the link."))
        # Without pay, an amount that the form still shows has no meaning.
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
            label, choices = each["question"], [(choice, choice) for choice in each["choices"]]
            self.fields[f"answer_{number}"] = (
                forms.ChoiceField(label=label, widget=forms.RadioSelect, choices=choices)
                if choices
                else forms.CharField(
                    label=label, max_length=LONGEST_ANSWER, widget=forms.TextInput(attrs={"dir": "auto"})
                )
            )

    @property
    def answers(self) -> list[dict[str, str]]:
        return [
            {"question": each["question"], "answer": self.cleaned_data[f"answer_{number}"]}
            for number, each in enumerate(self.questions)
        ]


CONSENT_IN_SESSION = "consent"


# Before rating: consent, then questions; the last of them makes the account.


@never_cache
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Take a person from a study's link to rating: consent, questions, or continuation.

    A GET may sign in, as a repeated visit by the platform's link does (see `_continue`).
    """
    study = study_of_link(token)
    if study is None:
        raise Http404(gettext("This link leads to no study. Copy the whole link."))
    # `request.GET` returns the last of several values, and here the first one counts.
    parameters = read_parameters(parse_qsl(request.META["QUERY_STRING"]))
    person = parameters.get(PERSON, "")
    if isinstance(request.user, User):
        # A signed-in rater continues, unless the link names another person.
        own = rater_of_account(study, request.user)
        if own and (not person or person == own.platform_id):
            return redirect("rate", study.project.slug)
        # Joining would sign a member out of the own account.
        if not is_outside_account(request.user):
            return _say(request, study, "signed_in", status=409)
    # A known person continues only with the session of the platform.
    if known := rater_of_person(study, person):
        return _continue(request, study, known, parameters)
    try:
        refuse_closed_study(study)
        consent, here = None, request.get_full_path()
        # The session stores hashes of the person and the consent, and not the person's ID.
        person_hash = salted_hmac("annotate.outside.person", f"{study.pk}/{person}").hexdigest()
        wanted = {"person": person_hash, "digest": digest_of(study.consent)}
        stored: dict[str, str] = request.session.get(CONSENT_IN_SESSION, {})
        # Only the consent of this person to this version of the study counts.
        if {name: stored.get(name) for name in wanted} == wanted:
            consent = Consent(stored["digest"], datetime.fromisoformat(stored["at"]))
        is_agreeing = request.method == "POST" and "agree" in request.POST
        # The form sends the digest of the version that the person read; an admin may have changed it since.
        if is_agreeing and request.POST["agree"] == digest_of(study.consent):
            consent = consent_now(study)
            if study.questions:
                request.session[CONSENT_IN_SESSION] = {**wanted, "at": consent.at.isoformat()}
                return redirect(here)
            return _join(request, study, consent, parameters, [])
        if consent is None:
            return _say(request, study, "consent", digest=digest_of(study.consent), here=here)
        form = AboutRaterForm(request.POST if request.method == "POST" else None, study=study)
        if form.is_valid():
            return _join(request, study, consent, parameters, form.answers)
        return _say(request, study, "questions", form=form, here=here, status=422 if form.is_bound else 200)
    except DomainError as error:
        return _say(request, study, "refused", error=error, status=error.status)


def _continue(
    request: HttpRequest, study: OutsideStudy, rater: OutsideRater, parameters: dict[str, str]
) -> HttpResponse:
    """Sign in a rater again after a lost session, by the platform's own session in the link."""
    # Counted before the check, so that no concurrent attempt escapes the limit.
    user, counters = rater.membership.user, return_counters(request, rater.pk)
    if not count_attempt(counters):
        return _say(request, study, "too_many", status=429)
    if user is None or not user.is_active or not is_same_session(rater, parameters):
        return _say(request, study, "elsewhere", status=409)
    take_back(counters)
    get_adapter(request).login(request, user)
    return redirect("rate", study.project.slug)


def _join(
    request: HttpRequest,
    study: OutsideStudy,
    consent: Consent,
    parameters: dict[str, str],
    answers: list[dict[str, str]],
) -> HttpResponse:
    if not may_join(request):
        return _say(request, study, "too_many", status=429)
    user = join_study(study=study, consent=consent, parameters=parameters, answers=answers)
    # The rater's row has the consent from here on.
    request.session.pop(CONSENT_IN_SESSION, None)
    get_adapter(request).login(request, user)
    return redirect("rate", study.project.slug)


def _say(
    request: HttpRequest, study: OutsideStudy, page: str, *, status: int = 200, **context: Any
) -> HttpResponse:
    context = {"study": study, "shown": page, **context}
    return render(request, "people/join.html", context, status=status)


# After rating.


@login_required
@require_GET
def end(request: HttpRequest, slug: str) -> HttpResponse:
    own_membership = membership(request.user, slug, Role.ANNOTATOR)
    rater = OutsideRater.objects.select_related("study").filter(membership=own_membership).first()
    if rater is None:
        raise Http404(gettext("Only raters from outside have this page."))
    if rater.outcome == OutsideRater.Outcome.WORKING:
        return redirect("rate", slug)
    is_completed = rater.outcome == OutsideRater.Outcome.COMPLETED
    study = rater.study
    context = {
        "is_completed": is_completed,
        "code": study.completion_code if is_completed else study.screened_code,
        "url": study.completion_url if is_completed else study.screened_url,
    }
    return render_in_project(request, own_membership.project, "people/outside_end.html", context)


# The settings.


@login_required
@require_http_methods(["GET", "POST"])
def study_settings(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    study = study_of(project)
    form = StudyForm(
        request.POST or None, initial=StudyForm.initial_of(study or OutsideStudy(project=project))
    )
    if form.is_valid():
        save_study(project=project, values=form.cleaned_data, by=request_user(request))
        messages.success(request, gettext("Saved."))
        return redirect("outside_study", slug)
    link = ""
    if study:  # as Prolific writes it, with the names of its values in braces
        path = request.build_absolute_uri(reverse("join", args=[study.token]))
        link = f"{path}?" + "&".join(f"{name}={{{{%{name}%}}}}" for name in (PERSON, STUDY, SESSION))
    context = {
        "form": form,
        "study": study,
        "counts": count_raters(study) if study else None,
        "link": link,
    }
    status = 422 if form.is_bound else 200
    return render_in_project(request, project, "people/outside_study.html", context, status=status)


@login_required
@require_POST
def study_link(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    if study := study_of(project):
        renew_join_link(study=study, by=request_user(request))
        messages.success(request, gettext("The study has a new link. The old one no longer works."))
    return redirect("outside_study", slug)
