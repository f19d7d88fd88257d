"""Effects of an experiment's factors on agreement with people, shift and cost."""

from collections.abc import Mapping, Sequence

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import Stream
from agreement.comparison import FactorEffect, factor_effects
from annotate.core.models import Project
from annotate.results.registry import Tables
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from annotate.results.text import MINUS
from judges.core.models import Experiment, Judge
from judges.laboratory.factors import FACTORS
from judges.results.queries.spending import Spent, cost_of_thousand_units
from judges.results.tables.columns import difference_cell, number_or_reason
from judges.results.tables.compared import Scored

LEVEL = 0.05
_SAYS = gettext_lazy(
    "The statistic at a level minus that at the base judge’s level, on average over the other factors. × "
    "marks an interaction: the effect of two levels together minus the sum of their separate effects. p is "
    "corrected by Holm over the effects of a dimension."
)
_NAMES = {
    "alpha": gettext_lazy("alpha with mean"),
    "shift": gettext_lazy("mean shift"),
    "accuracy": gettext_lazy("accuracy"),
}
_NO_COST = gettext_lazy("A price is unknown, or a variant has no answers.")


def effect_tables(
    project: Project,
    experiment: Experiment,
    scored: Sequence[Scored],
    spent: Mapping[tuple[int, str], Spent],
) -> list[Table]:
    """Return the effects on scales, and on named categories. Variants must be loaded with their judges."""
    rows: dict[tuple[str, ...], list[list[Cell]]] = {}
    for dimension in {each.dimension.key: each.dimension for each in scored}.values():
        own = {each.judge.pk: each.scores for each in scored if each.dimension.key == dimension.key}
        shape = [len(each["levels"]) for each in experiment.factors]
        levels = {
            each.judge_id: tuple(map(int, np.unravel_index(each.position, shape)))
            for each in experiment.variants.all()
        }
        costs = {
            levels[each.judge_id]: _cost(each.judge, spent.get((each.judge_id, dimension.key)))
            for each in experiment.variants.all()
        }
        found = factor_effects(
            {levels[judge]: scores for judge, scores in own.items()},
            shape,
            measurement_level=dimension.measurement_level,
            generator=Stream(project.seed).of("experiment", dimension.key),
        )
        head = text(dimension.name, key=dimension.key)
        for effect in found:
            names = tuple(effect.differences)
            rows.setdefault(names, []).append(
                [head, _name(experiment, effect), *_cells(effect), _more(effect, costs), Cell(effect.items)]
            )
    return [_table(names, found) for names, found in rows.items()]


def _table(names: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Table:
    columns = [
        DIMENSION,
        Column("effect", gettext("Effect"), ColumnKind.TEXT),
    ]
    for name in names:
        columns += [
            Column(name, str(_NAMES[name]), decimals=3 if name != "shift" else 2),
            Column(f"{name}_p", gettext("p, {statistic}").format(statistic=_NAMES[name]), ColumnKind.P_VALUE),
        ]
    columns += [
        Column("cost", gettext("cost of 1,000 units"), decimals=4),
        Column("items", gettext("items"), ColumnKind.COUNT),
    ]
    key, title = "effects", gettext("Effects of factors")
    if "accuracy" in names:
        key, title = "effects-named", gettext("Effects of factors on named categories")
    return Table(key, title, columns, rows, heads=2, says=str(_SAYS), plot="intervals")


def _name(experiment: Experiment, effect: FactorEffect) -> Cell:
    """Return the name of a change: “Temperature 0 → 1”, of an interaction “Temperature 1 × Scale 1 to 10”."""
    parts = []
    for index, level in effect.levels.items():
        factor = experiment.factors[index]
        base, name = factor["levels"][0], factor["levels"][level]
        parts.append((factor["key"], base, name))
    if len(parts) == 1:
        ((key, base, name),) = parts
        return text(f"{FACTORS[key]} {base} → {name}", key=key)
    named = " × ".join(f"{FACTORS[key]} {name}" for key, _, name in parts)
    return text(named, key=":".join(key for key, _, _ in parts))


def _cells(effect: FactorEffect) -> list[Cell]:
    found = []
    for name, difference in effect.differences.items():
        what = gettext("Effect on {statistic} (function factor_effects)").format(statistic=_NAMES[name])
        found += [
            difference_cell(difference, what),
            number_or_reason(effect.adjusted.get(name), difference.reason),
        ]
    return found


def _cost(judge: Judge, spent: Spent | None) -> float | None:
    cost = cost_of_thousand_units(judge, [spent]) if spent else None
    return None if cost is None else float(cost)


def _more(effect: FactorEffect, costs: Mapping[tuple[int, ...], float | None]) -> Cell:
    """Return the extra cost of a level over the base level; an interaction has no separate cost."""
    if len(effect.levels) > 1:
        return Cell(reason=gettext("Costs are compared by level."))
    ((factor, level),) = effect.levels.items()
    sides = [[cost for levels, cost in costs.items() if levels[factor] == each] for each in (level, 0)]
    known = [[cost for cost in side if cost is not None] for side in sides]
    if known != sides:
        return Cell(reason=str(_NO_COST))
    return Cell(float(np.mean(known[0]) - np.mean(known[1])))


def answer_effects(tables: Tables) -> str:
    """Return the significant effects on agreement with people; empty without an experiment."""
    rows = [row for key in ("effects", "effects-named") if key in tables for row in tables[key].rows]
    tested = [(row, row[2].value, row[3].value) for row in rows if isinstance(row[3].value, float)]
    if not tested:
        return ""
    found = [(row, float(value or 0)) for row, value, p_value in tested if float(p_value or 0) < LEVEL]
    if not found:
        return gettext("No effect on agreement with people is significant ({count:,} tested).").format(
            count=len(tested)
        )
    found.sort(key=lambda each: -abs(each[1]))
    largest = [
        f"{row[0].value}, {row[1].value}: {value:+.2f}".replace("-", MINUS) for row, value in found[:2]
    ]
    return gettext(
        "{found:,} of {count:,} effects on agreement with people are significant. {largest}."
    ).format(found=len(found), count=len(tested), largest="; ".join(largest))
