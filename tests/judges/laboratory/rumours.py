"""A project in which a model errs on rumours until a clarification is in its prompt, and people say why."""

import hashlib
from typing import Any

from annotate.core.jobs import run_job
from annotate.rating.commands.rounds import close_round_one
from judges.core.models import Drafting, Judge, Proposal
from judges.laboratory.commands.draftings import plan_drafting, start_drafting
from tests.factories import Cast, make_project
from tests.judges.factories import make_judgment
from tests.judges.running import running, worked
from tests.rating.rounds import opened, rate

DOCUMENTS, SYSTEMS = 20, 3
MARK = "Rumour has it"
CLARIFICATION = "A statement without any source counts as an error, however well it is written."
REASON = "A rumour without any source is an error."
SECOND = "A rumour stays one, however many repeat it."
NOISE = "Think of case"


def quality(index: int) -> int:
    return 2 + index % 3


def answer(body: dict[str, Any]) -> str:
    """Answer as people do, but too high on the mark until the clarification is in the prompt.

    Prompts with a noisy clarification get other errors instead, that follow from the prompt and text alone.
    """
    prompt = "\n".join(message["content"] for message in body["messages"])
    if "Write one clarification" in prompt:
        return CLARIFICATION if REASON in prompt else "Be careful."
    if "Write the\nprompt anew" in prompt:
        return prompt.partition("<prompt>\n")[2].partition("\n</prompt>")[0] + f"\n{CLARIFICATION}"
    head, _, judged = prompt.rpartition("<text>")
    value = int(judged.partition("quality ")[2][0])
    if NOISE in head:
        return f"Score: {_with_noise(value, head.partition(NOISE)[2][:8], judged)}"
    is_wrong = MARK in judged and CLARIFICATION not in prompt
    return f"Score: {min(value + 3, 5) if is_wrong else value}"


def answer_in_two_steps(body: dict[str, Any]) -> str:
    """Answer too high on every odd rumour until the clarification, on every even one until the second."""
    prompt = "\n".join(message["content"] for message in body["messages"])
    if "Write one clarification" in prompt:
        return SECOND if CLARIFICATION in prompt else CLARIFICATION
    judged = prompt.rpartition("<text>")[2]
    value = int(judged.partition("quality ")[2][0])
    if MARK not in judged:
        return f"Score: {value}"
    number = int(judged.partition("number ")[2].partition(".")[0])
    mended = CLARIFICATION if number % 2 else SECOND
    return f"Score: {value if mended in prompt else 4}"


def _with_noise(value: int, *names: str) -> int:
    drawn = hashlib.sha256("/".join(names).encode()).digest()[0]
    return min(max(value + (drawn % 5 - 2), 1), 5)


def make_rumours(*, documents: int = DOCUMENTS) -> Cast:
    """Make a project in which every third text has the mark; people rate those 1 and say why."""
    cast = make_project(documents=documents, systems=SYSTEMS, annotators=2, raters_per_item=2)
    for index, item in enumerate(cast.items):
        marked = index % 3 == index // 3 % 3
        value = 1 if marked else quality(index)
        item.text = f"{MARK}, number {index}. quality {value}" if marked else f"Fact {index}. quality {value}"
        item.save()
    round = opened(cast)
    for annotator in cast.annotators:
        for item in cast.items:
            comment = REASON if MARK in item.text else ""
            rate(cast, round, annotator, item, int(item.text[-1]), comment=comment)
    close_round_one(project=cast.project, by=cast.admin)
    return cast


def run(cast: Cast, *judges: Judge) -> None:
    """Ask judges about all texts, in this process."""
    worked(running(cast.project, *judges, dimensions=["fluency"]))


def judge_all(cast: Cast, judge: Judge) -> None:
    """Write down what the model says of all texts by the prompt as it is."""
    for item in cast.items:
        value = 4 if MARK in item.text else int(item.text[-1])
        make_judgment(judge, item, cast.dimensions[0], value=value)


def planned(cast: Cast, judge: Judge, *, kind: str = "clarification", most: int = 3, **how: Any) -> Drafting:
    """Plan what the judge's own model drafts."""
    return plan_drafting(
        judge=judge, dimension=cast.dimensions[0], kind=kind, most=most, drafter=judge, by=cast.admin, **how
    )


def drafted(cast: Cast, judge: Judge, **how: Any) -> list[Proposal]:
    """Let the judge's own model draft, in this process."""
    drafting = start_drafting(drafting=planned(cast, judge, **how), by=cast.admin)
    run_job("drafting", drafting.pk)
    return list(drafting.proposals.order_by("pk"))
