"""What a search for a better wording would ask and cost, how far it is, and how its candidates stand."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Prefetch, QuerySet, Sum
from django.utils.translation import gettext

from agreement.comparison.alpha import alpha_with_people
from agreement.streams import Stream
from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Dimension, Project
from judges.core.models import Judge, PromptSearch, Proposal, Run
from judges.core.specification import Scope
from judges.endpoints.prices import prices_of
from judges.endpoints.queries import CHARACTERS_A_TOKEN
from judges.laboratory.halving import LEAST_DOCUMENTS, CandidateRank, Stage, largest_plan, plan_stages
from judges.laboratory.queries.cases import learning_material
from judges.results.queries.scores import Material, Samples, samples_of, scores_of
from judges.runs.queries.plans import plan_of

ENDED = (Run.Status.FINISHED, Run.Status.CANCELLED, Run.Status.STOPPED)


@dataclass(frozen=True)
class SearchPlan:
    """What a search asks at the most: its stages on development documents, then the documents held out.

    documents: ids of the development documents in the order in which stages take them. calls: one for each
    value that is not there; held_out_calls: those of them that are about documents held out. cost None:
    unknown.
    """

    stages: Sequence[Stage]
    documents: Sequence[int]
    calls: int
    held_out_calls: int
    cost: Decimal | None


@dataclass(frozen=True)
class SearchState:
    """A search, its candidates as they were made, and what its runs have spent."""

    search: PromptSearch
    candidates: Sequence[Proposal]
    spent: Decimal

    @cached_property
    def stages(self) -> list[Stage]:
        """Its stages on development documents."""
        return stages_of(self.search)

    @property
    def current(self) -> Stage | None:
        """The stage under way; None where the documents held out are asked about."""
        return self.stages[self.search.stage] if self.search.stage < len(self.stages) else None

    @property
    def chosen(self) -> Proposal | None:
        """The candidate that was the best on the development documents, once it is known."""
        return next((each for each in self.candidates if each.is_chosen), None)

    @property
    def remaining_candidates(self) -> int:
        """How many candidates are still asked."""
        return sum(each.dropped_after is None for each in self.candidates)

    @property
    def moves(self) -> bool:
        """Whether it goes on by itself."""
        return self.search.status == PromptSearch.Status.RUNNING


def stages_of(search: PromptSearch) -> list[Stage]:
    """Return the stages of a search on development documents."""
    return [Stage(candidates, documents) for candidates, documents in search.stages]


def searches_of(project: Project) -> list[SearchState]:
    """Return a project's searches, the newest first. Two queries."""
    return [_state(each) for each in _searches().filter(judge__project=project)]


def state_of_search(search: PromptSearch) -> SearchState:
    """Return how far a search is. Two queries."""
    return _state(_searches().get(pk=search.pk))


def _searches() -> QuerySet[PromptSearch]:
    candidates = Prefetch(
        "candidates", Proposal.objects.select_related("candidate").prefetch_related("parts").order_by("pk")
    )
    searches = PromptSearch.objects.select_related("judge__project", "dimension", "run")
    return searches.prefetch_related(candidates).annotate(paid=Sum("runs__spent")).order_by("-pk")


def _state(search: PromptSearch) -> SearchState:
    paid: Decimal | None = getattr(search, "paid", None)
    return SearchState(search, list(search.candidates.all()), paid or Decimal(0))


def spent_by(search: PromptSearch) -> Decimal:
    """Return what the runs of a search have spent. One query."""
    return search.runs.aggregate(spent=Sum("spent"))["spent"] or Decimal(0)


def plan_of_search(
    judge: Judge, dimension: Dimension, texts: Sequence[str], most_calls: int | None
) -> SearchPlan:
    """Return what a search over these wordings would ask, on as many development documents as calls allow.

    Raises InvalidValueError where people have rated too few documents, or the calls are too few.
    """
    material = learning_material(judge.project)
    development, held_out = rated_documents(judge.project, material, dimension)
    if len(development) < LEAST_DOCUMENTS or not held_out:
        raise InvalidValueError(
            gettext(
                "A search needs two development documents and one held out that people have rated on {name}."
            ).format(name=dimension.name)
        )
    counted = _CallCounter(judge, dimension, material, development, held_out)
    stages = largest_plan(
        len(texts), len(development), lambda each: most_calls is None or counted.all_calls(each) <= most_calls
    )
    if stages is None:
        least = counted.all_calls(plan_stages(len(texts), LEAST_DOCUMENTS))
        message = gettext(
            "The search takes {least} calls at least; allow as many, or try fewer candidates."
        ).format(least=least)
        raise InvalidValueError(message, fields={"most_calls": message})
    calls = counted.all_calls(stages)
    return SearchPlan(
        stages,
        development[: stages[-1].documents],
        calls,
        counted.held_out_calls,
        _cost(judge, dimension, texts, calls),
    )


