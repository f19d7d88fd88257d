"""SummEval-OP: agreement of its three annotators in Round I."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from annotate.commands.reproduction import items_of_release, ratings_of_release
from annotate.models import Membership, Project
from annotate.queries.agreement import DimensionDetail, dimension_details
from annotate.queries.rounds import round_one
from annotate.reproduction.figures import Computed, Key
from annotate.reproduction.papers import Absent, Paper, ReleaseFile


def computed(project: Project) -> Computed:
    """Return alpha by level, and rank correlations between raters and with their mean, of Round I."""
    round = round_one(project)
    labels = {
        place.rater_name: place.label for place in Membership.objects.filter(project=project, label__gt="")
    }
    details = dimension_details(round) if round else []
    return {key: value for detail in details for key, value in _figures(detail, labels)}


def _figures(detail: DimensionDetail, labels: dict[str, str]) -> Iterator[tuple[Key, float | None]]:
    dimension = detail.dimension.key
    for level, alpha in detail.levels.items():
        yield ("krippendorff_alpha", dimension, "", level), alpha.value
    for coefficient, pairs in (("spearman", detail.spearman), ("kendall", detail.kendall)):
        for pair in pairs:
            raters = f"{labels.get(pair.first, pair.first)}-{labels.get(pair.second, pair.second)}"
            yield ("summary_level_correlation", dimension, raters, coefficient), pair.coefficient.value


SUMMEVAL_OP = Paper(
    key="summeval-op",
    name="SummEval-OP",
    title="One Prompt To Rule Them All: LLMs for Opinion Summary Evaluation",
    source="Siledar and others, ACL 2024, arXiv:2402.11683",
    template="opinion-summaries",
    files=(
        ReleaseFile(
            "summeval-op.jsonl",
            "reviews and summaries with system names",
            partial(items_of_release, "summeval-op"),
        ),
        ReleaseFile(
            "summeval-op-detailed.jsonl",
            "the ratings of Round I",
            partial(ratings_of_release, "summeval-op-detailed"),
        ),
    ),
    tables={
        "1": "Krippendorff's alpha of the three annotators, Round I",
        "8": "rank correlations between the annotators and with their mean, Round I, mean over products",
    },
    figures=Path(__file__).with_name("summeval_op.csv"),
    reasons={
        "paper": "SciPy gives the same on the release's own ratings; the difference is the paper's.",
    },
    absent=(
        Absent(
            "Round II: alpha and correlations after discussion",
            "The release holds the ratings of Round I only; individual ratings of Round II are not public.",
        ),
        Absent(
            "Correlations of models with the annotators",
            "The release holds no replies of the models.",
        ),
    ),
    compute=computed,
)
