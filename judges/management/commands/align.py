"""manage.py align PROJECT [--teach N --select N] [--judge NAME --dimension KEY ...] [--search]."""

import json
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError

from annotate.core.jobs import run_job
from annotate.core.models import Dimension, Project
from annotate.management.base import ConcordCommand
from annotate.management.projects import project_called
from judges.core.models import Drafting, Judge, PromptSearch, Proposal
from judges.laboratory.commands.draftings import plan_drafting, start_drafting
from judges.laboratory.commands.proposals import (
    accept_proposal,
    dismiss_proposal,
    draw_parts,
    edit_proposal,
    propose_examples,
    propose_text,
    send_to_raters,
    undo_draw,
)
from judges.laboratory.commands.searches import plan_search, start_search
from judges.laboratory.drafting import DRAFTING_JOB
from judges.laboratory.queries.cases import (
    learning_dimensions,
    learning_judges,
    proposals_of,
    triable_proposals,
)
from judges.laboratory.queries.draftings import state_of_drafting
from judges.laboratory.queries.searches import SearchState, searches_of, state_of_search
from judges.laboratory.searching import SEARCH_JOB
from judges.results.queries.pairings import judge_called
from judges.runs.commands.collecting import collect

SLICE = 60.0  # seconds of asking after which a search looks how far it is
DRAFTED = {"clarifications": Proposal.Kind.CLARIFICATION, "wordings": Proposal.Kind.WORDING}


