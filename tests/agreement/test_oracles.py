"""Every public statistic has an oracle, and the table of oracles in the documents is that of the tests."""

from types import ModuleType

import pytest

import agreement
import agreement.biases
import agreement.comparison
import agreement.reliability
from agreement import COEFFICIENTS, MEASURES
from tests.agreement.oracles import DOCUMENT, ROOT, describe_oracles, described_document, find_oracles

pytestmark = pytest.mark.fast

TESTS = ROOT / "tests" / "agreement"
PACKAGES = (agreement, agreement.reliability, agreement.comparison, agreement.biases)
NO_STATISTICS = {
    # parts of a statistic above, or the same in another form
    *(
        "checked_alpha",
        "checked_alphas_of_parts",
        "holm_by_key",
        "over_groups",
        "between_raters",
        "with_mean",
    ),
    *("coefficient_values", "correlation_called", "indicators_with_correlations", "values_within_documents"),
    *(
        "reliability",
        "mean_values",
        "all_pairs",
        "neighbours",
        "verdicts_of_answers",
        "bin_values",
        "ranges_of",
    ),
    # losses, confidences, grids and rules of decision
    *("another_point", "more_than_one_point", "at_cut", "squared_distance", "usual_value", "closeness"),
    *(
        "steadiness",
        "largest_probability",
        "cross_fitted_loss",
        "fold_numbers",
        "grid_of",
        "grid_between",
        "paths_of",
    ),
    *("decide", "judge_verdict", "find_uses", "advice", "safety_warnings", "beyond_batch", "cut_to_scale"),
    *("projected_widths", "projected_guaranteed_widths", "observed_domain"),
    *("why_no_components", "why_not_latent", "why_not_severity"),
    # sampling of units
    *("draw", "draw_at_least", "draw_audit", "draw_sample", "active_probabilities", "share_to_reach"),
    *("share_with_least", "size_of_audit", "thin_to_one_probability", "uniform_numbers"),
}
"""Public functions without a table row: not statistics."""


def public_functions(package: ModuleType) -> set[str]:
    return {
        name
        for name, value in vars(package).items()
        if callable(value) and name[0].islower() and not isinstance(value, type)
    }


def test_every_coefficient_and_measure_has_an_oracle() -> None:
    covered = {name for each in find_oracles() for name in each.of}
    assert {*COEFFICIENTS, *MEASURES} - covered == set()


def test_every_public_statistic_has_an_oracle() -> None:
    covered = {name for each in find_oracles() for name in each.of}
    public = set().union(*map(public_functions, PACKAGES))
    assert sorted(public - covered - NO_STATISTICS) == []
    assert sorted(NO_STATISTICS - public) == []
    assert sorted(NO_STATISTICS & covered) == []
    assert sorted(covered - public - {*COEFFICIENTS, *MEASURES}) == []


def test_every_declared_name_is_in_its_test() -> None:
    registered = {*COEFFICIENTS, *MEASURES}
    files = {each.test: (TESTS / each.test).read_text(encoding="utf-8") for each in find_oracles()}
    absent = [
        (each.test, name)
        for each in find_oracles()
        for name in each.of
        if name not in registered and files[each.test].count(name) < 3  # its import, its mark and a call
    ]
    assert absent == []


def test_declared_differences_are_small() -> None:
    assert [each for each in find_oracles() if each.within is not None and not 0 < each.within <= 0.12] == []


def test_document_has_the_table_of_the_tests() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == described_document()
    assert sum(1 for _ in describe_oracles()) > 100
