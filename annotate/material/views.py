from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from annotate.core.access import data_import_in, project_for_admin
from annotate.core.configuration import is_frozen
from annotate.core.errors import DomainError
from annotate.core.jobs import worker_health
from annotate.core.models import DataImport, Item, UploadPreview
from annotate.core.models.imports import LONGEST_PART, MATERIAL
from annotate.core.page import FormOutcome, MessageOutcome, Request, render_in_project, request_user
from annotate.core.strings import read_number
from annotate.material.commands.comparisons import draw_comparisons, remove_comparisons
from annotate.material.commands.parts import import_parts, read_parts, split_items
from annotate.material.commands.uploads import (
    cancel_import,
    choose_part,
    discard_import,
    undo_import,
)
from annotate.material.forms import ComparisonsForm, PartsFileForm
from annotate.material.import_kinds import KINDS
from annotate.material.page import preview_of_upload, start_on_worker, uploads_page
from annotate.material.queries.comparisons import count_by_size, count_comparisons
from annotate.material.queries.imports import (
    is_late,
    opening_of,
    refused_file_of,
    state_of,
)
from annotate.material.queries.undo import explain_no_undo
from annotate.material.reading.opening import Opening
from annotate.material.reading.refused import FORMATS
from annotate.material.reading.tables import SheetChoice
from annotate.people.recorded_raters import name_recorded_raters, possible_members


@login_required
@require_POST
def import_again(request: Request, slug: str, pk: int) -> HttpResponse:
    upload = data_import_in(project_for_admin(request.user, slug), pk)
    if upload.mapping is None:
        return redirect(KINDS[upload.kind].page, slug, pk)
    only_good = "only_good" in request.POST
    return start_on_worker(request, upload, upload.mapping, upload.what, only_good=only_good)


@login_required
@require_POST
def import_part(request: Request, slug: str, pk: int) -> HttpResponse:
    upload = data_import_in(project_for_admin(request.user, slug), pk, MATERIAL)
    part = str(request.POST.get("part", ""))  # empty: the first configuration or the first sheet
    if "header_row" in request.POST and "first_sheet" not in request.POST:
        row = read_number(request.POST["header_row"])
        part = SheetChoice(1 if row is None else row, tuple(request.POST.getlist("sheet"))).part
    # A crafted request can exceed the column, and PostgreSQL would raise an error.
    choose_part(data_import=upload, part=part[:LONGEST_PART])
    upload.refresh_from_db(fields=["part"])
    preview_of_upload(upload)
    return redirect("data_import", slug, pk)


@login_required
@require_POST
def import_cancel(request: Request, slug: str, pk: int) -> HttpResponse:
    upload = data_import_in(project_for_admin(request.user, slug), pk)
    with MessageOutcome(request):
        cancel_import(data_import=upload)
    return redirect(KINDS[upload.kind].page, slug, pk)


@login_required
@require_POST
def import_discard(request: Request, slug: str, pk: int) -> HttpResponse:
    upload = data_import_in(project_for_admin(request.user, slug), pk)
    with MessageOutcome(request):
        discard_import(data_import=upload)
        messages.success(request, gettext("“{name}” was discarded.").format(name=upload.name))
        return redirect(KINDS[upload.kind].pages, slug)
    return redirect(KINDS[upload.kind].page, slug, pk)


@login_required
@require_POST
def import_undo(request: Request, slug: str, pk: int) -> HttpResponse:
    upload = data_import_in(project_for_admin(request.user, slug), pk)
    with MessageOutcome(request):
        undo_import(data_import=upload, by=request_user(request))
    return redirect(KINDS[upload.kind].page, slug, pk)


@login_required
@require_GET
def import_refused(request: Request, slug: str, pk: int, format: str) -> StreamingHttpResponse:
    upload = data_import_in(project_for_admin(request.user, slug), pk)
    name = refused_file_of(upload)
    if format not in FORMATS or not default_storage.exists(name):
        raise Http404(gettext("There are no invalid lines to download."))
    response = StreamingHttpResponse(
        FORMATS[format](lambda: default_storage.open(name, "rb")),
        content_type="text/csv; charset=utf-8" if format == "csv" else "application/jsonl",
    )
    # The header has the number of the upload, because its name is input of a user.
    response["Content-Disposition"] = f'attachment; filename="refused-{upload.pk}.{format}"'
    return response


# Import in the browser: upload, map the columns, check the preview, import on the worker.


