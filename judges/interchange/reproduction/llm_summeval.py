"""Shen and others 2023: ChatGPT as a judge of SummEval's abstractive systems."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agreement.comparison import CORRELATIONS, Level
from annotate.core.models import Project
from annotate.material.reading.mappings import SHIPPED
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.source import Source
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.reproduction.commands import items_of_release, ratings_of_release
from annotate.results.reproduction.papers import Absent, Computed, Key, Paper, ReleaseFile
from annotate.results.table import Value
from annotate.setup.presets import TEMPLATES
from judges.core.models import Judge
from judges.interchange.commands import import_judgments
from judges.interchange.reading import JudgmentMapping
from judges.results.tables.judges import INDICATORS, anchor_of

MODEL = "gpt-3.5-turbo-0301"
SECOND = f"{MODEL} (second wording)"
"""What the model is called in a project where other prompts asked it, so that its judges are told apart."""

METHODS = {
    (MODEL, "rts"): "rts",
    (MODEL, "mcq"): "mcq",
    (MODEL, "h2h"): "h2h",
    (SECOND, "rts"): "rts2",
    (SECOND, "mcq"): "mcq2",
    (MODEL, "stars"): "stareval",
}
"""What the paper calls the judges of a model by a method."""

SHORT = {name: name.removesuffix("_tau_b") for name in CORRELATIONS}

Figures = Iterator[tuple[Key, float | None]]
Row = Mapping[str, Value]


@dataclass(frozen=True)
class Names:
    """The meaning of a table's names: the paper's method of a judge, the key of a dimension."""

    methods: Mapping[str, str]
    dimensions: Mapping[str, str]

    def of(self, row: Row) -> tuple[str, str]:
        return self.dimensions[str(row["dimension"])], self.methods[str(row["judge"])]


def compute_figures(project: Project) -> Computed:
    """Return the values of the paper's tables, from the results page of the judges of its replies."""
    page = current_page(project=project, result=result_of(project, "judges", {"round": "1"}))
    judges = [
        (judge, METHODS[judge.model, judge.method])
        for judge in Judge.objects.filter(project=project, model__in=(MODEL, SECOND))
    ]
    names = Names(
        methods={judge.name: method for judge, method in judges},
        dimensions=dict(project.dimensions.values_list("name", "key")),
    )
    found: dict[Key, float | None] = {}
    for key, rows in _TOGETHER.items():
        found |= rows(names, page.rows(key))
    for judge, method in judges:
        found |= _measure_by_system(names, method, page.rows(f"{anchor_of(judge)}-quality"))
        found |= _measure_by_pair(names, page.rows(f"{anchor_of(judge)}-pairs"))
    for measure, key in INDICATORS.items():
        found |= _indicator(SHORT[measure], page.rows(key))
    return found


def _by_coefficient(table: str, names: Names, rows: Sequence[Row], *, level: str = "") -> Figures:
    for row in rows:
        for measure, short in SHORT.items():
            yield (table, *names.of(row), "", "", short), _number(row[measure + level])


def _preferences(names: Names, rows: Sequence[Row]) -> Figures:
    for row in rows:
        yield ("correct_preferences", *names.of(row), "", "full", ""), _number(row["correct"])
        challenge = ("correct_preferences", *names.of(row), "", "challenge", "")
        yield challenge, _number(row["neighbours_correct"])


def _neighbour_preferences(names: Names, rows: Sequence[Row]) -> Figures:
    for row in rows:
        yield ("correct_preferences", *names.of(row), "", "challenge", ""), _number(row["correct"])


_TOGETHER: Mapping[str, Callable[[Names, Sequence[Row]], Figures]] = {
    "correlations": partial(_by_coefficient, "correlation_with_humans", level=f"_{Level.DATASET}"),
    "meta": partial(_by_coefficient, "meta_correlation"),
    "preferences": _preferences,
    "comparing": _neighbour_preferences,
    "validity": partial(_by_coefficient, "indicator_vs_human_correlation"),
}


def _measure_by_system(names: Names, method: str, rows: Sequence[Row]) -> Figures:
    for row in rows:
        of, system = names.dimensions[str(row["dimension"])], str(row["system"])
        for measure, short in SHORT.items():
            yield ("per_system_correlation", of, method, system, "", short), _number(row[measure])
        yield ("mean_judge_score", of, method, system, "", ""), _number(row["judge_mean"])
        yield ("mean_human_score", of, "", system, "", ""), _number(row["quality"])
        yield ("sd_of_human_scores", of, "", system, "", ""), _number(row["human_spread"])


