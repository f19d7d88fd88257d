"""The table of intervals and tests in docs/reference/statistics.md has a row for all that the code makes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from agreement import COEFFICIENTS, MEASURES
from benchmarks.coverage import REPORTS

ROOT = Path(__file__).resolve().parents[2]
PURE = ("agreement",)
AND_QUERIES = "judges/routing/queries/audit.py"
NOT_SIMULATED = "Not simulated here"
# The module that makes an interval or a p value, and how its rows begin; several modules may share a row.
ROWS = {
    "agreement/always_valid.py": ("alpha, always valid", "differences at every look"),
    "agreement/bootstrap.py": ("alpha, bootstrap of units", "alpha, nearly all values the same"),
    "agreement/camps.py": ("units that split raters",),
    "agreement/crossed.py": ("test of systems, crossed model",),
    "agreement/groups.py": ("correlations over systems", "R and P of one system"),
    "agreement/complete.py": ("ICC by F distributions",),
    "agreement/drift.py": ("control chart of a judge", "order of work", "change of severity over time"),
    "agreement/comparison/effects.py": ("effects of factors on judges",),
    "agreement/paired_difference.py": ("two judges",),
    "agreement/student.py": ("F1 of one category",),
    "agreement/standings.py": ("systems of two panels",),
    "agreement/severity.py": ("severity of raters", "severity of new raters"),
    "agreement/summary.py": ("standard deviation of a system's scores",),
    "agreement/system_differences.py": ("test of systems, crossed model; paired t",),
    "agreement/biases/order.py": ("biases of a judge",),
    "agreement/comparison/strengths.py": ("strengths of systems",),
    "agreement/reliability/alternative_annotator.py": ("replacement of an annotator",),
    "agreement/reliability/cascade.py": ("audits, looked at after every rating",),
    "agreement/reliability/corrected_systems.py": ("corrected means",),
    "agreement/reliability/correction_gain.py": ("gain of a correction",),
    "agreement/reliability/differences.py": (
        "guaranteed (betting)",
        "means, differences and ranks after routing",
    ),
    "agreement/reliability/estimates.py": ("means of one system or all",),
    "agreement/reliability/indicator.py": ("R and P of one system",),
    "agreement/reliability/judge_error.py": ("uses of a judge",),
    "agreement/reliability/fixed_sequence.py": ("certificates for further documents",),
    AND_QUERIES: (NOT_SIMULATED,),
}
OF_COEFFICIENTS = {
    "krippendorff_alpha": "alpha",
    "percent_agreement": "percent agreement",
    "within_one_agreement": "within one",
    "weighted_kappa": "weighted kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac": "Gwet's AC",
    "icc_a1": "ICC",
    "icc_ak": "ICC",
    "icc_ck": "ICC",
    "kendall_w": "Kendall's W",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall_tau_b": "Kendall",
    "rmse": "RMSE",
    "mae": "MAE",
    "bias": "bias",
}


def section() -> str:
    text = (ROOT / "docs/reference/statistics.md").read_text()
    return text.partition("### All intervals and tests")[2].partition("\n## ")[0]


def rows() -> list[list[str]]:
    lines = [each for each in section().splitlines() if each.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def trees() -> dict[str, ast.Module]:
    paths = [path for folder in PURE for path in sorted((ROOT / folder).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in [*paths, ROOT / AND_QUERIES]}


def results_of_inference(modules: dict[str, ast.Module]) -> set[str]:
    """Names of classes that hold the ends of an interval, or a p value."""
    found = set()
    for node in (node for tree in modules.values() for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):
            assigned = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
            fields = {each.id for each in assigned if isinstance(each, ast.Name)}
            if {"low", "high"} <= fields or any(each.endswith("p_value") for each in fields):
                found.add(node.name)
    return found - {"Betting"}  # the ends of a scale


def makers() -> Iterator[str]:
    modules = trees()
    names = results_of_inference(modules)
    for module, tree in modules.items():
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        if any(isinstance(each, ast.Name) and each.id in names for each in calls):
            yield module


def test_every_module_that_makes_an_interval_or_a_p_value_has_a_row():
    assert set(makers()) == set(ROWS)
    heads = [row[0] for row in rows()]
    for module, head in ((module, head) for module, own in ROWS.items() for head in own):
        if head == NOT_SIMULATED:
            assert NOT_SIMULATED in section()
        else:
            assert any(each.startswith(head) for each in heads), f"{module}: no row begins with “{head}”"


def test_every_coefficient_and_measure_has_a_row():
    assert {*COEFFICIENTS, *MEASURES} == set(OF_COEFFICIENTS)
    heads = " ".join(row[0] for row in rows())
    assert [word for word in OF_COEFFICIENTS.values() if word not in heads] == []


def test_every_row_states_its_result_its_n_and_its_location():
    for head, reached, size, where in rows():
        assert re.search(r"\d", reached), head
        assert re.search(r"\d", size), head
        assert where, head


def test_every_simulation_has_a_row_and_every_name_a_simulation():
    named = {name for row in rows() for name in re.findall(r"`(\w+)`", row[3])}
    assert named == set(REPORTS)
