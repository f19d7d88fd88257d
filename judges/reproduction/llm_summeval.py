"""Shen and others 2023: ChatGPT as a judge of SummEval's abstractive systems."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from annotate.agreement import Measure
from annotate.commands.reproduction import items_of_release, ratings_of_release
from annotate.importing.progress import Tell
from annotate.models import Project
from annotate.queries.rounds import rounds_of
from annotate.reproduction.figures import Computed, Key
from annotate.reproduction.papers import Absent, Paper, ReleaseFile
from judges.commands.judgment_imports import import_judgments
from judges.comparison import (
    CORRELATIONS,
    Level,
    Scores,
    reliability_and_correlation,
    reliability_by_system,
)
from judges.importing.mapping import JudgmentMapping
from judges.importing.report import cause_as_text
from judges.models import Judge
from judges.queries.comparison import ComparingFigures, ScoringFigures, comparison, guideline_of
from judges.queries.judgment_imports import JudgmentSource
from judges.queries.scores import material_of, samples_of, scores_of

MODEL = "gpt-3.5-turbo-0301"
SHORT = {name: name.removesuffix("_tau_b") for name in CORRELATIONS}

Figures = Iterator[tuple[Key, float | None]]


def computed(project: Project) -> Computed:
    """Return what the paper's tables hold, of the judges that its replies are imported as."""
    judges = list(Judge.objects.filter(project=project, model=MODEL).order_by("name"))
    found = dict(_of_pairing(project, judges))
    for figures in comparison(project, judges, round_number=1).judges:
        for scoring in figures.scoring:
            found |= _of_scores(figures.judge.method, scoring)
        for comparing in figures.comparing:
            found |= _of_pairs(comparing)
    return found


def _of_scores(method: str, figures: ScoringFigures) -> Figures:
    of = figures.dimension.key
    for measure, short in SHORT.items():
        dataset = figures.correlations[Level.DATASET][measure].value
        yield ("correlation_with_humans", of, method, "", "", short), dataset
        yield ("meta_correlation", of, method, "", "", short), figures.meta_correlations[measure].value
        for system in figures.by_system[measure]:
            key = ("per_system_correlation", of, method, system.system, "", short)
            yield key, system.coefficient.value
    yield ("correct_preferences", of, method, "", "full", ""), figures.all_pairs.correct
    yield ("correct_preferences", of, method, "", "challenge", ""), figures.neighbours.correct
    for each in figures.systems:
        yield ("mean_judge_score", of, method, each.system, "", ""), each.judge_mean.value
        yield ("mean_human_score", of, "", each.system, "", ""), each.human_mean.value
        yield ("sd_of_human_scores", of, "", each.system, "", ""), each.human_spread.value


def _of_pairs(figures: ComparingFigures) -> Figures:
    of = figures.dimension.key
    yield ("correct_preferences", of, "h2h", "", "challenge", ""), figures.correct.correct
    for pair in figures.pairs:
        key = ("h2h_points_of_system_1", of, "h2h", f"{pair.first}-{pair.second}", "", "llm")
        yield key, pair.points.value
    for preference in figures.correct.pairs:
        key = ("h2h_points_of_system_1", of, "h2h", f"{preference.first}-{preference.second}", "", "human")
        yield key, preference.human_points


def _of_pairing(project: Project, judges: Sequence[Judge]) -> Figures:
    """Yield R of the RTS and the MCQ judge, and how R tells what either has in common with people."""
    scoring = {judge.method: judge for judge in judges if judge.method in ("rts", "mcq")}
    round = rounds_of(project).get(1)
    material = material_of(project, round, guideline_of(project, round))
    samples = samples_of(list(scoring.values()), material)
    for dimension in material.dimensions if len(scoring) == 2 else ():
        scores = {
            method: scores_of(material, dimension.key, samples[judge.pk, dimension.key])
            for method, judge in scoring.items()
        }
        for measure, short in SHORT.items():
            yield from _of_indicator(dimension.key, scores, CORRELATIONS[measure], short)


def _of_indicator(of: str, scores: Mapping[str, Scores], measure: Measure, short: str) -> Figures:
    rts, mcq = scores["rts"], scores["mcq"]
    for system in reliability_by_system(rts, mcq.judge, measure):
        key = ("reliability_indicator", of, "rts-mcq", system.system, "", short)
        yield key, system.coefficient.value
    for method, own, other in (("rts", rts, mcq), ("mcq", mcq, rts)):
        told = reliability_and_correlation(own, other.judge, measure).value
        yield ("indicator_vs_human_correlation", of, method, "", "", short), told


def _replies(columns: Mapping[str, str], project: Project, path: Path, tell: Tell) -> str:
    """Import raw replies; return why the first was refused, or nothing."""
    source = JudgmentSource(path, path.name, JudgmentMapping(columns, {}))
    report = import_judgments(project=project, source=source, tell=tell)
    return cause_as_text(report.refused[0]) if report.is_refused else ""


COLUMNS = {
    "model": "model",
    "method": "method",
    "document": "id",
    "dimension": "dimension",
    "reply": "response",
}

LLM_SUMMEVAL = Paper(
    key="llm-summeval",
    name="LLM-SummEval",
    title="Large Language Models are Not Yet Human-Level Evaluators for Abstractive Summarization",
    source="Shen and others, Findings of EMNLP 2023, arXiv:2305.13091",
    template="news-summaries",
    files=(
        ReleaseFile("documents.jsonl", "the articles", partial(items_of_release, "summeval-documents")),
        ReleaseFile("summaries.jsonl", "the summaries", partial(items_of_release, "summeval")),
        ReleaseFile("summaries.jsonl", "the experts' ratings", partial(ratings_of_release, "summeval")),
        ReleaseFile(
            f"responses_{MODEL}.jsonl",
            "replies to RTS and MCQ prompts",
            partial(_replies, {**COLUMNS, "system": "system"}),
        ),
        ReleaseFile(
            f"h2h_{MODEL}.jsonl",
            "replies to head-to-head prompts",
            partial(_replies, {**COLUMNS, "system": "system_1", "other": "system_2"}),
        ),
    ),
    tables={
        "4": "correlation of each method with the experts' means, over all summaries",
        "5": "pairs of systems that each method prefers as the experts do",
        "6": "meta-correlation: of a system's correlation with its quality",
        "7": "correlation of R with the correlation with experts, over systems",
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
        "paper": "SciPy gives the same on the release's own replies and ratings; the difference is the "
        "paper's.",
    },
    absent=(
        Absent(
            "Figures of other models and methods", f"This reads the replies of {MODEL} by RTS, MCQ and H2H."
        ),
    ),
    compute=computed,
)
