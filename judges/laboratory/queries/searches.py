"""Calls, cost, progress and ranking of searches for a better wording; the remaining calls of draftings and
their cost.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Prefetch, QuerySet, Sum
from django.utils.translation import gettext, gettext_lazy

from agreement.comparison.alpha import alpha_with_people
from agreement.streams import Stream
from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.jobs import is_silent
from annotate.core.models import Dimension, Project
from judges.core.errors import invalid_field
from judges.core.models import Drafting, Judge, PromptSearch, Proposal, Run
from judges.core.specification import Scope
from judges.endpoints.prices import prices_of
from judges.endpoints.queries import CHARACTERS_A_TOKEN, estimated_tokens
from judges.laboratory.halving import LEAST_DOCUMENTS, CandidateRank, Stage, largest_plan, plan_stages
from judges.laboratory.queries.cases import Part, documents_of, find_frozen, is_in_part, learning_material
from judges.methods.base import Message
from judges.results.queries.scores import Material, Samples, samples_of, scores_of
from judges.runs.queries.plans import plan_of

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
    # A stored reply is paid already and only waits to be parsed.
    asked = [each for each in proposals if each.status == Proposal.Status.DRAFTING and each.reply is None]
    sent = sum(estimated_tokens([Message("user", each.request)]) for each in asked)
    got = sum(LONGEST[Proposal.Kind(each.kind)] for each in asked)
    cost = prices_of(drafter.endpoint, drafter.model).cost(sent, got) if drafter.endpoint else None
    return DraftingPlan(len(asked), sent, got, cost if asked else Decimal(0))


DRAFTS = 3
"""How many additions a model drafts between two rounds; together they are one more candidate."""
REQUEST, DRAFT = 3_000, 400
"""Tokens of a request for an addition, and of what it gets, about."""
ENDED = (Run.Status.FINISHED, Run.Status.CANCELLED, Run.Status.STOPPED)


_DOING = {
    PromptSearch.Step.TEACH: gettext_lazy("The best candidate is asked about the documents for teaching."),
    PromptSearch.Step.DRAFT: gettext_lazy("A model drafts additions from the errors of the best candidate."),
    PromptSearch.Step.HELD_OUT: gettext_lazy("The chosen candidate is asked about the documents held out."),
}


@dataclass(frozen=True)
class SearchState:
    """A search, its candidates in order of creation, and the spending of its runs."""

    search: PromptSearch
    candidates: Sequence[Proposal]
    spent: Decimal

    @cached_property
    def stages(self) -> list[Stage]:
        return stages_of(self.search)

    @property
    def progress(self) -> str:
        """The current step as a message; empty if there is none."""
        search = self.search
        if not self.moves:
            return ""
        if self.waits:
            return self.waits
        if search.step in (PromptSearch.Step.SELECT, PromptSearch.Step.REPEAT):
            stage = self.stages[search.stage]
            says = gettext(
                "Round {round} of {rounds}, stage {stage} of {stages}: {left} candidates, "
                "{documents} documents."
            )
            return says.format(
                round=search.round,
                rounds=search.rounds,
                stage=search.stage + 1,
                stages=len(self.stages),
                left=self.remaining_candidates,
                documents=stage.documents,
            )
        return str(_DOING[PromptSearch.Step(search.step)])

    @property
    def waits(self) -> str:
        """The reason why it needs a person: its run is paused; empty otherwise."""
        run = self.search.run
        if not self.moves or run is None or run.status != Run.Status.PAUSED:
            return ""
        reason = run.reason or gettext("Somebody paused it.")
        return gettext("Run {number} is paused, so the search waits. {reason}").format(
            number=run.pk, reason=reason
        )

    @property
    def chosen(self) -> Proposal | None:
        """The best candidate on the documents for selecting, once known."""
        return next((each for each in self.candidates if each.is_chosen), None)

    @property
    def remaining_candidates(self) -> int:
        return sum(each.dropped_after is None for each in self.candidates)

    @property
    def moves(self) -> bool:
        """Return True if it continues without a person."""
        return self.search.status == PromptSearch.Status.RUNNING


def stages_of(search: PromptSearch) -> list[Stage]:
    return [Stage(candidates, documents) for candidates, documents in search.stages]


def searches_of(project: Project) -> list[SearchState]:
    """Return a project's searches, the newest first. Five queries."""
    return [_state(each) for each in _searches().filter(judge__project=project)]


