"""What the results pages about judges show first, and the sentences that answer their questions."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.results.answers import RELIABLE, TENTATIVE, amounts_of, answer_range, column_of, count_of
from annotate.results.arrangement import Arrangement, Chart, FrontQuestion, Tables
from annotate.results.table import Table
from judges.results.tables.corrected_means import gain_sentence
from judges.results.tables.two_sources import NOTHING_COMMON, SAME_SOURCE

_YES = "yes"


def answer_judges(tables: Tables) -> str:
    """Return which judge agrees best with people on most dimensions, and whether that is sure."""
    most = tables.get("most")
    if most is None:
        return _answer_one_judge(tables.get("alphas"))
    rows = [row for row in most.rows if row[1].key in ("alpha", "accuracy")]
    best = [str(row[2].value) for row in rows if row[4].value]
    if not best:
        return ""
    counts = count_of(best)
    judge = max(counts, key=counts.__getitem__)
    sure = sum(str(row[2].value) == judge and row[3].value == _YES for row in rows)
    parts = {"judge": judge, "best": counts[judge], "total": len(rows), "sure": sure}
    if not sure:
        return (
            gettext(
                "%(judge)s agrees best with people on %(best)s of %(total)s dimensions, "
                "but is not surely better than the others."
            )
            % parts
        )
    return (
        gettext("%(judge)s agrees best with people on %(best)s of %(total)s dimensions, surely on %(sure)s.")
        % parts
    )


def _answer_one_judge(alphas: Table | None) -> str:
    judges = [str(cell.value) for cell in column_of(alphas, "judge")] if alphas else []
    found = amounts_of(alphas, "with_judge")
    if not judges or not found:
        return ""
    return gettext("With %(judge)s as one more rater, alpha is %(low)s to %(high)s over dimensions.") % {
        "judge": judges[0],
        "low": f"{min(found):.2f}",
        "high": f"{max(found):.2f}",
    }


def answer_compare(tables: Tables) -> str:
    """Return alpha between two sources, and the number of ranks that change."""
    table = tables.get("agreement")
    if table is None:
        return str(NOTHING_COMMON if "units" in tables else SAME_SOURCE)
    equal = amounts_of(table, "equal")
    if equal == [1.0] * len(table.rows):
        return gettext("The two sources have the same value on every common unit.")
    nothing = gettext("Alpha is undefined on every dimension; the table shows the reasons.")
    says = gettext("Alpha between the two sources is %(low)s to %(high)s over dimensions.")
    parts = [answer_range(table, "alpha", says, nothing)]
    if order := tables.get("order"):
        moved, systems = (int(sum(amounts_of(order, key))) for key in ("moved", "systems"))
        parts.append(gettext("%(moved)s of %(systems)s ranks change.") % {"moved": moved, "systems": systems})
    return " ".join(parts)


def answer_metrics(tables: Tables) -> str:
    """Return which metric or judge correlates most with people over all items."""
    table = tables.get("metrics")
    rows = [row for row in table.rows if isinstance(row[3].value, float)] if table else []
    if not rows:
        return ""
    best = max(rows, key=lambda row: float(row[3].value or 0))
    return gettext("%(name)s correlates most with people over all items: %(value)s.") % {
        "name": best[0].value,
        "value": f"{best[3].value:.2f}",
    }


def answer_estimates(tables: Tables) -> str:
    """Return the system with most highest corrected means, and the share of ratings that the judge saves."""
    means = tables.get("corrected") or tables.get("means")
    key = "corrected" if "corrected" in tables else "combined"
    best: dict[str, tuple[float, str]] = {}
    keys = [column.key for column in means.columns] if means else []
    for row in means.rows if means else ():
        cells = dict(zip(keys, row, strict=True))
        value = cells[key].value
        if isinstance(value, float):
            dimension = str(cells["dimension"].value)
            best[dimension] = max(best.get(dimension, (value, "")), (value, str(cells["system"].value)))
    if not best:
        return gettext("No corrected mean can be estimated; the table shows the reasons.")
    counts = count_of([name for _value, name in best.values()])
    system = max(counts, key=counts.__getitem__)
    highest = gettext("%(system)s has the highest corrected mean on %(led)s of %(total)s dimensions.") % {
        "system": system,
        "led": counts[system],
        "total": len(best),
    }
    return f"{highest} {gain_sentence(tables.get('gain'))}".strip()


def answer_replacement(tables: Tables) -> str:
    """Return on how many dimensions the judge passes the test."""
    tests = tables.get("tests")
    own = [row for row in tests.rows if str(row[5].value).startswith(("Passes", "Fails"))] if tests else []
    if not own:
        return ""
    passed = sum(str(row[5].value).startswith("Passes") for row in own)
    return gettext(
        "%(judge)s passes the alternative annotator test on %(passed)s of %(total)s dimensions."
    ) % {"judge": own[0][1].value, "passed": passed, "total": len(own)}


def answer_reliability(tables: Tables) -> str:
    """Return the range of the reliability indicator R."""
    validity = tables.get("validity")
    return answer_range(
        validity,
        "validity",
        gettext("R correlates with agreement with people (P) by %(low)s to %(high)s over dimensions."),
        gettext("R cannot be compared with agreement with people yet; the table shows the reasons."),
    )


_NOT_SPEARMAN = ("pearson", "kendall_tau_b")

_WITH_JUDGES = Chart(
    "alphas", ("with_judge",), band="among_people", title=_("Alpha with each judge as one more rater")
)

JUDGES = Arrangement(
    tabs={
        "scoring": _("Agreement with people"),
        "most": _("Best judge"),
        "correlations": _("Correlations"),
        "differences": _("Bias and error"),
        "preferences": _("Preferences"),
        "pairs-of-judges": _("Between judges"),
        "nearer": _("Nearer to people"),
        "power-of-judges": _("Power"),
        "other-questions": _("Other questions"),
        "confusion": _("Confusion of each judge"),
        "quality": _("Quality of systems"),
        "strengths": _("Strengths of systems"),
        "pairs": _("Head to head"),
        "text_preferences": _("Pairs of texts"),
        "comparing": _("Comparing judges"),
        "meta": _("Meta-correlation M"),
        "indicator": _("Reliability indicator R"),
        "validity": _("R and P"),
        "alphas": _("Alpha"),
    },
    chart=_WITH_JUDGES,
    charts={"confusion": "scatter"},
    in_files=("judge-*-scatter", "indicator-pearson", "indicator-kendall"),
    columns_in_files={
        "scoring": ("correct", "compared"),  # the tab Preferences shows them
        "correlations": ("pearson_*", "kendall_*"),
        "quality": _NOT_SPEARMAN,
        "meta": _NOT_SPEARMAN,
        "validity": _NOT_SPEARMAN,
        "differences": ("rmse",),
    },
    answer=answer_judges,
    cards=[FrontQuestion(_("Judges and people"), _WITH_JUDGES, answer_judges)],
)
COMPARE = Arrangement(
    tabs={
        "agreement": _("Agreement"),
        "bias": _("Bias"),
        "ranks": _("Ranks"),
        "order": _("Order"),
        "units": _("Common units"),
    },
    chart=Chart("agreement", ("alpha",), lines=(TENTATIVE, RELIABLE)),
    charts={"ranks": "ranks"},
    columns_in_files={"ranks": ("first_possible", "second_possible")},
    answer=answer_compare,
)
METRICS = Arrangement(
    chart=Chart("metrics", ("dataset",)), sorts={"metrics": "-dataset"}, answer=answer_metrics
)
ESTIMATES = Arrangement(
    tabs={
        "corrected": _("Systems"),
        "gain": _("Ratings saved"),
        "means": _("Each system alone"),
        "differences": _("Differences"),
        "widths": _("More ratings"),
    },
    chart=Chart("corrected", ("corrected", "people")),
    columns={
        "gain": ("dimension", "gain", "saving", "gain_of_differences", "documents"),
        "means": (*("dimension", "system", "rated", "humans", "judge", "combined", "caution"),),
    },
    in_files=("corrected-pairs",),
    answer=answer_estimates,
)
REPLACEMENT = Arrangement(
    tabs={
        "tests": _("Test and controls"),
        "error": _("Error and uses"),
        "error-controls": _("Controls of the error"),
        "annotators": _("By annotator"),
        "one-more-rater": _("One more rater"),
        "power-of-test": _("Documents needed"),
    },
    chart=Chart("tests", ("advantage",)),
    answer=answer_replacement,
)
RELIABILITY = Arrangement(
    tabs={
        "validity": _("R and P"),
        "indicator": _("R by system"),
        "agreement": _("P by system"),
        "quality": _("Quality of systems"),
        "spread": _("Spread"),
    },
    chart=Chart("validity", ("validity",)),
    answer=answer_reliability,
)
