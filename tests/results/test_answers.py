"""The sentences that answer the questions of results pages."""

import pytest

from annotate.results.answers import (
    answer_agreement,
    answer_alpha,
    answer_severity,
    answer_study,
    answer_systems,
)
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.results.tables.pages import answer_judges, answer_metrics, answer_replacement

COUNTS = ("opened", "settled", "adjudicated")


def rounds(*alphas: float | None, disputes: tuple[int, int, int] = (0, 0, 0)) -> dict[str, Table]:
    columns = [
        DIMENSION,
        Column("round_1_alpha", "alpha"),
        *(Column(key, key, ColumnKind.COUNT) for key in COUNTS),
    ]
    rows = [
        [
            text(f"d{index}"),
            Cell(reason="No ratings.") if alpha is None else Cell(alpha),
            *(Cell(count if index == 0 else 0) for count in disputes),
        ]
        for index, alpha in enumerate(alphas)
    ]
    return {"rounds": Table("rounds", "R", columns, rows)}


def test_alpha_is_compared_with_the_conventions() -> None:
    said = answer_alpha(rounds(0.9, 0.7, 0.5))
    assert said == (
        "Alpha of Round I is 0.50 to 0.90: 1 of 3 dimensions reach .80 (reliable), 2 reach .667 (tentative)."
    )


def test_one_dimension_has_no_range() -> None:
    assert answer_alpha(rounds(0.7)) == "Alpha of Round I is 0.70; .80 is reliable, .667 is tentative."


def test_undefined_alpha_leads_to_the_reasons() -> None:
    assert "the table shows the reasons" in answer_alpha(rounds(None))


def test_disputes_follow_the_alpha_summary() -> None:
    said = answer_agreement(rounds(0.7, disputes=(5, 3, 1)))
    assert said.endswith("5 disputes: 3 settled, 1 adjudicated, 1 unresolved.")


def systems(*ranks: str) -> dict[str, Table]:
    names = [Column(f"d{index}", f"D{index}") for index in range(2)]
    system = Column("system", "System", ColumnKind.TEXT)
    means = [[text("a"), Cell(4.0), Cell(4.0)], [text("b"), Cell(3.0), Cell(2.0)]]
    ranked = [[text("a"), *map(text, ranks)], [text("b"), text("2"), text("2")]]
    return {
        "means": Table("means", "M", [system, *names], means),
        "ranks": Table("ranks", "R", [system, *names], ranked),
    }


@pytest.mark.parametrize(
    ("ranks", "end"),
    [
        (("1", "1–2"), "a has the highest mean on 2 of 2 dimensions, and is surely the best on 1."),
        (("1–2", "1–2"), "a has the highest mean on 2 of 2 dimensions, but is not surely the best on any."),
    ],
)
def test_summary_names_the_best_system_with_its_certainty(ranks: tuple[str, str], end: str) -> None:
    assert answer_systems(systems(*ranks)) == end


def test_severity_names_the_dimension_with_the_largest_range() -> None:
    columns = [DIMENSION, Column("rater", "Rater", ColumnKind.TEXT), Column("severity", "severity")]
    rows = [
        [text(name), text(rater), Cell(value)]
        for name, rater, value in (("x", "A", 0.1), ("x", "B", 0.2), ("y", "A", -1.0), ("y", "B", 0.5))
    ]
    fit = [[text("x"), Cell("no", key="false")], [text("y"), Cell("yes", key="true")]]
    tables = {"raters": Table("raters", "R", columns, rows, heads=2)}
    misfit = Column("misfit", "misfit found", ColumnKind.TEXT)
    tables["fit"] = Table("fit", "F", [DIMENSION, misfit], fit)
    says = "Raters differ most on y: severity has a range of 1.50 logits."
    assert answer_severity(tables) == f"{says} The model does not fit y."
    tables["fit"] = Table("fit", "F", [DIMENSION, misfit], fit[:1])
    assert answer_severity(tables) == f"{says} No misfit was found."


def test_a_study_takes_the_most_demanding_dimension() -> None:
    columns = [DIMENSION, Column("needed", "needed", ColumnKind.COUNT)]
    tables = {
        key: Table(key, key, columns, [[text("x"), Cell(2)], [text("y"), Cell(most)]])
        for key, most in (("raters-needed", 5), ("documents-needed", 40))
    }
    said = answer_study(tables)
    assert said == "5 raters give a reliable mean on every dimension, and 40 documents a sure alpha."


def most(*sure: str) -> dict[str, Table]:
    columns = [Column(key, key, ColumnKind.TEXT) for key in ("dimension", "figure", "best", "sure", "may")]
    rows = [
        [text(f"d{index}"), text("alpha with mean", key="alpha"), text("One"), text(word), text("One, Two")]
        for index, word in enumerate(sure)
    ]
    return {"most": Table("most", "M", columns, rows, heads=2)}


def test_summary_names_the_best_judge_with_its_certainty() -> None:
    assert answer_judges(most("no", "yes")) == (
        "One agrees best with people on 2 of 2 dimensions, surely on 1."
    )
    assert answer_judges(most("no")) == (
        "One agrees best with people on 1 of 1 dimensions, but is not surely better than the others."
    )


def test_summary_names_the_metric_with_the_highest_correlation() -> None:
    columns = [*(Column(key, key, ColumnKind.TEXT) for key in ("name", "kind")), Column("items", "items")]
    rows = [
        [text(name), text("metric"), Cell(9), Cell(value)] for name, value in (("ROUGE", 0.2), ("Words", 0.4))
    ]
    table = Table("metrics", "M", [*columns, Column("dataset", "rho")], rows, heads=2)
    assert answer_metrics({"metrics": table}) == "Words correlates most with people over all items: 0.40."


def test_replacement_counts_the_dimensions_that_pass() -> None:
    keys = ("dimension", "judge", "rate", "advantage", "beyond", "verdict")
    columns = [Column(key, key, ColumnKind.TEXT) for key in keys]
    rows = [
        [text("x"), text(name), *(text("0"),) * 3, text(verdict)]
        for name, verdict in (("J", "Passes: it may."), ("always 3", "beaten"), ("J", "Fails: it may not."))
    ]
    said = answer_replacement({"tests": Table("tests", "T", columns, rows, heads=2)})
    assert said == "J passes the alternative annotator test on 1 of 2 dimensions."