def state_of_search(search: PromptSearch) -> SearchState:
    """Return the progress of a search. Five queries."""
    return _state(_searches().get(pk=search.pk))


def _searches() -> QuerySet[PromptSearch]:
    candidates = Prefetch(
        "candidates", Proposal.objects.select_related("candidate").prefetch_related("parts").order_by("pk")
    )
    searches = PromptSearch.objects.select_related("judge__project", "dimension", "run", "drafter")
    searches = searches.prefetch_related(candidates, "draftings").order_by("-pk")
    # Draftings are summed in Python: a second join would multiply the runs.
    return searches.annotate(paid=Sum("runs__spent"))


def _state(search: PromptSearch) -> SearchState:
    paid: Decimal = getattr(search, "paid", None) or Decimal(0)
    drafted = sum((each.spent for each in search.draftings.all()), Decimal(0))
    return SearchState(search, list(search.candidates.all()), paid + drafted)


def spent_by(search: PromptSearch) -> Decimal:
    """Return the spending of a search's runs and draftings. Two queries."""
    # Two queries, because a join of runs with draftings would count each several times.
    runs = search.runs.aggregate(spent=Sum("spent"))["spent"] or Decimal(0)
    return runs + (search.draftings.aggregate(spent=Sum("spent"))["spent"] or Decimal(0))


def plan_of_search(
    judge: Judge,
    dimension: Dimension,
    texts: Sequence[str],
    most_calls: int | None,
    *,
    rounds: int = 1,
    drafter: Judge | None = None,
) -> tuple[list[Stage], list[int], int, Decimal | None]:
    """Return stages, documents, calls and cost of a search over these wordings.

    It takes the largest number of documents for selecting that the calls allow: by id, in the order of the
    stages. The calls are one for each missing value; cost None: unknown. Raises InvalidValueError if people
    have rated too few documents, or the calls are too few.
    """
    material = learning_material(judge.project)
    development, held_out = rated_documents(judge.project, material, dimension)
    if len(development) < LEAST_DOCUMENTS or not held_out:
        raise InvalidValueError(
            gettext(
                "A search needs two documents for selecting and one held out that people have rated on "
                "{name}."
            ).format(name=dimension.name)
        )
    # Errors for additions come from these documents, and one round drafts no additions.
    teach = sorted(documents_of(judge.project, Part.TEACH)) if rounds > 1 else []
    if rounds > 1 and not teach:
        message = gettext("A second round needs documents for teaching. Add some, or search in one round.")
        raise invalid_field("rounds", message)
    # The largest number of documents that the limit of calls allows.
    count_calls = _call_counter(judge, dimension, material, development, held_out, teach, rounds)
    stages = largest_plan(
        len(texts), len(development), lambda each: most_calls is None or count_calls(each) <= most_calls
    )
    if stages is None:
        least = count_calls(plan_stages(len(texts), LEAST_DOCUMENTS))
        message = gettext(
            "The search takes {least} calls at least; allow as many, or try fewer candidates."
        ).format(least=least)
        raise invalid_field("most_calls", message)
    calls, drafts = count_calls(stages), (rounds - 1) * DRAFTS
    cost = _cost(judge, dimension, texts, calls - drafts)
    if drafts and cost is not None:
        drafter = drafter or judge
        prices = prices_of(drafter.endpoint, drafter.model) if drafter.endpoint else None
        drafted = prices.cost(drafts * REQUEST, drafts * DRAFT) if prices else None
        cost = None if drafted is None else cost + drafted
    return stages, development[: stages[-1].documents], calls, cost