class Command(ConcordCommand):
    """Lets a judge learn from documents: draws them, proposes, accepts, searches, lists.

    Steps are taken in the order of the options below. Models are asked by a worker, or with --here in this
    process. The exit code is 1 where something is refused, a draft failed, or a search stopped.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the project and the steps."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--teach", type=int, metavar="N", help="number of documents for teaching")
        parser.add_argument("--select", type=int, metavar="N", help="number of documents for selecting")
        parser.add_argument("--undo-split", action="store_true", help="hold all documents out again")
        parser.add_argument("--judge", metavar="NAME", help="whose prompt is to change")
        parser.add_argument("--dimension", metavar="KEY", help="on which dimension")
        parser.add_argument("--examples", type=int, metavar="N", help="propose N units as examples")
        parser.add_argument(
            "--nearest", action="store_true", help="for --examples: show each item the N nearest of a pool"
        )
        parser.add_argument("--clarifications", type=int, metavar="N", help="let a model draft up to N")
        parser.add_argument("--wordings", type=int, metavar="N", help="let a model draft N prompts, up to 3")
        parser.add_argument(
            "--drafter", metavar="NAME", help="the judge whose model drafts; left out: --judge"
        )
        parser.add_argument(
            "--propose", choices=[str(each) for each in Proposal.Kind], help="with --text: propose that"
        )
        parser.add_argument("--text", help="for --propose, --edit or --accept")
        parser.add_argument(
            "--edit", type=int, metavar="NUMBER", help="number of a proposal to change to --text"
        )
        parser.add_argument(
            "--accept",
            type=int,
            metavar="NUMBER",
            help="number of a proposal to accept, with the wording of --text if given",
        )
        parser.add_argument("--dismiss", type=int, metavar="NUMBER", help="of a proposal")
        parser.add_argument(
            "--send", type=int, metavar="NUMBER", help="of an accepted clarification, to raters"
        )
        parser.add_argument("--note", default="", help="for --send: what changed and why")
        parser.add_argument(
            "--search", action="store_true", help="try combinations of the judge's proposals on --dimension"
        )
        parser.add_argument("--candidates", type=int, default=8, metavar="N", help="maximum of a search")
        parser.add_argument("--rounds", type=int, default=2, metavar="N", help="maximum of a search")
        parser.add_argument("--calls", type=int, metavar="N", help="maximum of a search")
        parser.add_argument("--budget", metavar="X", help="maximum cost of drafting or searching")
        parser.add_argument("--dry-run", action="store_true", help="print calls and cost only")
        parser.add_argument("--here", action="store_true", help="make the calls in this process")
        parser.add_argument("--json", action="store_true", help="print proposals and searches as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Take the steps in their order, then print the proposals and searches."""
        project = project_called(options["project"])
        problems = self._take_steps(project, options)
        self._print(project, as_json=options["json"])
        if problems:
            raise CommandError("\n".join(problems))

    def _take_steps(self, project: Project, options: Mapping[str, Any]) -> list[str]:
        """Return why drafts failed, or a search stopped."""
        problems: list[str] = []
        if options["undo_split"]:
            undo_draw(project=project, by=None)
        if options["teach"] is not None or options["select"] is not None:
            draw_parts(project=project, teach=options["teach"] or 0, select=options["select"] or 0, by=None)
        if options["examples"]:
            judge, dimension = _whose(project, options)
            propose_examples(
                judge=judge,
                dimension=dimension,
                count=options["examples"],
                nearest=options["nearest"],
                by=None,
            )
        for option, kind in DRAFTED.items():
            if options[option]:
                problems += self._draft(project, options, kind, options[option])
        if options["propose"]:
            judge, dimension = _whose(project, options)
            text = options["text"] or ""
            propose_text(judge=judge, dimension=dimension, kind=options["propose"], text=text, by=None)
        for option, decide in _DECISIONS.items():
            if options[option] is not None:
                decide(_proposal(project, options[option]), options)
        if options["search"]:
            problems += self._search(project, options)
        return problems

    def _draft(self, project: Project, options: Mapping[str, Any], kind: str, most: int) -> list[str]:
        judge, dimension = _whose(project, options)
        drafter = _drafter(project, options) or judge
        drafting = plan_drafting(
            judge=judge,
            dimension=dimension,
            kind=kind,
            most=most,
            drafter=drafter,
            budget=_budget(options),
            by=None,
        )
        left = state_of_drafting(drafting).left
        self._tell(options, f"{left.calls} calls, {_cost(left.cost)} at most.")
        if options["dry_run"]:
            drafting.proposals.all().delete()
            drafting.delete()
            return []
        start_drafting(drafting=drafting, by=None)
        if not options["here"]:
            return []
        run_job(DRAFTING_JOB.name, drafting.pk)
        return _problems_of(Drafting.objects.get(pk=drafting.pk))

    def _search(self, project: Project, options: Mapping[str, Any]) -> list[str]:
        judge, dimension = _whose(project, options)
        search = plan_search(
            judge=judge,
            dimension=dimension,
            proposals=list(triable_proposals(project).filter(judge=judge, dimension=dimension)),
            most_candidates=options["candidates"],
            rounds=options["rounds"],
            drafter=_drafter(project, options),
            most_calls=options["calls"],
            budget=_budget(options),
            by=None,
        )
        self._tell(options, f"{search.planned_calls} calls at most, {_cost(search.planned_cost)}.")
        if options["dry_run"]:
            search.delete()
            return []
        search = start_search(search=search, by=None)
        while options["here"] and search.status == PromptSearch.Status.RUNNING:
            if search.run_id:
                collect(run=search.run_id, seconds=SLICE)
            elif drafting := search.draftings.order_by("-pk").first():
                run_job(DRAFTING_JOB.name, drafting.pk)
            run_job(SEARCH_JOB.name, search.pk)
            search.refresh_from_db()
            if waits := state_of_search(search).waits:
                return [waits]
        return [search.reason] if search.status == PromptSearch.Status.STOPPED else []

    def _tell(self, options: Mapping[str, Any], sentence: str) -> None:
        if not options["json"]:
            self.stdout.write(sentence)

    def _print(self, project: Project, *, as_json: bool) -> None:
        rows = [_row(each) for each in proposals_of(project)]
        searches = [_search_row(each) for each in searches_of(project)]
        if as_json:
            self.stdout.write(json.dumps({"proposals": rows, "searches": searches}, ensure_ascii=False))
            return
        for row in rows:
            self.stdout.write("{number}  {status}  {kind}, {dimension}, {judge}: {text}".format(**row))
        for row in searches:
            chosen = row["chosen"] or row["reason"]
            self.stdout.write("search {number}  {status}  {dimension}, {judge}: ".format(**row) + chosen)


