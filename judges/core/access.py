"""What of judges a person may read or change: admins change, researchers read, others find nothing.

The project comes from `project_for_judges` here or `project_for_admin` of annotate.core.access, which decide
who the person is in it; what belongs to another project answers 404.
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
    """Return the project if this person may see how its judges are set up and how far their runs are.

    That tells no values, so it is open to admins and researchers who rate in it themselves; what models
    replied is a result, for which `project_for_reader` of annotate.core.access decides.
    """
    return membership(user, slug, Role.ADMIN, Role.RESEARCHER).project


def project_for_routing(user: SomeUser, slug: str) -> Project:
    """Return the project of an admin who does not rate in it: deciding what people rate shows results."""
    project_for_admin(user, slug)
    return project_for_reader(user, slug)


def may_change_judges(user: SomeUser, project: Project) -> bool:
    """Return whether this person may change anything about judges and runs: an admin of the project."""
    return Role.ADMIN in roles_in(user, project)


def endpoint_in(project: Project, pk: int) -> Endpoint:
    """Return an endpoint of the project."""
    return _first_or_404(Endpoint.objects.filter(project=project, pk=pk), "endpoint")


def model_price_in(project: Project, endpoint: int, pk: int) -> ModelPrice:
    """Return the prices of a model at an endpoint of the project."""
    prices = endpoint_in(project, endpoint).model_prices.select_related("endpoint__project")
    return _first_or_404(prices.filter(pk=pk), "price")


def proposal_in(project: Project, pk: int) -> Proposal:
    """Return a proposal for a judge of the project."""
    return _first_or_404(Proposal.objects.filter(judge__project=project, pk=pk), "proposal")


def drafting_in(project: Project, pk: int) -> Drafting:
    """Return a drafting that a person planned for a judge of the project."""
    draftings = Drafting.objects.filter(search=None).select_related("judge", "dimension", "drafter__endpoint")
    return _first_or_404(draftings.filter(judge__project=project, pk=pk), "drafting")


def search_in(project: Project, pk: int) -> PromptSearch:
    """Return a search for a better prompt of a judge of the project."""
    searches = PromptSearch.objects.select_related("judge__project", "dimension", "run")
    return _first_or_404(searches.filter(judge__project=project, pk=pk), "search")


def template_in(project: Project, pk: int) -> PromptTemplate:
    """Return a version of a prompt template of the project."""
    return _first_or_404(PromptTemplate.objects.filter(project=project, pk=pk), "template")


def dimension_in(project: Project, key: str) -> Dimension:
    """Return a dimension of the project."""
    return _first_or_404(Dimension.objects.filter(project=project, key=key), "dimension")


def judge_in(project: Project, pk: int) -> Judge:
    """Return a judge of the project, with its endpoint and template."""
    return _first_or_404(
        Judge.objects.select_related("endpoint", "template").filter(project=project, pk=pk), "judge"
    )


def panel_in(project: Project, judge: int) -> Panel:
    """Return the panel behind a judge of the project."""
    panels = Panel.objects.select_related("judge__project")
    return _first_or_404(panels.filter(judge=judge_in(project, judge)), "panel")


def run_in(project: Project, pk: int) -> Run:
    """Return a run of the project."""
    return _first_or_404(Run.objects.select_related("experiment").filter(project=project, pk=pk), "run")


def judgment_in(project: Project, pk: int) -> Judgment:
    """Return a judgment of the project, with its judge, unit and texts."""
    whole = (
        "judge__template",
        "judge__endpoint",
        "dimension",
        "item__document",
        "item__system",
        "other__system",
    )
    judgments = Judgment.objects.select_related("judge__project", "run", *whole)
    return _first_or_404(judgments.filter(judge__project=project, pk=pk), "judgment")


def rereading_in(project: Project, pk: int) -> Rereading:
    """Return a rereading of the project, with its judge."""
    return _first_or_404(
        Rereading.objects.select_related("judge", "project").filter(project=project, pk=pk), "rereading"
    )


def policy_in(project: Project, pk: int) -> RoutingPolicy:
    """Return a routing policy of the project, with its judges."""
    policies = RoutingPolicy.objects.select_related("rts", "mcq", "round", "routed_by", "calibration")
    return _first_or_404(policies.filter(project=project, pk=pk), "policy")


def calibration_in(project: Project, pk: int) -> Calibration:
    """Return a calibration of the project, with its judges."""
    calibrations = Calibration.objects.select_related("drawn_by", "ended_by", "project", *OF_JUDGES)
    return _first_or_404(calibrations.filter(project=project, pk=pk), "calibration")


def _first_or_404(candidates: "QuerySet[Found]", name: str) -> Found:
    return first_or_404(candidates, gettext("There is no such {name}.").format(name=name))
