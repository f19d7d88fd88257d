"""The page of one import of judgments or of metrics: how its file is read, what it makes, where it is."""

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.http import HttpResponse
from django_htmx.http import HttpResponseClientRefresh

from annotate.core.models import DataImport
from annotate.core.page import Request
from annotate.material.page import start_on_worker
from annotate.material.queries.imports import Opening, opening_of, state_of
from judges.core.page import render_judges

Form = TypeVar("Form", bound=forms.Form)


def mapping_of(form: Any) -> Any:
    """Return the mapping that a form says or guesses, None where it cannot be used."""
    if form.is_bound:
        return form.cleaned_data["mapping"] if form.is_valid() else None
    return None if form.guess.problem else form.guess


def import_page(
    request: Request,
    upload: DataImport,
    template: str,
    form_of: Callable[[Request, DataImport, Opening], Form],
    shown_of: Callable[[DataImport, Form], dict[str, Any]],
) -> HttpResponse:
    """Show where an import is, and before it is made how its file is read; a POST changes that.

    form_of: the form with the mapping; shown_of: what the template shows of what the file would make.
    """
    if upload.is_under_way or upload.status == DataImport.Status.IMPORTED:
        part = f"{template}#state" if request.htmx else template
        return render_judges(request, upload.project, part, {"state": state_of(upload)})
    if request.htmx and request.method == "GET":  # the progress that was polled has come to its end
        return HttpResponseClientRefresh()
    opening = opening_of(upload)
    context: dict[str, Any] = {"state": state_of(upload), "opening": opening}
    if opening.problem:
        return render_judges(request, upload.project, template, context)
    form = form_of(request, upload, opening)
    if form.is_valid() and "show" not in request.POST:
        return start_on_worker(request, upload, form.cleaned_data["mapping"].to_json())
    context |= {"form": form, **shown_of(upload, form)}
    part = f"{template}#preview" if request.htmx else template
    status = 422 if form.is_bound and form.errors else 200
    return render_judges(request, upload.project, part, context, status=status)
