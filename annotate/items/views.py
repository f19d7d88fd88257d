from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from annotate.core import access
from annotate.core.models import Role
from annotate.core.page import MessageOutcome, Request, render_in_project, request_user
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
        # Readers see the list, but only admins change items.
        access.project_for_admin(request.user, slug)
        if bulk.is_valid():
            chosen = items_of(project, form.chosen)
            # “everything” means all items of the filter, also those on other pages of the list.
            if not bulk.cleaned_data["everything"]:
                chosen = chosen.filter(pk__in=bulk.cleaned_data["item"])
            with MessageOutcome(request):
                data, by = bulk.cleaned_data, request_user(request)
                if data["act"] == bulk.TAG:
                    count = tag_items(project=project, items=chosen, tag=data["tag"], by=by)
                    said = ngettext(
                        "{count} item has the tag “{tag}” now.",
                        "{count} items have the tag “{tag}” now.",
                        count,
                    )
                elif data["act"] == bulk.UNTAG:
                    count = untag_items(project=project, items=chosen, tag=data["tag"], by=by)
                    said = ngettext(
                        "The tag “{tag}” was taken from {count} item.",
                        "The tag “{tag}” was taken from {count} items.",
                        count,
                    )
                else:
                    count = send_to_people(project=project, items=chosen, raters=data["raters"], by=by)
                    said = ngettext(
                        "{count} unit waits for people now.", "{count} units wait for people now.", count
                    )
                messages.success(request, said.format(count=f"{count:,}", tag=data["tag"]))
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
    # A valid action redirects above, so a POST that arrives here is invalid.
    status = 422 if request.method == "POST" else 200
    return render_in_project(request, project, "items/items.html", context, status=status)


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
