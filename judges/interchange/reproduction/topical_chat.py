"""Chiang and Lee 2023: prompts for ChatGPT to rate dialogue responses of Topical-Chat."""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agreement.comparison import Level
from annotate.core.guideline import DimensionSpec, ProjectTemplate
from annotate.core.models import Project
from annotate.material.reading.columns import ColumnMapping, PartColumn
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.source import Source
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.reproduction.commands import items_of_release, ratings_of_release
from annotate.results.reproduction.papers import Absent, Computed, Key, Paper, ReleaseFile
from judges.interchange.commands import add_recorded_judge, import_judgments
from judges.interchange.reading import JudgmentMapping
from judges.methods.scales import OwnScale

MODEL = "gpt-3.5-turbo-0613"
PEOPLE = 3

FIRST_DIGIT = r"\A\D*(\d)"
# RE2 has no look-ahead, so this spells out every text without “Rating:”.
NO_RATING = (
    r"(?:[^R]|R[^a]|Ra[^t]|Rat[^i]|Rati[^n]|Ratin[^g]|Rating[^:])*"
    r"(?:R|Ra|Rat|Rati|Ratin|Rating)?"
)
FIRST_DIGIT_OF_LAST_RATING = rf"(?:\A|Rating:)\D*(\d){NO_RATING}\z"
"""The authors' extraction of replies with a rating and reasons: behind the last "Rating:", if any."""

JUDGES = {
    "geval": ("G-Eval", "g_eval", FIRST_DIGIT),
    "geval_no_auto_cot": ("G-Eval without steps", "direct", FIRST_DIGIT),
    "llm_eval_no_cot": ("Free text", "rts", FIRST_DIGIT),
    "rate_explain": ("Rate, then explain", "rate_explain", FIRST_DIGIT_OF_LAST_RATING),
    "analyze_rate": ("Analyse, then rate", "analyse_rate", FIRST_DIGIT_OF_LAST_RATING),
}
"""The judge of each of the release's modes that the paper reports: its name, its method, how it is read."""

EVERY_DIGIT = OwnScale(0, 9, table=(0, 3, 6, 9, 9, 9, 9, 9, 9, 9))
"""Any digit is an answer to the authors, on the scale asked for or not; people's sums are 3 times it."""

COEFFICIENTS = {"pearson": f"pearson_{Level.DATASET}", "kendall": f"kendall_tau_b_{Level.DOCUMENT}"}
PROMPT = "The release does not hold the prompt.\n\n{{ document }}\n\n{{ text }}"


def compute_figures(project: Project) -> Computed:
    """Return table 2's correlations of each mode with people, from the results page of its judges."""
    page = current_page(project=project, result=result_of(project, "judges", {"round": "1"}))
    modes = {name: mode for mode, (name, _, _) in JUDGES.items()}
    dimensions = dict(project.dimensions.values_list("name", "key"))
    found: dict[Key, float | None] = {}
    for row in page.rows("correlations"):
        of, mode = dimensions[str(row["dimension"])], modes[str(row["judge"])]
        for short, column in COEFFICIENTS.items():
            value = row[column]
            found["correlation_with_humans", of, mode, short] = None if value is None else float(value)
    return found


def _people(project: Project, path: Path, on_progress: OnProgress) -> str:
    return _copy_lines(path, _sums, lambda flat: ratings_of_release(SUMS, project, flat, on_progress))


