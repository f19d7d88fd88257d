from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from annotate.core import access
from annotate.core.models import Item, Project, Role, User
from annotate.core.page import Request, render_in_project, request_user, show_refusal
from annotate.items.commands import send_to_people, tag_items, untag_items
from annotate.items.forms import BulkForm, ItemFilterForm
from annotate.items.queries import describe_contents, item_facts, items_of, listed_items, select_keys
from annotate.items.registry import LEADS
from annotate.results.queries.disagreements import shows_systems
from annotate.results.registry import UNIT_PARTS

PER_PAGE = 25


@login_required
@require_http_methods(["GET", "POST"])
def items(request: Request, slug: str) -> HttpResponse:
    project = access.project_for_reader(request.user, slug)
    shown = shows_systems(project)
    form = ItemFilterForm(request.GET, project=project, shows_systems=shown)
    bulk = BulkForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        access.project_for_admin(request.user, slug)
        if bulk.is_valid():
            chosen = items_of(project, form.chosen)
            if not bulk.cleaned_data["everything"]:
                chosen = chosen.filter(pk__in=bulk.cleaned_data["item"])
            with show_refusal(request):
                by = request_user(request)
                act: dict[str, Callable[[], str]] = {
                    bulk.TAG: lambda: _tag(project, chosen, bulk.cleaned_data["tag"], by),
                    bulk.UNTAG: lambda: _untag(project, chosen, bulk.cleaned_data["tag"], by),
                    bulk.SEND: lambda: _send(project, chosen, bulk.cleaned_data["raters"], by),
                }
                messages.success(request, act[bulk.cleaned_data["act"]]())
            return redirect(reverse("items", args=[slug]) + (f"?{form.query}" if form.query else ""))
    page = Paginator(select_keys(project, form.chosen), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "bulk": bulk,
        "items": page,
        "rows": listed_items(list(page)),
        "has_items": bool(page.paginator.count or form.query),
        "contents": describe_contents(project),
        "shows_systems": shown,
        "leads": LEADS.values(),
        "is_admin": Role.ADMIN in access.roles_in(request.user, project),
    }
    status = 422 if request.method == "POST" else 200
    return render_in_project(request, project, "items/items.html", context, status=status)


def _tag(project: Project, items: QuerySet[Item], tag: str, by: User) -> str:
    count = tag_items(project=project, items=items, tag=tag, by=by)
    said = ngettext("{count} item has the tag “{tag}” now.", "{count} items have the tag “{tag}” now.", count)
    return said.format(count=f"{count:,}", tag=tag)


def _untag(project: Project, items: QuerySet[Item], tag: str, by: User) -> str:
    count = untag_items(project=project, items=items, tag=tag, by=by)
    said = ngettext(
        "The tag “{tag}” was taken from {count} item.", "The tag “{tag}” was taken from {count} items.", count
    )
    return said.format(count=f"{count:,}", tag=tag)


def _send(project: Project, items: QuerySet[Item], raters: int, by: User) -> str:
    count = send_to_people(project=project, items=items, raters=raters, by=by)
    said = ngettext("{count} unit waits for people now.", "{count} units wait for people now.", count)
    return said.format(count=f"{count:,}")


@login_required
@require_GET
def item(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = access.project_for_reader(request.user, slug)
    context = {
        "facts": item_facts(project, access.item_in(project, pk)),
        "shows_systems": shows_systems(project),
        "unit_parts": UNIT_PARTS.values(),
    }
    return render_in_project(request, project, "items/item.html", context)
