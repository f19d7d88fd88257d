"""Operations of the API about setup."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import ChoiceValue, Input, Points, Text, Whole
from annotate.core import access
from annotate.core.access import dimension_in, membership, project_for_admin
from annotate.core.configuration import is_frozen
from annotate.core.errors import DomainError, InvalidValueError
from annotate.core.guideline import DimensionSpec
from annotate.core.models import ApiToken, Dimension, Project, Role, ScalePoint, User
from annotate.core.page import request_user
from annotate.questions import KINDS
from annotate.setup.commands import (
    FREE_FIELDS,
    FROZEN_FIELDS,
    add_dimension,
    create_project,
    remove_dimension,
    reword_dimension,
    reword_guidelines,
    save_template,
    update_dimension,
    update_project,
)
from annotate.setup.forms import SCALES, DimensionForm, NewProjectForm, SettingsForm, initial_of
from annotate.setup.presets import TEMPLATES
from annotate.setup.queries import own_templates, template_for, template_of

# Dimensions with their scales.


class PointRow(serializers.ModelSerializer[ScalePoint]):
    """The meaning of one point of a scale."""

    class Meta:
        model = ScalePoint
        fields = ("value", "label", "description")


class DimensionRow(serializers.ModelSerializer[Dimension]):
    """A dimension in the set-up; the dimensions of a round are in the round's guideline."""

    scale_step = Points()
    dispute_threshold = Points(allow_null=True)
    tolerance = Points(allow_null=True)
    points = PointRow(many=True)
    options = serializers.DictField(allow_null=True, help_text="The settings of its kind; null on a scale.")
    shown_if = serializers.DictField(
        allow_null=True, help_text="Dimension and values: asked only after these answers; null: always."
    )

    class Meta:
        model = Dimension
        fields = (
            *("key", "name", "position", "definition", "guidelines", "scale_minimum", "scale_maximum"),
            *(
                "scale_step",
                "measurement_level",
                "not_applicable",
                "dispute_threshold",
                "tolerance",
                "points",
                "kind",
                "options",
                "shown_if",
            ),
        )


class PointInput(Input):
    """The meaning of one point of a scale."""

    value = Whole(min_value=-1000, max_value=1000)
    label = Text(max_length=80, required=False, allow_blank=True)  # type: ignore[assignment]
    description = Text(required=False, allow_blank=True)


class ShownIf(Input):
    """The answers to an earlier question that make this one visible."""

    dimension = Text(max_length=60, help_text="The key of the earlier question.")
    values = serializers.ListField(
        child=serializers.JSONField(), help_text="Values of its scale, or keys of its labels."
    )


DimensionInput = form_input(
    "DimensionInput",
    DimensionForm,
    without=("another_point", "kind"),
    usual={name: value for name, value in initial_of(None).items() if name != "kind"},
    kind=ChoiceValue(choices=list(KINDS), default="scale", help_text="The kind of question."),
    options=serializers.DictField(
        default=None, allow_null=True, help_text="The settings of the kind, such as labels; null on a scale."
    ),
    shown_if=ShownIf(
        default=None,
        allow_null=True,
        help_text="Asked only after these answers to an earlier question; null: always.",
    ),
    points=PointInput(many=True, required=False),
    note=Text(required=False, max_length=1000, help_text="Why the wording of an open round changes."),
)


class DimensionsInput(Input):
    """Dimensions to add, or to change if the project has one of that name."""

    dimensions = DimensionInput(many=True, allow_empty=False)