def _sums(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the sum of people's scores on each dimension; the release contains their mean."""
    for dimension, mean in line["scores"].items():
        value = round(PEOPLE * mean)
        # Three times a mean of three whole numbers is whole, up to the error of a float.
        if abs(PEOPLE * mean - value) > 1e-6:
            raise ValueError(f"{mean} on {dimension} is no mean of {PEOPLE} whole numbers")
        yield {**_unit(line), "rater": "Three people", "dimension": dimension, "value": value}


def _replies(project: Project, path: Path, on_progress: OnProgress) -> str:
    # The judges precede the replies, because their patterns and scale decide the reading.
    for name, method, pattern in JUDGES.values():
        add_recorded_judge(
            project=project,
            name=name,
            model=MODEL,
            method=method,
            prompt=PROMPT,
            pattern=pattern,
            scale=EVERY_DIGIT,
        )
    return _copy_lines(path, _samples, partial(_import_samples, project, on_progress))


def _samples(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if line["mode"] not in JUDGES:
        return
    name, method, _ = JUDGES[line["mode"]]
    about = {**_unit(line), "judge": name, "method": method, "dimension": line["dimension"]}
    for sample, reply in enumerate(line["samples"]):
        yield {**about, "model": line["model"], "sample": sample, "reply": reply}


def _import_samples(project: Project, on_progress: OnProgress, path: Path) -> str:
    fields = ("judge", "model", "method", "document", "system", "dimension", "sample", "reply")
    source = Source(path, path.name, JudgmentMapping({field: field for field in fields}, {}))
    report = import_judgments(project=project, source=source, on_progress=on_progress)
    return str(report.refused[0]) if report.is_refused else ""


def _unit(line: dict[str, Any]) -> dict[str, Any]:
    return {"document": line["document"], "system": line["system"]}


def _copy_lines(
    path: Path,
    rows_of_line: Callable[[dict[str, Any]], Iterator[dict[str, Any]]],
    bring: Callable[[Path], str],
) -> str:
    """Write one line per value or reply of a release's lines, which contain several; import that file."""
    opened = gzip.open if path.suffix == ".gz" else open
    # An import reads its file twice, first to check it, so the rows cannot be a stream.
    with TemporaryDirectory() as folder:
        flat = Path(folder) / path.name.removesuffix(".gz")
        with opened(path, "rt", encoding="utf-8") as lines, flat.open("w", encoding="utf-8") as file:
            for number, line in enumerate(lines, start=1):
                try:
                    rows = [json.dumps(row) for row in rows_of_line(json.loads(line))]
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    return f"line {number} cannot be read ({error})"
                file.writelines(f"{row}\n" for row in rows)
        return bring(flat)


def _dimension(name: str, definition: str) -> DimensionSpec:
    return DimensionSpec(name=name, definition=definition, scale_minimum=0, scale_maximum=9)


DIALOGUES = ProjectTemplate(
    key="topical-chat",
    name="Dialogue responses, 4 dimensions",
    summary="A dialogue, a fact and the next response, rated as in USR's Topical-Chat.",
    guidelines="Each value is the sum of the scores of three people, since the release has only their means: "
    "from 1 to 3 each, under groundedness 0 or 1.",
    dimensions=(
        _dimension("Naturalness", "How far the response could have been said by a person."),
        _dimension("Coherence", "How well the response continues the dialogue."),
        _dimension("Engagingness", "How interesting the response is."),
        _dimension("Groundedness", "Whether the response uses the fact."),
    ),
)
ITEMS = ColumnMapping(document_key="document", system="system", text="text")
SUMS = replace(ITEMS, text="", rater="rater", dimension="dimension", value="value")

TOPICAL_CHAT = Paper(
    key="topical-chat",
    name="Topical-Chat",
    title="A Closer Look into Automatic Evaluation Using Large Language Models",
    source="Chiang and Lee, Findings of EMNLP 2023, arXiv:2310.05657",
    template=DIALOGUES,
    # The order matters: items need their documents, and scores and replies need their items.
    files=(
        ReleaseFile(
            "dialogues.jsonl",
            "the dialogues and facts",
            partial(
                items_of_release,
                ColumnMapping(
                    document_key="id", parts=(PartColumn("history", "Dialogue"), PartColumn("fact", "Fact"))
                ),
            ),
        ),
        ReleaseFile("dialogue_responses.jsonl", "the responses", partial(items_of_release, ITEMS)),
        ReleaseFile("dialogue_responses.jsonl", "people's scores", _people),
        ReleaseFile("dialogue_replies_gpt-3.5.jsonl", "20 replies about each response", _replies),
    ),
    tables={
        "2": "correlation of each mode with people: Pearson's r over all responses, Kendall's tau as mean "
        "over dialogues"
    },
    figures=Path(__file__).with_name("topical_chat.csv"),
    reasons={
        "paper": "The release's own replies, read by its own extraction, give this in SciPy, too.",
        "repeated": "The paper prints the figure of analyse-rate in the row of rate-explain, too; the "
        "release's own replies give this in SciPy.",
    },
    absent=(
        Absent("Figures on SummEval", "This reads the replies about Topical-Chat."),
        Absent("Alpha among people", "Their scores are released as means of three people."),
    ),
    compute=compute_figures,
)
