from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from annotate.calibration.commands import add_to_guidelines, end_session, reveal_session, start_session
from annotate.calibration.queries import session_state, sessions_of
from annotate.core.access import project_for_admin
from annotate.core.errors import DomainError
from annotate.core.models import Document, Project, Role
from annotate.core.page import FormOutcome, Request, render_in_project, request_user

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
        # By key: Django filters this queryset by the chosen documents, which a slice does not allow.
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


@login_required
@require_http_methods(["GET", "POST"])
def sessions(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    form = SessionForm(request.POST or None, project=project)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            made = start_session(project=project, by=request_user(request), **form.chosen)
            return redirect("calibration_session", slug, made.pk)
    context = {"form": form, "sessions": [session_state(each) for each in sessions_of(project)]}
    return render_in_project(request, project, "calibration/sessions.html", context, status=outcome.status)


@login_required
@require_http_methods(["GET", "POST"])
def session(request: Request, slug: str, pk: int) -> HttpResponse:
    project, status = project_for_admin(request.user, slug), 200
    found = sessions_of(project).filter(pk=pk).first()
    if found is None:
        raise Http404(gettext("There is no such calibration session."))
    # The other buttons of the page send no agreement, so the form stays unbound.
    form = AgreedForm(request.POST if "agreed" in request.POST else None)
    if request.method == "POST":
        try:
            if done := _act(request, found, form):
                messages.success(request, done)
                return redirect("calibration_session", slug, pk)
            status = 422
        except DomainError as error:
            form.add_error(None, error.message) if form.is_bound else messages.error(request, error.message)
            status = error.status
    context = {"state": session_state(found), "form": form}
    return render_in_project(request, project, "calibration/session.html", context, status=status)


def _act(request: Request, session: Project, form: AgreedForm) -> str:
    by = request_user(request)
    if "reveal" in request.POST:
        reveal_session(session=session, by=by)
        return gettext("The answers are revealed. Raters see all answers that differ.")
    if "end" in request.POST:
        end_session(session=session, by=by)
        return gettext("The session is over.")
    if not form.is_valid():
        return ""
    add_to_guidelines(session=session, text=form.cleaned_data["text"], by=by)
    return gettext("The agreement is in the guidelines.")
