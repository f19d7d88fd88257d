"""SummEval-OP: agreement of its three annotators in Round I."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from annotate.core.models import Membership, Project
from annotate.material.reading.mappings import SHIPPED
from annotate.results.commands import current_page
from annotate.results.queries.kept import KeptPage
from annotate.results.registry import result_of
from annotate.results.reproduction.commands import items_of_release, ratings_of_release
from annotate.results.reproduction.papers import Absent, Computed, Key, Paper, ReleaseFile
from annotate.results.table import Cell
from annotate.setup.presets import TEMPLATES


def compute_figures(project: Project) -> Computed:
    """Return alpha by level, RMSE and rank correlations between raters and with their mean, of Round I."""
    members = Membership.objects.filter(project=project, label__gt="")
    labels = {member.rater_name: member.label for member in members}
    page = current_page(project=project, result=result_of(project, "agreement"))
    return {**dict(_alphas(project, page)), **dict(_between_raters(page, labels))}


def _alphas(project: Project, page: KeptPage) -> Iterator[tuple[Key, float | None]]:
    if (table := page.table("round-1-alpha")) is None:
        return
    keys = {each.name: each.key for each in project.dimensions.all()}
    for row in table.rows:
        for column, cell in zip(table.columns[table.heads :], row[table.heads :], strict=True):
            yield ("krippendorff_alpha", keys[str(row[0].value)], "", column.key), _number(cell)


def _between_raters(page: KeptPage, labels: dict[str, str]) -> Iterator[tuple[Key, float | None]]:
    for key, quantity, coefficient in (
        ("rmse-by-document", "rmse", ""),
        ("spearman", "summary_level_correlation", "spearman"),
        ("kendall", "summary_level_correlation", "kendall"),
    ):
        if (table := page.table(f"round-1-{key}")) is None:
            return
        for row in table.rows:
            raters = "-".join(labels.get(name, name) for name in str(row[0].value).split(" – "))
            for column, cell in zip(table.columns[1:], row[1:], strict=True):
                yield (quantity, column.key, raters, coefficient), _number(cell)


def _number(cell: Cell) -> float | None:
    return cell.value if isinstance(cell.value, float) else None


SUMMEVAL_OP = Paper(
    key="summeval-op",
    name="SummEval-OP",
    title="One Prompt To Rule Them All: LLMs for Opinion Summary Evaluation",
    source="Siledar and others, ACL 2024, arXiv:2402.11683",
    template=TEMPLATES["opinion-summaries"],
    files=(
        ReleaseFile(
            "summeval-op.jsonl",
            "reviews and summaries with system names",
            partial(items_of_release, SHIPPED["summeval-op"]),
        ),
        ReleaseFile(
            "summeval-op-detailed.jsonl",
            "the ratings of Round I",
            partial(ratings_of_release, SHIPPED["summeval-op-detailed"]),
        ),
    ),
    tables={
        "1": "Krippendorff's alpha of the three annotators, Round I",
        "7": "RMSE of two annotators, Round I, mean over products of each product's RMSE",
        "8": "rank correlations between the annotators and with their mean, Round I, mean over products",
    },
    figures=Path(__file__).with_name("summeval_op.csv"),
    reasons={"paper": "SciPy gives the same on the release's own ratings; the difference is the paper's."},
    absent=(
        Absent(
            "Round II: alpha and correlations after discussion",
            "The release holds the ratings of Round I only; individual ratings of Round II are not public.",
        ),
        Absent("Correlations of models with the annotators", "The release holds no replies of the models."),
    ),
    compute=compute_figures,
)
