"""The remaining calls of draftings and their cost."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from annotate.core.jobs import is_silent
from annotate.core.models import Project
from judges.core.models import Drafting, Judge, Proposal
from judges.endpoints.prices import prices_of
from judges.endpoints.queries import estimated_tokens
from judges.methods.base import Message

LONGEST = {Proposal.Kind.CLARIFICATION: 400, Proposal.Kind.WORDING: 1500}
"""Tokens of a reply, by the kind of what is drafted."""
Status = Drafting.Status


@dataclass(frozen=True)
class DraftingPlan:
    """The maximum number of remaining calls and tokens; cost None: unknown."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None


@dataclass(frozen=True)
class DraftingState:
    """A drafting, its numbers of drafted and failed proposals, and the remaining calls."""

    drafting: Drafting
    total: int
    failed: int
    left: DraftingPlan

    @property
    def done(self) -> int:
        return self.total - self.failed - self.left.calls

    @property
    def moves(self) -> bool:
        """Return True if a worker runs it, or should."""
        return self.drafting.status in Drafting.UNDER_WAY

    @property
    def waits_for_worker(self) -> bool:
        """Return True if no worker has reported for too long."""
        return self.moves and is_silent(self.drafting)


def draftings_of(project: Project) -> list[DraftingState]:
    """Return a project's draftings that people planned, the newest first. Two queries."""
    draftings = Drafting.objects.filter(judge__project=project, search=None).order_by("-pk")
    related = draftings.select_related("judge", "dimension", "drafter__endpoint")
    return [state_of_drafting(each) for each in related.prefetch_related("proposals")]


def state_of_drafting(drafting: Drafting) -> DraftingState:
    """Return the progress of a drafting. One query, none if its proposals are loaded."""
    proposals = list(drafting.proposals.all())
    failed = sum(each.status == Proposal.Status.FAILED for each in proposals)
    return DraftingState(drafting, len(proposals), failed, plan_of_calls(drafting.drafter, proposals))


def plan_of_calls(drafter: Judge, proposals: Iterable[Proposal]) -> DraftingPlan:
    """Return the calls, tokens and cost of the proposals that have no reply yet."""
    asked = [each for each in proposals if each.status == Proposal.Status.DRAFTING and each.reply is None]
    sent = sum(estimated_tokens([Message("user", each.request)]) for each in asked)
    got = sum(LONGEST[Proposal.Kind(each.kind)] for each in asked)
    cost = prices_of(drafter.endpoint, drafter.model).cost(sent, got) if drafter.endpoint else None
    return DraftingPlan(len(asked), sent, got, cost if asked else Decimal(0))
