from django.utils.translation import gettext, gettext_lazy

from annotate.results.answers import RELIABLE, TENTATIVE, amounts_of, answer_range, column_of, count_of
from annotate.results.registry import Arrangement, Chart, FrontQuestion, ResultsPage, Tables
from judges.results.queries.sources import version_of_sources
from judges.results.tables.estimates import estimates_sections, gain_sentence
from judges.results.tables.judges import judges_sections
from judges.results.tables.metrics import (
    METRIC_PARAMETERS,
    metrics_sections,
    size_of_metrics,
    version_of_metrics,
)
from judges.results.tables.parameters import (
    ABOUT,
    CONFIDENCE,
    CORRECTED,
    JUDGE,
    ROUND,
    UNITS,
    values_of,
    version_of_judges,
)
from judges.results.tables.reliability import RELIABILITY_PARAMETERS, reliability_sections
from judges.results.tables.replacement import EPSILON, replacement_sections
from judges.results.tables.two_sources import (
    FIRST,
    NOTHING_COMMON,
    SAME_SOURCE,
    SECOND,
    compare_sources_sections,
)


def answer_judges(tables: Tables) -> str:
    most = tables.get("most")
    # With one judge there is no pair to compare, so its alpha is the answer.
    if most is None:
        alphas = tables.get("alphas")
        judges = [str(cell.value) for cell in column_of(alphas, "judge")] if alphas else []
        found = amounts_of(alphas, "with_judge")
        if not judges or not found:
            return ""
        return gettext("With %(judge)s as one more rater, alpha is %(low)s to %(high)s over dimensions.") % {
            "judge": judges[0],
            "low": f"{min(found):.2f}",
            "high": f"{max(found):.2f}",
        }
    rows = [row for row in most.rows if row[1].key in ("alpha", "accuracy")]
    best = [str(row[2].value) for row in rows if row[4].value]
    if not best:
        return ""
    counts = count_of(best)
    judge = max(counts, key=counts.__getitem__)
    sure = sum(str(row[2].value) == judge and row[3].value == gettext("yes") for row in rows)
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


def answer_compare(tables: Tables) -> str:
    table = tables.get("agreement")
    if table is None:
        return str(NOTHING_COMMON if "units" in tables else SAME_SOURCE)
    equal = amounts_of(table, "equal")
    # A dimension without a share drops out of `equal`, so it cannot pass as equal.
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
    means = tables.get("corrected") or tables.get("means")
    key = "corrected" if "corrected" in tables else "combined"
    best: dict[str, tuple[float, str]] = {}
    keys = [column.key for column in means.columns] if means else []
    for row in means.rows if means else ():
        cells = dict(zip(keys, row, strict=True))
        value = cells[key].value
        if isinstance(value, float):
            dimension = str(cells["dimension"].value)
            # The empty name is below all systems, so the first value of a dimension replaces it.
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
    tests = tables.get("tests")
    own = [row for row in tests.rows if str(row[5].value).startswith(("Passes", "Fails"))] if tests else []
    if not own:
        return ""
    passed = sum(str(row[5].value).startswith("Passes") for row in own)
    return gettext(
        "%(judge)s passes the alternative annotator test on %(passed)s of %(total)s dimensions."
    ) % {"judge": own[0][1].value, "passed": passed, "total": len(own)}


def answer_reliability(tables: Tables) -> str:
    validity = tables.get("validity")
    return answer_range(
        validity,
        "validity",
        gettext("R correlates with agreement with people (P) by %(low)s to %(high)s over dimensions."),
        gettext("R cannot be compared with agreement with people yet; the table shows the reasons."),
    )


# Pages show one of the three correlations, which say the same; files have all.
_NOT_SPEARMAN = ("pearson", "kendall_tau_b")

_WITH_JUDGES = Chart(
    "alphas",
    ("with_judge",),
    band="among_people",
    title=gettext_lazy("Alpha with each judge as one more rater"),
)