class Dimensions(ApiView):
    """The dimensions of a project."""

    about = "dimensions"

    @reads(DimensionRow, many=True)
    def get(self, request: Request, slug: str) -> Response:
        """List a project's dimensions in project order."""
        dimensions = membership(request.user, slug).project.dimensions.prefetch_related("points")
        return Response(DimensionRow(dimensions, many=True).data)

    @writes(DimensionRow, accepts=DimensionInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Add a dimension after the others, before Round I opens."""
        project = project_for_admin(request.user, slug)
        made = add_dimension(project=project, dimension=spec_of_input(self.check(DimensionInput)))
        return Response(DimensionRow(made).data, status=201)

    @writes(DimensionRow(many=True), accepts=DimensionsInput)
    def put(self, request: Request, slug: str) -> Response:
        """Add several dimensions, or change those of the same name, before Round I opens: all or none."""
        project = project_for_admin(request.user, slug)
        sent = self.check(DimensionsInput)["dimensions"]
        with transaction.atomic():
            for number, each in enumerate(sent):
                try:
                    spec = spec_of_input(each)
                    if present := project.dimensions.filter(name=spec.name).first():
                        update_dimension(dimension=present, to=spec)
                    else:
                        add_dimension(project=project, dimension=spec)
                except DomainError as error:
                    where = f"dimensions.{number}"
                    raise InvalidValueError(
                        f"{where}: {error.message}", fields={where: error.message}
                    ) from error
        dimensions = project.dimensions.order_by("position").prefetch_related("points")
        return Response(DimensionRow(dimensions, many=True).data)


class DimensionView(ApiView):
    """A dimension."""

    about = "dimensions"

    @reads(DimensionRow)
    def get(self, request: Request, slug: str, key: str) -> Response:
        """Show a dimension."""
        return Response(DimensionRow(dimension_in(membership(request.user, slug).project, key)).data)

    @writes(DimensionRow, accepts=DimensionInput)
    def put(self, request: Request, slug: str, key: str) -> Response:
        """Replace a dimension; once Round I is open only its wording, with a note on the reason."""
        project = project_for_admin(request.user, slug)
        dimension = dimension_in(project, key)
        initial = initial_of(dimension)
        sent = self.check(
            DimensionInput, standing={**initial, "options": dimension.options, "kind": dimension.kind}
        )
        to = spec_of_input(sent)
        if is_frozen(project):
            reword_dimension(dimension=dimension, to=to, note=sent.get("note", ""), by=request_user(request))
            return Response(DimensionRow(dimension_in(project, key)).data)
        return Response(DimensionRow(update_dimension(dimension=dimension, to=to)).data)

    @writes(None, status=204)
    def delete(self, request: Request, slug: str, key: str) -> Response:
        """Remove a dimension without ratings."""
        remove_dimension(dimension=dimension_in(project_for_admin(request.user, slug), key))
        return Response(status=204)


def spec_of_input(sent: Mapping[str, Any]) -> DimensionSpec:
    """Return the specification of a dimension. Raises InvalidValueError as the page does.

    A scale has the page's rules; the command checks the options of other kinds.
    """
    kind = sent["kind"]
    if kind in SCALES:
        level = {"measurement_level": "nominal"} if kind == "category" else {}
        # The page's form has two fields for each point.
        others = ("points", "note", "kind", "options", "shown_if")
        fields = {name: value for name, value in sent.items() if name not in others}
        for point in sent.get("points", []):
            fields[f"label_{point['value']}"] = point.get("label", "")
            fields[f"description_{point['value']}"] = point.get("description", "")
        form = valid(DimensionForm({**fields, **level}))
        return replace(form.to_spec(), kind="scale", shown_if=sent["shown_if"])
    return DimensionSpec(
        name=sent["name"],
        definition=sent["definition"],
        not_applicable=sent.get("not_applicable", False),
        guidelines=sent.get("guidelines", ""),
        kind=kind,
        options=sent["options"] or {},
        shown_if=sent["shown_if"],
    )


# Projects and their settings, and who one is.


class Me(serializers.ModelSerializer[User]):
    """The token's person, and the token's permissions."""

    scopes = serializers.SerializerMethodField()
    expires_at = serializers.SerializerMethodField()

    class Meta:
        model = User
        fields = ("email", "name", "scopes", "expires_at")

    def get_scopes(self, _user: User) -> list[str]:
        """Return the token's permissions."""
        token: ApiToken = self.context["token"]
        return token.scopes

    def get_expires_at(self, _user: User) -> datetime:
        """Return its expiry time."""
        token: ApiToken = self.context["token"]
        return token.expires_at


class ProjectRow(serializers.ModelSerializer[Project]):
    """A project with its settings and one's roles in it."""

    roles = serializers.SerializerMethodField()

    class Meta:
        model = Project
        fields = (
            *("slug", "name", "description", "guidelines", "raters_per_item", "dispute_threshold"),
            *("tolerance", "reservation_minutes", "created_at", "roles"),
        )

    def get_roles(self, project: Project) -> list[str]:
        """Return the person's roles in the project."""
        roles: dict[int, list[str]] = self.context["roles"]
        return roles[project.pk]


NewProject = form_input("NewProject", NewProjectForm)
Settings = form_input(
    "Settings",
    SettingsForm,
    all_optional=True,
    note=Text(required=False, max_length=1000, help_text="Why guidelines of an open round change."),
)


class WhoAmI(ApiView):
    """The token's person."""

    about = "me"

    @reads(Me, scopes=("read", "write", "rate"))
    def get(self, request: Request) -> Response:
        """Show the token's person and permissions."""
        return Response(Me(request_user(request), context={"token": request.auth}).data)


class Projects(ApiView):
    """One's projects."""

    about = "projects"

    @reads(ProjectRow, paged=True)
    def get(self, request: Request) -> Response:
        """List one's own projects."""
        return self.page(access.projects_of(request.user), ProjectRow, roles=_roles(request))

    @writes(ProjectRow, accepts=NewProject, status=201)
    def post(self, request: Request) -> Response:
        """Create a project, from a template or empty; for admins of a project and staff."""
        access.refuse_all_but_project_makers(request.user)
        user = request_user(request)
        form = valid(NewProjectForm(self.check(NewProject), own=own_templates(user), start=""))
        template = template_for(user, form.cleaned_data["template"])
        project = create_project(user=user, name=form.cleaned_data["name"], template=template)
        return _answer(request, project, status=201)


class ProjectView(ApiView):
    """A project."""

    about = "projects"

    @reads(ProjectRow)
    def get(self, request: Request, slug: str) -> Response:
        """Show a project's settings."""
        return _answer(request, access.membership(request.user, slug).project)

    @writes(ProjectRow, accepts=Settings)
    def patch(self, request: Request, slug: str) -> Response:
        """Change settings.

        Fields frozen by Round I are rejected, except the wording of guidelines with a note.
        """
        project = access.project_for_admin(request.user, slug)
        frozen = is_frozen(project)
        standing = {name: getattr(project, name) for name in (*FREE_FIELDS, *FROZEN_FIELDS)}
        sent = self.check(Settings)
        # A frozen form would ignore changes of its disabled fields; the command rejects them instead.
        form = valid(SettingsForm({**standing, **sent}, project=project, frozen=False))
        if frozen and form.reworded:
            text, by = form.cleaned_data["guidelines"], request_user(request)
            reword_guidelines(project=project, guidelines=text, note=sent.get("note", ""), by=by)
        return _answer(request, update_project(project=project, **form.settings))


def _answer(request: Request, project: Project, *, status: int = 200) -> Response:
    return Response(ProjectRow(project, context={"roles": _roles(request)}).data, status=status)


def _roles(request: Request) -> dict[int, list[str]]:
    roles: dict[int, list[str]] = {}
    for project, role in access.memberships_of(request.user).values_list("project", "role"):
        roles.setdefault(project, []).append(Role(role).value)
    return roles


# Templates for new projects: listed, and saved from projects.


class TemplateRow(serializers.Serializer[Any]):
    """A template, under the key that a new project names."""

    key = serializers.CharField()
    name = serializers.CharField()
    saved_at = serializers.DateTimeField(default=None, allow_null=True, help_text="Null: Concord's own.")


class Templates(ApiView):
    """Templates for new projects."""

    about = "projects"

    @reads(TemplateRow, many=True)
    def get(self, request: Request) -> Response:
        """List one's own templates, the newest first, then Concord's templates."""
        user = request_user(request)
        # Own templates contain questions of projects, which need the second factor if admins must have it.
        may_use_own = access.may_begin_projects(user) and not access.lacks_second_factor(user)
        own = own_templates(user) if may_use_own else []
        return Response(TemplateRow([*own, *TEMPLATES.values()], many=True).data)


class TemplateOfProject(ApiView):
    """A project as a template."""

    about = "projects"

    @writes(TemplateRow, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Save a project's questions and guidelines, without its data, as one's own template."""
        template = template_of(project_for_admin(request.user, slug))
        made = save_template(owner=request_user(request), template=template)
        return Response(TemplateRow(made).data, status=201)
