"""Archiving and deleting on the pages of judges and endpoints."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from annotate.core.page import Request, request_user
from judges.core.errors import InUseError
from judges.endpoints.archiving import Archived, archive, delete_unused, unarchive

Address = tuple[str | int, ...]


def archive_or_restore(request: Request, kept: Archived, *, to: Address) -> HttpResponse:
    """Archive an object, or unarchive it if it is archived, and redirect to its page."""
    by = request_user(request)
    try:
        if kept.archived_at is None:
            archive(kept=kept, by=by)
            said = gettext("{name} is archived. Its data stays.")
        else:
            unarchive(kept=kept, by=by)
            said = gettext("{name} is offered again.")
        messages.success(request, said.format(name=kept.name))
    except InUseError as error:
        messages.error(request, error.message)
    return redirect(*map(str, to))


def delete_and_lead_to(request: Request, unused: Archived, *, to: Address, back: Address) -> HttpResponse:
    """Delete an unused object and redirect to the list, or report the object that refers to it."""
    try:
        delete_unused(unused=unused, by=request_user(request))
    except InUseError as error:
        messages.error(request, error.message)
        return redirect(*map(str, back))
    messages.success(request, gettext("{name} is deleted.").format(name=unused.name))
    return redirect(*map(str, to))
