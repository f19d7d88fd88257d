"""Proposals of a search, and its candidates: combinations of proposals, each tested by a hidden judge."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext

from agreement import Stream
from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.guidelines import current_guideline
from annotate.core.models import Dimension, Project, User
from annotate.setup.commands import reword_dimension
from annotate.setup.queries import spec_of as spec_of_dimension
from judges.core.errors import invalid_field
from judges.core.models import DevelopmentDocument, Judge, PromptSearch, PromptTemplate, Proposal
from judges.core.values import nearest_point
from judges.endpoints.commands import add_judge, add_label, add_version, copy_settings, free_name, refuse_text
from judges.laboratory.cases import Case, examples_text, insert_addition, pool_text
from judges.laboratory.factors import spec_of
from judges.laboratory.queries.cases import (
    Part,
    cases_of,
    documents_of,
    explain_in_use,
    find_frozen,
    free_documents,
)
from judges.methods import METHODS
from judges.methods.nearest import NEAREST, is_pool

MOST_POOLED = 30  # the number of nearest examples that each item shows
Status = Proposal.Status


@transaction.atomic
def draw_parts(*, project: Project, teach: int, select: int, by: User | None) -> None:
    """Split the documents for teaching and for selecting; the rest stays held out. Locks the project.

    A part with documents keeps them. Documents of certificates and audits stay held out. Raises
    InvalidValueError for numbers that leave no document to hold out, NotReadyError if none is free.
    """
    project = lock_project(project)
    before = {part: len(documents_of(project, part)) for part in Part}
    # A part with documents stays as it is; only an empty part gets some.
    wanted = {
        part: 0 if before[part] else number for part, number in ((Part.TEACH, teach), (Part.SELECT, select))
    }
    if not any(wanted.values()) and all(before.values()):
        raise NotReadyError(gettext("The documents are split already. Undo the split to change it."))
    free = free_documents(project)
    # The split leaves one document or more for the final comparison.
    most = min(len(free), project.documents.count() - 1 - sum(before.values()))
    if most < 1:
        raise NotReadyError(
            gettext(
                "Learning needs a document on which no certificate or audit rests, and another to hold out."
            )
        )
    if min(teach, select) < 0 or not 1 <= sum(wanted.values()) <= most:
        says = gettext("Choose 1 to {most} documents in all, so that some stay held out.")
        message = says.format(most=most)
        raise invalid_field("teach", message)
    # `free` is in the order of keys, so a copy of the project has the same split.
    order = Stream(project.seed).of("alignment", "development").generator().permutation(len(free)).tolist()
    drawn = {}
    for part, number in wanted.items():
        chosen, order = order[:number], order[number:]
        drawn[part] = [free[index] for index in sorted(chosen)]
        DevelopmentDocument.objects.bulk_create(
            DevelopmentDocument(document_id=pk, part=part) for pk, _ in drawn[part]
        )
    facts = {str(part): [key for _, key in found] for part, found in drawn.items()}
    record(project, "development.drawn", project.slug, after=facts, by=by)


@transaction.atomic
def undo_draw(*, project: Project, by: User | None) -> None:
    """Return all documents to the held-out ones.

    Locks the project. Raises NotReadyError once other data depends on the split.
    """
    project = lock_project(project)
    if reason := explain_in_use(project):
        raise NotReadyError(reason)
    drawn = DevelopmentDocument.objects.filter(document__project=project)
    keys = list(drawn.order_by("document__key").values_list("document__key", flat=True))
    if keys:
        drawn.delete()
        record(project, "development.undone", project.slug, before={"documents": keys}, by=by)


def propose_examples(
    *, judge: Judge, dimension: Dimension, count: int, nearest: bool = False, by: User | None
) -> Proposal:
    """Propose units as examples for a judge's prompt. Raises InvalidValueError if there is none.

    nearest: propose a larger pool; each item shows the `count` nearest.
    """
    chosen = choose_examples(cases_of(judge, dimension), MOST_POOLED if nearest else count)
    if not chosen:
        raise InvalidValueError(
            gettext(
                "People have rated no document for teaching on {name}, or only halfway between two points."
            ).format(name=dimension.name)
        )
    guideline = current_guideline(judge.project)
    frozen = find_frozen(guideline.dimensions, dimension.pk)

    def show(point: int) -> str:
        # An example shows the reply in the judge's own scale, not in the dimension's.
        own = nearest_point(point, judge.own_scale, frozen) if judge.own_scale else point
        return METHODS[judge.method].show_answer(own, judge.rescale(frozen))

    text = pool_text(chosen, show, count) if nearest else examples_text(chosen, show)
    _refuse_text(judge, Proposal.Kind.EXAMPLES, text)
    return _add(judge, dimension, Proposal.Kind.EXAMPLES, text, chosen, "", by)


def propose_text(*, judge: Judge, dimension: Dimension, kind: str, text: str, by: User | None) -> Proposal:
    """Create a proposal with a person's wording.

    Raises InvalidValueError if it is empty or there is no prompt.
    """
    _refuse_text(judge, kind, text)
    return _add(judge, dimension, Proposal.Kind(kind), text.strip(), (), "", by)


@transaction.atomic
def _add(
    judge: Judge,
    dimension: Dimension,
    kind: Proposal.Kind,
    text: str,
    cases: Sequence[Case],
    about: str,
    by: User | None,
) -> Proposal:
    proposal = Proposal.objects.create(judge=judge, dimension=dimension, kind=kind, text=text, about=about)
    proposal.items.set([case.item for case in cases])
    facts = {"kind": str(kind), "dimension": dimension.key, "units": len(cases)}
    record(judge.project, "proposal.made", judge, after=facts, by=by)
    return proposal


@transaction.atomic
def edit_proposal(*, proposal: Proposal, text: str, by: User | None) -> Proposal:
    """Replace the wording of an undecided proposal. Locks the project.

    Raises NotReadyError if it was decided, InvalidValueError for an empty wording or an invalid prompt.
    """
    lock_project(proposal.judge.project)
    proposal = _lock(proposal)
    _refuse_decided(proposal)
    _refuse_text(proposal.judge, proposal.kind, text)
    before, proposal.text = proposal.text, text.strip()
    proposal.save(update_fields=["text"])
    facts = {"text": proposal.text}
    record(
        proposal.judge.project, "proposal.edited", proposal.judge, before={"text": before}, after=facts, by=by
    )
    return proposal


@transaction.atomic
def accept_proposal(*, proposal: Proposal, text: str, by: User | None) -> Judge:
    """Create a judge with the edited proposal in a separate version of its prompt; return it.

    Locks the project. Raises NotReadyError if it was accepted or dismissed, InvalidValueError for an empty
    wording.
    """
    project = lock_project(proposal.judge.project)
    proposal = _lock(proposal)
    _refuse_decided(proposal)
    judge = proposal.judge
    _refuse_text(judge, proposal.kind, text)
    assert judge.template is not None
    before = judge.template.text_about(proposal.dimension_id)
    wording = insert_addition(before, proposal.kind, text)
    label = f"{proposal.get_kind_display()} {proposal.pk}"
    # A separate judge, with the wording in a separate version of its prompt.
    template = add_version(template=judge.template, dimension=proposal.dimension, text=wording, by=by)
    spec = spec_of(judge, list(project.dimensions.all()))
    spec = replace(spec, name=add_label(judge.name, label), template=template)
    candidate = add_judge(project=project, judge=spec, by=by)
    proposal.candidate, proposal.text, proposal.status = candidate, text.strip(), Status.ACCEPTED
    proposal.decided_at = timezone.now()
    proposal.save(update_fields=["candidate", "text", "status", "decided_at"])
    facts = {"prompt": str(candidate.template), "judge": candidate.name, "text": proposal.text}
    record(project, "proposal.accepted", judge, after=facts, by=by)
    return candidate


@transaction.atomic
def dismiss_proposal(*, proposal: Proposal, by: User | None) -> None:
    """Dismiss a proposal. Raises NotReadyError if it was accepted or dismissed."""
    lock_project(proposal.judge.project)
    proposal = _lock(proposal)
    _refuse_decided(proposal)
    proposal.status, proposal.decided_at = Status.DISMISSED, timezone.now()
    proposal.save(update_fields=["status", "decided_at"])
    record(proposal.judge.project, "proposal.dismissed", proposal.judge, after={"text": proposal.text}, by=by)


@transaction.atomic
def send_to_raters(*, proposal: Proposal, note: str, by: User | None) -> None:
    """Add an accepted clarification to the raters' guideline of its dimension, as a new version.

    Locks the project. Raises NotReadyError if it is no accepted clarification, the raters have it already, or
    both rounds are closed. Raises InvalidValueError without a note.
    """
    project = lock_project(proposal.judge.project)
    proposal = _lock(proposal)
    is_accepted = proposal.status == Status.ACCEPTED and proposal.kind == Proposal.Kind.CLARIFICATION
    if not is_accepted or proposal.guideline_id is not None:
        raise NotReadyError(gettext("You can send only an accepted clarification to raters, and only once."))
    dimension = project.dimensions.get(pk=proposal.dimension_id)
    before = spec_of_dimension(dimension)
    guidelines = f"{before.guidelines.rstrip()}\n\n{proposal.text}".strip()
    version = reword_dimension(
        dimension=dimension, to=replace(before, guidelines=guidelines), note=note, by=by
    )
    proposal.guideline = version
    proposal.save(update_fields=["guideline"])


def _lock(proposal: Proposal) -> Proposal:
    # Callers lock the project before: one order of locks in all commands prevents deadlocks.
    proposals = Proposal.objects.select_for_update(of=("self",))
    return proposals.select_related("judge__template", "judge__endpoint", "dimension").get(pk=proposal.pk)


def _refuse_decided(proposal: Proposal) -> None:
    if proposal.status in (Status.DRAFTING, Status.FAILED):
        raise NotReadyError(gettext("This proposal is empty; let the model draft it."))
    if proposal.status != Status.PROPOSED:
        raise NotReadyError(gettext("This proposal was accepted or dismissed already."))


def _refuse_text(judge: Judge, kind: str, text: str) -> None:
    if not text.strip():
        message = gettext("Write the addition to the prompt, or dismiss the proposal.")
        raise invalid_field("text", message)
    if kind == Proposal.Kind.WORDING:
        refuse_text(judge.method, text)
    if NEAREST in text and not is_pool(text.strip()):
        message = gettext("The examples need their first and last line in double braces as they were.")
        raise invalid_field("text", message)
    if judge.template is not None and is_pool(text.strip()):
        refuse_text(judge.method, insert_addition(judge.template.text, kind, text))


def choose_examples(cases: Sequence[Case], count: int) -> list[Case]:
    """Return up to `count` units that cover the scale and the kinds of dispute, the lowest value first.

    Greedy: each next unit has the point of the scale with the fewest selections. Ties are resolved by these
    criteria in turn: exact agreement of people; the kind and direction of the judge's error with the fewest
    selections; the presence of reasons; the largest error; the first name. Units halfway between two points
    are excluded.
    """
    fitting = [case for case in cases if case.point is not None]
    chosen: list[Case] = []
    while len(chosen) < count and (left := [case for case in fitting if case not in chosen]):
        chosen.append(min(left, key=lambda case: _rank(case, chosen)))
    return sorted(chosen, key=lambda case: (case.point, case.name))


def _rank(case: Case, chosen: Sequence[Case]) -> tuple[object, ...]:
    same_point = sum(other.point == case.point for other in chosen)
    same_kind = sum((other.kind, other.direction) == (case.kind, case.direction) for other in chosen)
    return same_point, not case.is_unanimous, same_kind, not case.reasons, -abs(case.error), case.name


Combined = tuple[Sequence[Proposal], str]
"""Proposals, and the prompt on the dimension that they make together."""


def combine(judge: Judge, parts: Sequence[Proposal]) -> Combined:
    """Return proposals with the prompt that results from the judge's; a wording comes first."""
    assert judge.template is not None
    text = judge.template.text_about(parts[0].dimension_id)
    for each in parts:
        text = insert_addition(text, each.kind, each.text)
    return parts, text