class _CallCounter:
    """Counts the calls of stages: values that are there already are not asked for again."""

    def __init__(
        self,
        judge: Judge,
        dimension: Dimension,
        material: Material,
        development: Sequence[int],
        held_out: Sequence[int],
    ) -> None:
        self._samples = judge.samples
        self._items = Counter(material.documents.tolist())
        self._development = development
        there = judge.judgments.filter(dimension=dimension, other__isnull=True).order_by()
        self._there: Mapping[int, int] = dict(there.values_list("item__document").annotate(Count("pk")))
        self.held_out_calls = self._calls(held_out) + self._missing(held_out)

    def all_calls(self, stages: Sequence[Stage]) -> int:
        """Return the calls of all stages, of the judge as it is, and about documents held out."""
        calls, before = 0, 0
        for stage in stages:
            calls += stage.candidates * self._calls(self._development[before : stage.documents])
            before = stage.documents
        return calls + self._missing(self._development[:before]) + self.held_out_calls

    def _calls(self, documents: Iterable[int]) -> int:
        return sum(self._items[pk] for pk in documents) * self._samples

    def _missing(self, documents: Iterable[int]) -> int:
        """Return what the judge as it is has not said yet."""
        return sum(max(self._items[pk] * self._samples - self._there.get(pk, 0), 0) for pk in documents)


def rated_documents(
    project: Project, material: Material, dimension: Dimension
) -> tuple[list[int], list[int]]:
    """Return the development documents, and those held out, of which people have rated an item.

    Development documents are in an order that the project's seed draws by their keys.
    """
    rated = _has_ratings(material, dimension.key)
    keys = dict(zip(material.documents.tolist(), material.document_keys, strict=True))

    def those(which: npt.NDArray[np.bool_]) -> list[int]:
        return sorted(set(material.documents[rated & which].tolist()), key=lambda pk: keys[pk])

    development = those(material.in_development)
    Stream(project.seed).of("alignment", "search", dimension.key).shuffler().shuffle(development)
    return development, those(~material.in_development)


def _has_ratings(material: Material, key: str) -> npt.NDArray[np.bool_]:
    return np.asarray((~np.isnan(material.human(key))).any(axis=0))


def _cost(judge: Judge, dimension: Dimension, texts: Sequence[str], calls: int) -> Decimal | None:
    """Return what calls cost: as the judge's own, and what its candidates' prompts are longer on average."""
    (plan,) = plan_of(judge.project, Scope([judge], [dimension.key])).judges
    if plan.usage is None or judge.endpoint is None or judge.template is None:
        return None
    own = len(judge.template.text_about(dimension.pk))
    longer = sum(len(text) - own for text in texts) / len(texts) / CHARACTERS_A_TOKEN
    sent = round(calls * (plan.usage.input_tokens + max(longer, 0.0)))
    return prices_of(judge.endpoint, judge.model).cost(sent, round(calls * plan.usage.output_tokens))


def standings_of(search: PromptSearch) -> list[CandidateRank]:
    """Return how the candidates stand that are still asked, on the documents of the stage under way.

    The figures are those of the page of judges that learned, without their intervals. Eight queries.
    """
    stage, judge = stages_of(search)[search.stage], search.judge
    material = learning_material(judge.project)
    frozen = next(each for each in material.dimensions if each.id == search.dimension_id)
    left = search.candidates.filter(dropped_after__isnull=True, candidate__isnull=False)
    candidates = list(left.select_related("candidate").annotate(count=Count("parts")).order_by("pk"))
    judges = [judge, *(each.candidate for each in candidates if each.candidate)]
    samples = samples_of(judges, material)
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
        found.append(CandidateRank(each.pk, gain, share, each.count))
    return found


def _alpha(material: Material, frozen: FrozenDimension, samples: Samples) -> float | None:
    scores = scores_of(material, frozen.key, samples)
    return alpha_with_people(scores, measurement_level=frozen.measurement_level).with_mean.value