def _whose(project: Project, options: Mapping[str, Any]) -> tuple[Judge, Dimension]:
    if not options["judge"]:
        raise CommandError("Name the judge whose prompt is to change: --judge NAME.")
    judge = judge_called(list(learning_judges(project)), options["judge"])
    found = {each.key: each for each in learning_dimensions(project)}
    if options["dimension"] not in found:
        raise CommandError(f"There is no dimension {options['dimension']}; there are {', '.join(found)}.")
    return judge, found[options["dimension"]]


def _drafter(project: Project, options: Mapping[str, Any]) -> Judge | None:
    return judge_called(list(learning_judges(project)), options["drafter"]) if options["drafter"] else None


def _budget(options: Mapping[str, Any]) -> Decimal | None:
    try:
        budget = Decimal(options["budget"]) if options["budget"] else None
    except InvalidOperation:
        budget = Decimal(0)
    if budget is not None and not budget > 0:
        raise CommandError(f"--budget is an amount above 0, not {options['budget']}.")
    return budget


def _cost(cost: Decimal | None) -> str:
    return "cost unknown" if cost is None else f"{cost.normalize():f}"


def _problems_of(drafting: Drafting) -> list[str]:
    failed = drafting.proposals.filter(status=Proposal.Status.FAILED).order_by("pk")
    found = [f"{each.about}: {each.problem}" for each in failed]
    return [*found, drafting.reason] if drafting.reason else found


def _proposal(project: Project, number: int) -> Proposal:
    proposal = proposals_of(project).filter(pk=number).first()
    if proposal is None:
        raise CommandError(f"There is no proposal {number}.")
    return proposal


def _edit(proposal: Proposal, options: Mapping[str, Any]) -> None:
    edit_proposal(proposal=proposal, text=options["text"] or "", by=None)


def _accept(proposal: Proposal, options: Mapping[str, Any]) -> None:
    accept_proposal(proposal=proposal, text=options["text"] or proposal.text, by=None)


def _dismiss(proposal: Proposal, _options: Mapping[str, Any]) -> None:
    dismiss_proposal(proposal=proposal, by=None)


def _send(proposal: Proposal, options: Mapping[str, Any]) -> None:
    send_to_raters(proposal=proposal, note=options["note"], by=None)


_DECISIONS: Mapping[str, Callable[[Proposal, Mapping[str, Any]], None]] = {
    "edit": _edit,
    "accept": _accept,
    "dismiss": _dismiss,
    "send": _send,
}


def _row(each: Proposal) -> dict[str, Any]:
    return {
        "number": each.pk,
        "kind": each.kind,
        "status": each.status,
        "judge": each.judge.name,
        "dimension": each.dimension.key,
        "about": each.about,
        "text": each.text,
        "problem": each.problem,
        "units": [[item.document.key, item.system.name] for item in each.items.all()],
        "candidate": each.candidate.name if each.candidate else None,
        "guideline_version": each.guideline.version if each.guideline else None,
    }


def _search_row(state: SearchState) -> dict[str, Any]:
    search = state.search
    chosen = state.chosen.candidate if state.chosen else None
    return {
        "number": search.pk,
        "status": search.status,
        "judge": search.judge.name,
        "dimension": search.dimension.key,
        "reason": search.reason,
        "progress": state.progress,
        "spent": f"{state.spent:f}",
        "candidates": [
            {
                "judge": each.candidate.name if each.candidate else None,
                "made_of": each.about,
                "ranks": each.ranks or [],
            }
            for each in state.candidates
        ],
        "chosen": chosen.name if chosen else None,
    }
