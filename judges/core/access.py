"""Access to judges: admins change, researchers read, other users get 404.

`project_for_judges` here or `project_for_admin` of annotate.core.access loads the project and decides the
user's role in it. Objects of another project answer 404.
"""

from django.db.models import QuerySet
from django.utils.translation import gettext

from annotate.core.access import (
    Found,
    SomeUser,
    first_or_404,
    membership,
    project_for_admin,
    project_for_reader,
    roles_in,
)
from annotate.core.models import Dimension, Project, Role
from judges.core.models import (
    Calibration,
    Drafting,
    Endpoint,
    Judge,
    Judgment,
    ModelPrice,
    Panel,
    PromptSearch,
    PromptTemplate,
    Proposal,
    Rereading,
    RoutingPolicy,
    Run,
)

OF_JUDGES = (
    *("judge__endpoint", "judge__template", "judge__reference"),
    *("other__endpoint", "other__template", "other__reference"),
)
"""What must be loaded with a calibration to say what it binds."""


def project_for_judges(user: SomeUser, slug: str) -> Project:
    """Return the project if this person may see the set-up of its judges and the progress of its runs.

    These pages show no values, so they are open to admins and researchers who rate in the project. The
    replies of models are results, which `project_for_reader` of annotate.core.access protects.
    """
    return membership(user, slug, Role.ADMIN, Role.RESEARCHER).project


def project_for_routing(user: SomeUser, slug: str) -> Project:
    """Return the project of an admin who does not rate in it, because routing shows results."""
    # Both checks: the first demands an admin, the second excludes one who rates here.
    project_for_admin(user, slug)
    return project_for_reader(user, slug)


def may_change_judges(user: SomeUser, project: Project) -> bool:
    """Return True if this person is an admin of the project and may change its judges and runs."""
    return Role.ADMIN in roles_in(user, project)


def endpoint_in(project: Project, pk: int) -> Endpoint:
    return _first_or_404(Endpoint.objects.filter(project=project, pk=pk), "endpoint")


def model_price_in(project: Project, endpoint: int, pk: int) -> ModelPrice:
    prices = endpoint_in(project, endpoint).model_prices.select_related("endpoint__project")
    return _first_or_404(prices.filter(pk=pk), "price")


def proposal_in(project: Project, pk: int) -> Proposal:
    return _first_or_404(Proposal.objects.filter(judge__project=project, pk=pk), "proposal")


def drafting_in(project: Project, pk: int) -> Drafting:
    """Return a drafting planned by a person for a judge of the project."""
    # A search plans its own draftings, and no person may start or stop these.
    draftings = Drafting.objects.filter(search=None).select_related("judge", "dimension", "drafter__endpoint")
    return _first_or_404(draftings.filter(judge__project=project, pk=pk), "drafting")


def search_in(project: Project, pk: int) -> PromptSearch:
    searches = PromptSearch.objects.select_related("judge__project", "dimension", "run")
    return _first_or_404(searches.filter(judge__project=project, pk=pk), "search")


def template_in(project: Project, pk: int) -> PromptTemplate:
    return _first_or_404(PromptTemplate.objects.filter(project=project, pk=pk), "template")


def dimension_in(project: Project, key: str) -> Dimension:
    return _first_or_404(Dimension.objects.filter(project=project, key=key), "dimension")


def judge_in(project: Project, pk: int) -> Judge:
    return _first_or_404(
        Judge.objects.select_related("endpoint", "template").filter(project=project, pk=pk), "judge"
    )


def panel_in(project: Project, judge: int) -> Panel:
    panels = Panel.objects.select_related("judge__project")
    return _first_or_404(panels.filter(judge=judge_in(project, judge)), "panel")


def run_in(project: Project, pk: int) -> Run:
    return _first_or_404(Run.objects.select_related("experiment").filter(project=project, pk=pk), "run")


def judgment_in(project: Project, pk: int) -> Judgment:
    of_judge = ("judge__project", "judge__template", "judge__endpoint")
    whole = (*of_judge, "run", "dimension", "item__document", "item__system", "other__system")
    judgments = Judgment.objects.select_related(*whole)
    return _first_or_404(judgments.filter(judge__project=project, pk=pk), "judgment")


def rereading_in(project: Project, pk: int) -> Rereading:
    return _first_or_404(
        Rereading.objects.select_related("judge", "project").filter(project=project, pk=pk), "rereading"
    )


def policy_in(project: Project, pk: int) -> RoutingPolicy:
    policies = RoutingPolicy.objects.select_related("rts", "mcq", "round", "routed_by", "calibration")
    return _first_or_404(policies.filter(project=project, pk=pk), "policy")


def calibration_in(project: Project, pk: int) -> Calibration:
    calibrations = Calibration.objects.select_related("drawn_by", "ended_by", "project", *OF_JUDGES)
    return _first_or_404(calibrations.filter(project=project, pk=pk), "calibration")


def _first_or_404(candidates: "QuerySet[Found]", name: str) -> Found:
    return first_or_404(candidates, gettext("There is no such {name}.").format(name=name))