def _call_counter(
    judge: Judge,
    dimension: Dimension,
    material: Material,
    development: Sequence[int],
    held_out: Sequence[int],
    teach: Sequence[int],
    rounds: int,
) -> Callable[[Sequence[Stage]], int]:
    """Return what counts the calls of stages, of the unchanged judge, and on held-out documents."""
    items = Counter(material.documents.tolist())
    rows = judge.judgments.filter(dimension=dimension, other__isnull=True).order_by()
    there: dict[int, int] = dict(rows.values_list("item__document").annotate(Count("pk")))

    def calls_about(documents: Iterable[int]) -> int:
        return sum(items[pk] for pk in documents) * judge.samples

    def missing(documents: Iterable[int]) -> int:
        # Existing values of the unchanged judge need no call.
        return sum(max(items[pk] * judge.samples - there.get(pk, 0), 0) for pk in documents)

    # The chosen candidate, and the missing calls of the unchanged judge.
    on_held_out = calls_about(held_out) + missing(held_out)

    def count(stages: Sequence[Stage]) -> int:
        calls, before = 0, 0
        for stage in stages:
            # A stage reuses the values of earlier stages, so only its further documents cost calls.
            calls += stage.candidates * calls_about(development[before : stage.documents])
            before = stage.documents
        # A later round: errors on teaching documents, drafts, and each draft alone and all together.
        later = calls_about(teach) + DRAFTS + (DRAFTS + 1) * calls_about(development[:before])
        return calls + (rounds - 1) * later + missing(development[:before]) + on_held_out

    return count


def rated_documents(
    project: Project, material: Material, dimension: Dimension
) -> tuple[list[int], list[int]]:
    """Return the documents with a rated item: those for selecting, and the held-out ones.

    The ones for selecting are in an order that depends on the project's seed and their keys.
    """
    rated = _has_ratings(material, dimension.key)
    keys = dict(zip(material.documents.tolist(), material.document_keys, strict=True))

    def those(which: npt.NDArray[np.bool_]) -> list[int]:
        return sorted(set(material.documents[rated & which].tolist()), key=lambda pk: keys[pk])

    development = those(is_in_part(project, material, Part.SELECT))
    # Sorted by key before, so that a copy of the project has the same order.
    Stream(project.seed).of("alignment", "search", dimension.key).shuffler().shuffle(development)
    return development, those(~material.in_development)


def _has_ratings(material: Material, key: str) -> npt.NDArray[np.bool_]:
    return np.asarray((~np.isnan(material.human(key))).any(axis=0))


def _cost(judge: Judge, dimension: Dimension, texts: Sequence[str], calls: int) -> Decimal | None:
    """Return the cost of calls: the judge's own cost, plus the average extra length of the candidates'
    prompts.
    """
    (plan,) = plan_of(judge.project, Scope([judge], [dimension.key])).judges
    if plan.usage is None or judge.endpoint is None or judge.template is None:
        return None
    own = len(judge.template.text_about(dimension.pk))
    # The known usage is of the judge's own prompt, and candidates have longer ones.
    longer = sum(len(text) - own for text in texts) / len(texts) / CHARACTERS_A_TOKEN
    sent = round(calls * (plan.usage.input_tokens + max(longer, 0.0)))
    return prices_of(judge.endpoint, judge.model).cost(sent, round(calls * plan.usage.output_tokens))


def standings_of(search: PromptSearch) -> list[CandidateRank]:
    """Return the ranking of the remaining candidates, on the documents of the current stage.

    The values equal those on the page of judges that learned, without their intervals. Eight queries.
    """
    stage, judge = stages_of(search)[search.stage], search.judge
    material = learning_material(judge.project)
    frozen = find_frozen(material.dimensions, search.dimension_id)
    left = search.candidates.filter(dropped_after__isnull=True, candidate__isnull=False)
    candidates = list(left.select_related("candidate").annotate(count=Count("parts")).order_by("pk"))
    judges = [judge, *(each.candidate for each in candidates if each.candidate)]
    samples = samples_of(judges, material)
    # Both alphas need the same items, so the judge's and people's values limit them first.
    held = _has_ratings(material, frozen.key) & samples[judge.pk, frozen.key].given
    held &= np.isin(material.documents, search.documents[: stage.documents])
    found = []
    for each in candidates:
        assert each.candidate_id is not None
        both = held & samples[each.candidate_id, frozen.key].given
        mine, own = (
            _alpha(material, frozen, samples[pk, frozen.key].of_items(both))
            for pk in (each.candidate_id, judge.pk)
        )
        gain = None if mine is None or own is None else mine - own
        share = float(both.sum() / held.sum()) if held.any() else 0.0
        found.append(CandidateRank(each.pk, gain, share, each.count, mine, own, int(both.sum())))
    return found


def _alpha(material: Material, frozen: FrozenDimension, samples: Samples) -> float | None:
    scores = scores_of(material, frozen.key, samples)
    return alpha_with_people(scores, measurement_level=frozen.measurement_level).with_mean.value
