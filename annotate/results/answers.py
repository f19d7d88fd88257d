"""Messages that answer the questions of results pages, from the tables of a page."""

from collections.abc import Sequence

from django.utils.translation import gettext, gettext_lazy, ngettext

from annotate.results.registry import Data, Tables
from annotate.results.table import Cell, Table
from annotate.results.text import MINUS

RELIABLE, TENTATIVE = 0.8, 0.667
"""Krippendorff's conventions for alpha."""
SURE = 0.05
"""Adjusted p below which two systems differ."""
NO_SYSTEM = "–"
"""In place of systems that vary more than the others."""


def column_of(table: Table, key: str) -> list[Cell]:
    positions = [index for index, column in enumerate(table.columns) if column.key == key]
    return [row[positions[0]] for row in table.rows] if positions else []


def amounts_of(table: Table | None, key: str) -> list[float]:
    cells = column_of(table, key) if table else []
    return [float(cell.value) for cell in cells if isinstance(cell.value, int | float)]


def answer_agreement(tables: Tables) -> str:
    """Return the number of dimensions that reach Krippendorff's conventions, and the effect of discussion."""
    return " ".join(part for part in (answer_alpha(tables), answer_disputes(tables)) if part)


def answer_alpha(tables: Tables) -> str:
    """Return the range of alpha in Round I, and the number of dimensions that reach the conventions."""
    alphas = amounts_of(tables.get("rounds"), "round_1_alpha")
    if not alphas:
        return gettext("Alpha is undefined on every dimension; the table shows the reasons.")
    parts = {
        "low": f"{min(alphas):.2f}",
        "high": f"{max(alphas):.2f}",
        "reliable": sum(each >= RELIABLE for each in alphas),
        "tentative": sum(each >= TENTATIVE for each in alphas),
        "total": len(alphas),
    }
    if len(alphas) == 1:
        return gettext("Alpha of Round I is %(low)s; .80 is reliable, .667 is tentative.") % parts
    says = gettext(
        "Alpha of Round I is %(low)s to %(high)s: "
        "%(reliable)s of %(total)s dimensions reach .80 (reliable), %(tentative)s reach .667 (tentative)."
    )
    return says % parts


def answer_disputes(tables: Tables) -> str:
    """Return the numbers of disputes ended by discussion and by adjudication."""
    rounds = tables.get("rounds")
    total = round(sum(amounts_of(rounds, "opened")))
    if not total:
        return gettext("There are no disputes.")
    ended = {key: round(sum(amounts_of(rounds, key))) for key in ("settled", "adjudicated")}
    says = ngettext(
        "%(total)s dispute: %(settled)s settled, %(adjudicated)s adjudicated, %(unresolved)s unresolved.",
        "%(total)s disputes: %(settled)s settled, %(adjudicated)s adjudicated, %(unresolved)s unresolved.",
        total,
    )
    return says % {"total": f"{total:,}", "unresolved": total - sum(ended.values()), **ended}


def answer_systems(tables: Tables) -> str:
    """Return the system with the highest mean on most dimensions, and the number with a sure lead.

    Then the systems about which raters differ more than about the others.
    """
    return " ".join(part for part in (_answer_leader(tables), _answer_outlying(tables)) if part)


def _answer_outlying(tables: Tables) -> str:
    sources = tables.get("error-sources")
    if sources is None:
        return ""
    rows = zip(column_of(sources, "dimension"), column_of(sources, "outlying_raters"), strict=False)
    named = [
        gettext("{systems} on {dimension}").format(systems=systems.value, dimension=dimension.value)
        for dimension, systems in rows
        if systems.value != NO_SYSTEM
    ]
    if not named:
        return ""
    says = gettext("Raters differ more about some systems than about others: {named}.")
    return says.format(named="; ".join([*named[:3], *(["…"] if len(named) > 3 else [])]))


