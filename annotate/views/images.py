"""Pictures of guidelines: uploaded and listed by admins, shown to everyone in the project."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.access import image_in, membership, project_for_admin
from annotate.commands.images import add_image, remove_image
from annotate.errors import DomainError
from annotate.pictures import content_type
from annotate.views.page import Request, refusal_told, render_in_project, request_user


class PictureForm(forms.Form):
    """One picture."""

    file = forms.FileField(
        label=_("Picture"),
        help_text=_("PNG, JPEG, GIF or WebP, at most 2 MB. Only people in this project can open it."),
        widget=forms.ClearableFileInput(attrs={"accept": "image/png,image/jpeg,image/gif,image/webp"}),
    )


@login_required
@require_http_methods(["GET", "POST"])
def images(request: Request, slug: str) -> HttpResponse:
    """List a project's pictures with the Markdown that shows each; a POST adds one."""
    project = project_for_admin(request.user, slug)
    form = PictureForm(request.POST, request.FILES) if request.method == "POST" else PictureForm()
    if form.is_valid():
        file = form.cleaned_data["file"]
        try:
            add_image(project=project, by=request_user(request), name=file.name, content=file.read())
            return redirect("images", slug)
        except DomainError as error:
            form.add_error("file", error.message)
    context = {"form": form, "images": list(project.images.all())}
    return render_in_project(
        request, project, "images/list.html", context, status=422 if form.is_bound else 200
    )


@login_required
@require_GET
def image(request: Request, slug: str, key: str) -> HttpResponse:
    """Send a picture to a member of its project."""
    found = image_in(membership(request.user, slug).project, key)
    with found.file.open("rb") as file:
        response = HttpResponse(file.read(), content_type=content_type(found.key))
    response["Cache-Control"] = "private, max-age=31536000, immutable"  # its address follows its content
    response["Content-Security-Policy"] = "default-src 'none'"
    return response


@login_required
@require_POST
def image_remove(request: Request, slug: str, key: str) -> HttpResponse:
    """Remove a picture that nothing shows."""
    found = image_in(project_for_admin(request.user, slug), key)
    with refusal_told(request):
        remove_image(image=found)
        messages.success(request, gettext("“{name}” is removed.").format(name=found.name))
    return redirect("images", slug)
