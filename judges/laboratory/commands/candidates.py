"""The candidates of a search: combinations of proposals, each tested by a hidden judge."""

from collections.abc import Sequence
from uuid import uuid4

from django.db.models import Max
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.models import User
from judges.core.models import Judge, PromptSearch, PromptTemplate, Proposal
from judges.endpoints.commands import add_label, copy_settings, free_name, refuse_text
from judges.laboratory.wording import insert_addition

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
    judge.name = free_name(judge.project, judge.name.partition(" #")[0])
    versions = PromptTemplate.objects.filter(project=judge.project, name=base.name)
    judge.template.name = base.name
    judge.template.version = (versions.aggregate(last=Max("version"))["last"] or 0) + 1
    judge.template.tried_by = judge.tried_by = None
    judge.template.save(update_fields=["name", "version", "tried_by"])
    judge.save(update_fields=["name", "tried_by"])
    facts = {"prompt": str(judge.template), "judge": judge.name, "text": candidate.text}
    record(judge.project, "search.chose", candidate.judge, after=facts, by=by)


def describe_none(search: PromptSearch) -> str:
    """Return the reason why a search selected no candidate."""
    return gettext(
        "No candidate agrees better with people on the documents for selecting than the unchanged {name}, so "
        "the search tried none on the documents held out."
    ).format(name=search.judge.name)