JUDGES = Arrangement(
    tabs={
        "scoring": gettext_lazy("Agreement with people"),
        "most": gettext_lazy("Best judge"),
        "correlations": gettext_lazy("Correlations"),
        "differences": gettext_lazy("Bias and error"),
        "preferences": gettext_lazy("Preferences"),
        "pairs-of-judges": gettext_lazy("Between judges"),
        "nearer": gettext_lazy("Nearer to people"),
        "power-of-judges": gettext_lazy("Power"),
        "other-questions": gettext_lazy("Other questions"),
        "confusion": gettext_lazy("Confusion of each judge"),
        "quality": gettext_lazy("Quality of systems"),
        "strengths": gettext_lazy("Strengths of systems"),
        "pairs": gettext_lazy("Head to head"),
        "text_preferences": gettext_lazy("Pairs of texts"),
        "comparing": gettext_lazy("Comparing judges"),
        "meta": gettext_lazy("Meta-correlation M"),
        "indicator": gettext_lazy("Reliability indicator R"),
        "validity": gettext_lazy("R and P"),
        "alphas": gettext_lazy("Alpha"),
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
    cards=[FrontQuestion(gettext_lazy("Judges and people"), _WITH_JUDGES, answer_judges)],
)
COMPARE = Arrangement(
    tabs={
        "agreement": gettext_lazy("Agreement"),
        "bias": gettext_lazy("Bias"),
        "ranks": gettext_lazy("Ranks"),
        "order": gettext_lazy("Order"),
        "units": gettext_lazy("Common units"),
    },
    chart=Chart("agreement", ("alpha",), lines=(TENTATIVE, RELIABLE)),
    columns_in_files={"ranks": ("first_possible", "second_possible")},
    answer=answer_compare,
)
METRICS = Arrangement(
    chart=Chart("metrics", ("dataset",)), sorts={"metrics": "-dataset"}, answer=answer_metrics
)
ESTIMATES = Arrangement(
    tabs={
        "corrected": gettext_lazy("Systems"),
        "gain": gettext_lazy("Ratings saved"),
        "means": gettext_lazy("Each system alone"),
        "differences": gettext_lazy("Differences"),
        "widths": gettext_lazy("More ratings"),
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
        "tests": gettext_lazy("Test and controls"),
        "error": gettext_lazy("Error and uses"),
        "error-controls": gettext_lazy("Controls of the error"),
        "annotators": gettext_lazy("By annotator"),
        "one-more-rater": gettext_lazy("One more rater"),
        "power-of-test": gettext_lazy("Documents needed"),
    },
    chart=Chart("tests", ("advantage",)),
    answer=answer_replacement,
)
RELIABILITY = Arrangement(
    tabs={
        "validity": gettext_lazy("R and P"),
        "indicator": gettext_lazy("R by system"),
        "agreement": gettext_lazy("P by system"),
        "quality": gettext_lazy("Quality of systems"),
        "spread": gettext_lazy("Spread"),
    },
    chart=Chart("validity", ("validity",)),
    answer=answer_reliability,
)


ESTIMATES_PAGE = ResultsPage(
    "estimates",
    gettext_lazy("Estimates"),
    gettext_lazy(
        "What people would give the outputs of each system on average: from their ratings, from the judge, "
        "and "
        "from the judge corrected by what people rated."
    ),
    estimates_sections,
    version_of_judges,
    values_of,
    [JUDGE, ROUND, CONFIDENCE, ABOUT, CORRECTED],
    filled_by="judges",
    arrangement=ESTIMATES,
)

REPLACEMENT_PAGE = ResultsPage(
    "replacement",
    gettext_lazy("Replacement"),
    gettext_lazy(
        "The alternative annotator test with its controls, and alpha with the judge as one more rater."
    ),
    replacement_sections,
    version_of_judges,
    values_of,
    [JUDGE, EPSILON, CORRECTED],
    filled_by="judges",
    arrangement=REPLACEMENT,
)

JUDGES_PAGE = ResultsPage(
    "judges",
    gettext_lazy("Judges and people"),
    gettext_lazy(
        "How judges agree with people: correlations by item, system and document, alpha, bias, preferences "
        "between systems, quality against agreement, and R; then every judge by itself."
    ),
    judges_sections,
    version_of_judges,
    values_of,
    [ROUND, UNITS, CORRECTED],
    filled_by="judges",
    arrangement=JUDGES,
)
RELIABILITY_PAGE = ResultsPage(
    "reliability",
    gettext_lazy("Reliability"),
    gettext_lazy(
        "R: does the model agree with itself? P: does it agree with people? And does R predict P, system by "
        "system?"
    ),
    reliability_sections,
    version_of_judges,
    values_of,
    RELIABILITY_PARAMETERS,
    filled_by="judges",
    arrangement=RELIABILITY,
)

METRICS_PAGE = ResultsPage(
    "metrics",
    gettext_lazy("Metrics"),
    gettext_lazy(
        "Metrics such as ROUGE compared with people, and the judges as well: by item, system and document."
    ),
    metrics_sections,
    version_of_metrics,
    size_of_metrics,
    METRIC_PARAMETERS,
    filled_by="metrics",
    arrangement=METRICS,
)

COMPARE_PAGE = ResultsPage(
    "compare",
    gettext_lazy("Compare"),
    gettext_lazy(
        "Two sources of values on their common units: agreement, bias, and ranks of systems that change. A "
        "source is people in a round, people of an addition or edition, a judge, or a panel."
    ),
    compare_sources_sections,
    version_of_judges,
    values_of,
    [FIRST, SECOND],
    version_of_sources,
    arrangement=COMPARE,
)

JUDGES_RESULTS = (
    JUDGES_PAGE,
    RELIABILITY_PAGE,
    ESTIMATES_PAGE,
    REPLACEMENT_PAGE,
    METRICS_PAGE,
    COMPARE_PAGE,
)
