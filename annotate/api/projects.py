"""Projects and their settings, and who one is."""

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import access
from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Text
from annotate.commands.projects import FREE_FIELDS, FROZEN_FIELDS, create_project, update_project
from annotate.commands.wording import reword_guidelines
from annotate.forms.projects import NewProjectForm, SettingsForm
from annotate.models import ApiToken, Project, Role, User
from annotate.queries.projects import is_frozen
from annotate.queries.templates import own_templates, template_for
from annotate.views.page import request_user


class Me(serializers.ModelSerializer[User]):
    """The person whose token it is, and what the token allows."""

    scopes = serializers.SerializerMethodField()
    expires_at = serializers.SerializerMethodField()

    class Meta:
        model = User
        fields = ("email", "name", "scopes", "expires_at")

    def get_scopes(self, _user: User) -> list[str]:
        """Return what the token may be used for."""
        token: ApiToken = self.context["token"]
        return token.scopes

    def get_expires_at(self, _user: User) -> str:
        """Return until when it may be used."""
        token: ApiToken = self.context["token"]
        return token.expires_at.isoformat()


class ProjectRow(serializers.ModelSerializer[Project]):
    """A project with its settings and what one is in it."""

    roles = serializers.SerializerMethodField()

    class Meta:
        model = Project
        fields = (
            *("slug", "name", "description", "guidelines", "raters_per_item", "dispute_threshold"),
            *("tolerance", "reservation_minutes", "created_at", "roles"),
        )

    def get_roles(self, project: Project) -> list[str]:
        """Return what the person is in the project."""
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
        """Show whose token this is and what it allows."""
        return Response(Me(request_user(request), context={"token": request.auth}).data)


class Projects(ApiView):
    """One's projects."""

    about = "projects"

    @reads(ProjectRow, paged=True)
    def get(self, request: Request) -> Response:
        """List the projects in which one has a place."""
        return self.page(access.projects_of(request.user), ProjectRow, roles=_roles(request))

    @writes(ProjectRow, accepts=NewProject, status=201)
    def post(self, request: Request) -> Response:
        """Begin a project, from a template or from nothing; admins of a project and staff may."""
        if not access.may_begin_projects(request.user):
            raise Http404("Only admins begin projects.")
        user = request_user(request)
        form = valid(NewProjectForm(self.checked(NewProject), own=own_templates(user), start=""))
        template = template_for(user, form.cleaned_data["template"])
        project = create_project(user=user, name=form.cleaned_data["name"], template=template)
        return _answer(request, project, status=201)


class OneProject(ApiView):
    """A project."""

    about = "projects"

    @reads(ProjectRow)
    def get(self, request: Request, slug: str) -> Response:
        """Show a project's settings."""
        return _answer(request, access.membership(request.user, slug).project)

    @writes(ProjectRow, accepts=Settings)
    def patch(self, request: Request, slug: str) -> Response:
        """Change settings; what Round I froze is refused, but for the wording of guidelines with a note."""
        project = access.project_for_admin(request.user, slug)
        frozen = is_frozen(project)
        standing = {name: getattr(project, name) for name in (*FREE_FIELDS, *FROZEN_FIELDS)}
        sent = self.checked(Settings)
        form = valid(SettingsForm({**standing, **sent}, project=project, frozen=False))
        if frozen and form.reworded:
            text, by = form.cleaned_data["guidelines"], request_user(request)
            reword_guidelines(project=project, guidelines=text, note=sent.get("note", ""), by=by)
        return _answer(request, update_project(project=project, **form.settings))


def _answer(request: Request, project: Project, *, status: int = 200) -> Response:
    return Response(ProjectRow(project, context={"roles": _roles(request)}).data, status=status)


def _roles(request: Request) -> dict[int, list[str]]:
    roles: dict[int, list[str]] = {}
    for project, role in access.places_of(request.user).values_list("project", "role"):
        roles.setdefault(project, []).append(Role(role).value)
    return roles