def add_candidates(search: PromptSearch, combined: Sequence[Combined]) -> list[Proposal]:
    """Create candidates of a search. The caller holds its lock, or has just created it."""
    made = []
    for parts, text in combined:
        candidate = Proposal.objects.create(
            judge=search.judge,
            dimension=search.dimension,
            kind=Proposal.Kind.WORDING,
            status=Proposal.Status.TRIED,
            text=text,
            # The column takes 200 characters.
            about=" + ".join(f"{each.get_kind_display()} {each.pk}" for each in parts)[:200],
            search=search,
        )
        candidate.parts.set(parts)
        candidate.items.set({item for each in parts for item in each.items.values_list("pk", flat=True)})
        made.append(candidate)
    return made


def make_candidates(search: PromptSearch) -> None:
    """Create the missing judges of candidates; no other page shows them.

    Raises InvalidValueError for a prompt that the judge's method cannot use.
    """
    missing = search.candidates.filter(candidate=None).order_by("pk")
    # Numbers go on over the rounds of a search.
    first = search.candidates.count() - missing.count() + 1
    for number, proposal in enumerate(missing, start=first):
        proposal.candidate = _make_judge(search, proposal, f"search {search.pk}.{number}")
        proposal.save(update_fields=["candidate"])


def _make_judge(search: PromptSearch, proposal: Proposal, label: str) -> Judge:
    base = search.judge
    assert base.template is not None
    refuse_text(base.method, proposal.text)
    hidden = f"{label} #{uuid4().hex[:8]}"  # no judge of the project has this name, now or later
    template = PromptTemplate.with_candidates.create(
        project=base.project,
        method=base.template.method,
        name=add_label(base.template.name, hidden),
        version=1,
        text=base.template.text,
        wordings={**base.template.wordings, str(proposal.dimension_id): proposal.text},
        pattern=base.template.pattern,
        created_by=search.created_by,
        tried_by=search,
    )
    name = add_label(base.name, hidden)
    return Judge.with_candidates.create(**copy_settings(base), name=name, template=template, tried_by=search)


def reveal_candidate(candidate: Proposal, by: User | None) -> None:
    """Turn a selected candidate into a judge of the project, with the next version of its prompt.

    Locks the project. A candidate that already is a judge does not change.
    """
    lock_project(candidate.judge.project)
    judges = Judge.with_candidates.select_related("template", "project")
    judge = judges.get(accepted_proposals=candidate)
    base = candidate.judge.template
    if judge.tried_by_id is None:
        return
    assert judge.template is not None
    assert base is not None
    # The part after # only makes a hidden name unique.
    judge.name = free_name(judge.project, judge.name.partition(" #")[0])
    versions = PromptTemplate.objects.filter(project=judge.project, name=base.name)
    judge.template.name = base.name
    judge.template.version = (versions.aggregate(last=Max("version"))["last"] or 0) + 1
    judge.template.tried_by = judge.tried_by = None
    judge.template.save(update_fields=["name", "version", "tried_by"])
    judge.save(update_fields=["name", "tried_by"])
    facts = {"prompt": str(judge.template), "judge": judge.name, "text": candidate.text}
    record(judge.project, "search.chose", candidate.judge, after=facts, by=by)