def _answer_leader(tables: Tables) -> str:
    means, ranks = tables.get("means"), tables.get("ranks")
    if means is None or not means.rows:
        return ""
    best = best_systems(means)
    if not best:
        return gettext("No system has a mean yet.")
    names = list(best.values())
    # Of several systems that lead equally often, the one of the earliest dimension.
    leader = max(dict.fromkeys(names), key=names.count)
    led = [dimension for dimension, name in best.items() if name == leader]
    sure = [dimension for dimension in led if ranks and _rank(ranks, leader, dimension) == "1"]
    says = gettext(
        "%(system)s has the highest mean on %(led)s of %(total)s dimensions, "
        "and is surely the best on %(sure)s."
    )
    if not sure:
        says = gettext(
            "%(system)s has the highest mean on %(led)s of %(total)s dimensions, "
            "but is not surely the best on any."
        )
    return says % {"system": leader, "led": len(led), "total": len(best), "sure": len(sure)}


def best_systems(means: Table) -> dict[str, str]:
    found = {}
    for position, column in enumerate(means.columns[1:], start=1):
        known = [row for row in means.rows if isinstance(row[position].value, int | float)]
        if known:
            found[column.key] = str(max(known, key=lambda row, at=position: float(row[at].value))[0].value)  # type: ignore[misc]
    return found


def _rank(ranks: Table, system: str, dimension: str) -> str:
    cells = dict(zip(column_of(ranks, "system"), column_of(ranks, dimension), strict=False))
    return next((str(cell.value) for name, cell in cells.items() if name.value == system), "")


def group_systems(chart: Data, tables: Tables) -> Data:
    """Return the chart of means with systems sorted by mean, in two groups for each dimension.

    The first group contains the best system and the systems that do not differ from it.
    """
    together = gettext("highest mean, or no sure difference from it")
    below = gettext("surely lower (adjusted p < .05)")
    worse = _worse(tables)
    points = sorted(chart["points"], key=lambda each: -each["value"])
    panels = list(dict.fromkeys(each["panel"] for each in chart["points"]))
    best = {panel: next(each["row"] for each in points if each["panel"] == panel) for panel in panels}
    for each in points:
        pair = (each["panel"], best[each["panel"]], each["row"])
        each["series"] = below if pair in worse else together
    points.sort(key=lambda each: (panels.index(each["panel"]), -each["value"]))
    return {**chart, "points": points, "series": [together, below]}


def _worse(tables: Tables) -> set[tuple[str, str, str]]:
    """Return the dimension, better and worse system of each pair that surely differs."""
    found = set()
    differences = tables.get("differences")
    for dimension, first, second, difference, _, adjusted in differences.rows if differences else ():
        if isinstance(adjusted.value, float) and adjusted.value < SURE and difference.value is not None:
            one, other = str(first.value), str(second.value)
            pair = (one, other) if float(difference.value) > 0 else (other, one)
            found.add((str(dimension.value), *pair))
    return found


def answer_question(tables: Tables) -> str:
    agreement, systems = tables.get("agreement"), tables.get("systems")
    parts = []
    if agreement and agreement.rows:
        name, alpha = agreement.rows[0][0].value, column_of(agreement, "round_1")[0]
        if isinstance(alpha.value, float):
            says = gettext("Round I has a value of {value} for {name}.")
            parts.append(says.format(name=name, value=f"{alpha.value:.2f}".replace("-", MINUS)))
        else:
            parts.append(gettext("Agreement is undefined; the table shows the reasons."))
    if systems and systems.columns[1].key in _BEST_FIRST and len(systems.rows) > 1:
        first, statistic = systems.rows[0][:2]
        if statistic.value is not None:
            says = str(_BEST_FIRST[systems.columns[1].key])
            ranks = column_of(systems, "ranks")
            if ranks and ranks[0].value == "1":
                says = gettext("{system} is surely the strongest of {count} systems.")
            parts.append(says.format(system=first.value, count=len(systems.rows)))
    return " ".join(parts)


_BEST_FIRST = {
    "strength": gettext_lazy("{system} has the highest strength of {count} systems, but not surely."),
    "share": gettext_lazy("{system} has the highest share of {count} systems."),
    "mqm": gettext_lazy("{system} has the lowest MQM score of {count} systems."),
    "mean": gettext_lazy("{system} has the highest mean of {count} systems."),
}
"""By the column that sorts the systems of a question."""