@login_required
@require_http_methods(["GET", "POST"])
def imports(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    return uploads_page(request, project, "material/imports.html")


@login_required
@require_http_methods(["GET", "POST"])
def data_import(request: Request, slug: str, pk: int, kind: str = MATERIAL) -> HttpResponse:
    upload = data_import_in(project_for_admin(request.user, slug), pk, kind)
    over = upload.status in (DataImport.Status.IMPORTED, DataImport.Status.UNDONE)
    if upload.is_under_way or over or upload.must_be_finished:
        return _render(request, upload, "#state")
    preview = preview_of_upload(upload, again="read_again" in request.POST)
    if preview.status in UploadPreview.UNDER_WAY:
        return _render(request, upload, "#waiting", waits=preview, no_worker=is_late(preview))
    if request.htmx and request.method == "GET":  # polling has ended
        return HttpResponseClientRefresh()
    return _mapping(request, upload, opening_of(preview))


def _render(
    request: Request, upload: DataImport, part: str = "", status: int = 200, **shown: Any
) -> HttpResponse:
    kind = KINDS[upload.kind]
    context = {
        "state": state_of(upload),
        "kind": kind,
        "here": reverse(kind.page, args=[upload.project.slug, upload.pk]),
        "after": kind.after(upload.project.slug),
        **shown,
    }
    if kind.may_be_undone and upload.status == DataImport.Status.IMPORTED:
        context["undo_refusal"] = explain_no_undo(upload)
    template = f"material/import.html{part if request.htmx else ''}"
    response = render_in_project(request, upload.project, template, context, status=status)
    patch_vary_headers(response, ["HX-Request"])  # page and part have one URL
    return response


def _mapping(request: Request, upload: DataImport, opening: Opening) -> HttpResponse:
    if opening.problem:
        return _render(request, upload, opening=opening, workers=worker_health())
    kind = KINDS[upload.kind]
    chosen_members = zip(
        request.POST.getlist("recorded_name"), request.POST.getlist("recorded_member"), strict=False
    )
    # An empty choice means that the name becomes a new member.
    members = {name: key for name, pk in chosen_members if (key := read_number(pk)) is not None}
    form = kind.form(request.POST if request.method == "POST" else None, upload, opening)
    what = form.cleaned_data.get("what", "") if form.is_valid() else form.initial.get("what", "")
    # “show” asks for a preview of the mapping entered, without an import.
    if form.is_valid() and "show" not in request.POST:
        with MessageOutcome(request):
            if members:
                name_recorded_raters(project=upload.project, members=members, by=request_user(request))
            return start_on_worker(request, upload, form.store(form.mapping), what)
        return redirect(kind.page, upload.project.slug, upload.pk)
    mapping = form.mapping
    chosen = {"what": what, "members": members}
    return _render(
        request,
        upload,
        "#preview",
        status=422 if form.is_bound and form.errors else 200,
        opening=opening,
        workers=worker_health(),
        form=form,
        preview=kind.preview(upload, opening, mapping, chosen) if mapping else None,
        other_kinds=[
            each for each in KINDS.values() if each.key != upload.kind and each.recognises(upload, opening)
        ],
        possible_members=possible_members(upload.project),
    )


# Steps before questions about comparisons and parts: make comparisons, make parts.


@login_required
@require_http_methods(["GET", "POST"])
def comparisons(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    if "remove" in request.POST:
        with MessageOutcome(request):
            count = remove_comparisons(project=project)
            messages.success(request, gettext("{count:,} comparisons are removed.").format(count=count))
        return redirect("comparisons", slug)
    # A preference compares two outputs, a ranking at least three.
    usual = {"size": 2 if project.dimensions.filter(kind="preference").exists() else 3}
    # A GET shows the number of comparisons that the entered numbers would create.
    entered = request.POST or request.GET or usual
    form = ComparisonsForm(entered)
    with FormOutcome(request, form) as outcome:
        if request.method == "POST" and form.is_valid():
            count = draw_comparisons(project=project, **form.cleaned_data)
            messages.success(request, gettext("{count:,} comparisons are drawn.").format(count=count))
            return redirect("comparisons", slug)
    context = {
        "form": form,
        "count": count_comparisons(project, **form.cleaned_data) if form.is_valid() else None,
        "drawn": count_by_size(project),
        "frozen": is_frozen(project),
    }
    template = "material/comparisons.html" + ("#count" if request.htmx else "")
    return render_in_project(request, project, template, context, status=outcome.status)


@login_required
@require_http_methods(["GET", "POST"])
def item_parts(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    if "split" in request.POST:
        with MessageOutcome(request):
            count = split_items(project=project)
            messages.success(
                request, gettext("{count:,} outputs are split into sentences.").format(count=count)
            )
        return redirect("item_parts", slug)
    form = PartsFileForm(request.POST, request.FILES) if request.method == "POST" else PartsFileForm()
    if form.is_valid():
        try:
            count = import_parts(project=project, parts=read_parts(form.cleaned_data["file"].read()))
            messages.success(request, gettext("{count:,} outputs have these parts now.").format(count=count))
            return redirect("item_parts", slug)
        except DomainError as error:
            form.add_error("file", error.message)
    outputs = Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT)
    with_parts = outputs.filter(parts__isnull=False).distinct()
    context = {
        "form": form,
        "outputs": outputs.count(),
        "with_parts": with_parts.count(),
        "example": with_parts.prefetch_related("parts").order_by("pk").first(),
        "frozen": is_frozen(project),
    }
    return render_in_project(
        request, project, "material/item_parts.html", context, status=422 if form.is_bound else 200
    )