def _measure_by_pair(names: Names, rows: Sequence[Row]) -> Figures:
    for row in rows:
        of, pair = names.dimensions[str(row["dimension"])], f"{row['first']}-{row['second']}"
        yield ("h2h_points_of_system_1", of, "h2h", pair, "", "llm"), _number(row["points"])
        yield ("h2h_points_of_system_1", of, "h2h", pair, "", "human"), _number(row["human_points"])


def _indicator(short: str, rows: Sequence[Row]) -> Figures:
    """Yield R; its columns are the keys of dimensions."""
    for row in rows:
        for of in row.keys() - {"system"}:
            key = ("reliability_indicator", of, "rts-mcq", str(row["system"]), "", short)
            yield key, _number(row[of])


def _number(value: Value) -> float | None:
    # None is an undefined coefficient, which differs from a correlation of 0.
    return None if value is None else float(value)


def _replies(
    columns: Mapping[str, str],
    given: Mapping[str, str],
    project: Project,
    path: Path,
    on_progress: OnProgress,
) -> str:
    """Import raw replies; return the reason why the first was invalid, or an empty string."""
    source = Source(path, path.name, JudgmentMapping(columns, given))
    report = import_judgments(project=project, source=source, on_progress=on_progress)
    return str(report.refused[0]) if report.is_refused else ""


COLUMNS = {
    "model": "model",
    "method": "method",
    "document": "id",
    "dimension": "dimension",
    "reply": "response",
}
SCORES = {**COLUMNS, "system": "system"}

LLM_SUMMEVAL = Paper(
    key="llm-summeval",
    name="LLM-SummEval",
    title="Large Language Models are Not Yet Human-Level Evaluators for Abstractive Summarization",
    source="Shen and others, Findings of EMNLP 2023, arXiv:2305.13091",
    template=TEMPLATES["news-summaries"],
    # The order matters: items need their documents, and ratings and replies need their items.
    files=(
        ReleaseFile(
            "documents.jsonl", "the articles", partial(items_of_release, SHIPPED["summeval-documents"])
        ),
        # This file has both items and ratings, and one import reads only one of them.
        ReleaseFile("summaries.jsonl", "the summaries", partial(items_of_release, SHIPPED["summeval"])),
        ReleaseFile(
            "summaries.jsonl", "the experts' ratings", partial(ratings_of_release, SHIPPED["summeval"])
        ),
        ReleaseFile(
            f"responses_{MODEL}.jsonl",
            "replies to RTS and MCQ prompts",
            partial(_replies, SCORES, {}),
        ),
        ReleaseFile(
            f"h2h_{MODEL}.jsonl",
            "replies to head-to-head prompts",
            partial(_replies, {**COLUMNS, "system": "system_1", "other": "system_2"}, {}),
        ),
        ReleaseFile(
            "responses_gpt-3.5-alt.jsonl",
            "replies to the second wording of RTS and MCQ prompts",
            partial(_replies, SCORES, {"model": SECOND}),
        ),
        ReleaseFile(
            "responses_gpt-3.5-stareval.jsonl",
            "replies to prompts that ask for one to five stars",
            partial(_replies, SCORES, {"model": MODEL, "method": "stars"}),
        ),
    ),
    tables={
        "4": "correlation of each method with the experts' means, over all summaries",
        "5": "pairs of systems that each method prefers as the experts do",
        "6": "meta-correlation: of a system's correlation with its quality",
        "7": "correlation of R with the correlation with experts, over systems",
        "17": "neighbouring systems of which second wordings and stars prefer the experts' choice",
        "18": "second wordings and stars: correlation with the experts' means, and meta-correlation",
        "20": "standard deviation among the experts, mean over a system's summaries",
        "21": "mean score of the experts",
        "22": "head to head: points of the first system of each pair of neighbours",
        "23": "correlation with the experts' means for each system, RTS",
        "24": "correlation with the experts' means for each system, MCQ",
        "25": "mean score of the model",
        "29": "R: correlation of RTS with MCQ for each system",
    },
    figures=Path(__file__).with_name("llm_summeval.csv"),
    reasons={
        "replies": "The authors' extraction reads six RTS replies on relevance that end like “; 3 out of 5.” "
        "or “(1/5).” as 5; read so, the release gives the published figure. Here each is read as it stands.",
        "second replies": "The authors' extraction reads six replies to the second wording of RTS that end "
        "like “; 4 out of 5.” as 5; read so, the release gives the published figure. Here each is read as it "
        "stands.",
        "paper": "SciPy gives the same on the release's own replies and ratings; the difference is the "
        "paper's.",
    },
    absent=(
        Absent(
            "Figures of other models and methods",
            f"This reads the replies of {MODEL} by RTS, MCQ, H2H and stars.",
        ),
    ),
    compute=compute_figures,
)