def answer_severity(tables: Tables) -> str:
    """Return the dimension with the largest differences in severity, and the dimension with a misfit."""
    raters = tables.get("raters")
    own: dict[str, list[float]] = {}
    # Severities by dimension, without the rows that have a reason instead.
    columns = [column_of(raters, key) if raters else [] for key in ("dimension", "severity")]
    for name, cell in zip(*columns, strict=True):
        if isinstance(cell.value, float):
            own.setdefault(str(name.value), []).append(cell.value)
    if not own:
        return ""
    ranges = {name: max(values) - min(values) for name, values in own.items()}
    widest = max(ranges, key=ranges.__getitem__)
    says = gettext("Raters differ most on %(dimension)s: severity has a range of %(range)s logits.")
    says %= {"dimension": widest, "range": f"{ranges[widest]:.2f}"}
    fit = tables.get("fit")
    if fit is None:
        return says
    misfits = [str(row[0].value) for row in fit.rows if row[1].key == "true"]
    if not misfits:
        return f"{says} {gettext('No misfit was found.')}"
    return f"{says} {gettext('The model does not fit %(dimensions)s.') % {'dimensions': ', '.join(misfits)}}"


def answer_passages(tables: Tables) -> str:
    return answer_range(
        tables.get("passages"),
        "alpha",
        gettext("Alpha of marked passages is %(low)s to %(high)s over dimensions."),
        gettext("No two raters have marked passages in the same item yet."),
    )


def answer_study(tables: Tables) -> str:
    """Return the cheapest design, and what the most demanding dimension needs."""
    return " ".join(part for part in (answer_design(tables), _answer_needs(tables)) if part)


def answer_design(tables: Tables) -> str:
    """Return the cheapest design with the goal that it reaches, and its hours and pay, if they are known."""
    designs = tables.get("designs")
    if designs is None or not designs.rows:
        return ""
    cells = {column.key: cell.value for column, cell in zip(designs.columns, designs.rows[0], strict=True)}
    raters, each, documents = (cells[key] for key in ("raters", "per_document", "documents"))
    # If each rater rates every document, one number says it.
    panel = gettext("{each} of {raters} raters") if each != raters else gettext("{raters} raters")
    sentence = f"{panel} × {gettext('{documents:,} documents {reaches}')}".format(
        raters=raters, each=each, documents=documents, reaches=cells["reaches"]
    )
    if not isinstance(cells["hours"], float):
        return f"{sentence}."
    costs = gettext("{hours:,.1f} hours").format(hours=cells["hours"])
    if isinstance(cells["pay"], float):
        costs = gettext("{hours}, {pay:,.0f} of pay").format(hours=costs, pay=cells["pay"])
    return f"{sentence}: {costs}."


def _answer_needs(tables: Tables) -> str:
    raters = amounts_of(tables.get("raters-needed"), "needed")
    documents = amounts_of(tables.get("documents-needed"), "needed")
    parts = {"raters": f"{max(raters, default=0):g}", "documents": f"{max(documents, default=0):g}"}
    if not raters:
        return ""
    says = gettext("%(raters)s raters give a reliable mean on every dimension.")
    if documents:
        says = gettext(
            "%(raters)s raters give a reliable mean on every dimension, "
            "and %(documents)s documents a sure alpha."
        )
    return says % parts


def answer_so_far(tables: Tables) -> str:
    """Return the range of alpha until now, and which systems differ surely."""
    alpha = answer_range(
        tables.get("alpha"),
        "alpha",
        gettext("Alpha of the ratings until now is %(low)s to %(high)s over dimensions."),
        gettext("Alpha is undefined on every dimension; the table shows the reasons."),
    )
    systems = tables.get("systems-so-far")
    return f"{alpha} {systems.says}" if systems and alpha else alpha


def answer_range(table: Table | None, key: str, sentence: str, nothing: str) -> str:
    """Return `sentence` with the lowest and highest number of a column, else `nothing`."""
    found = amounts_of(table, key)
    if table is None or not table.rows:
        return ""
    if not found:
        return nothing
    low, high = (f"{each:.2f}".replace("-", MINUS) for each in (min(found), max(found)))
    return sentence % {"low": low, "high": high}


def count_of(names: Sequence[str]) -> dict[str, int]:
    """Return the frequency of each name, in order of first occurrence."""
    return {name: names.count(name) for name in dict.fromkeys(names)}
