"""Comparison of a judge's variants: on the same items, with cost and time, and tests between any two.

Also the effects of an experiment's factors on agreement with people, shift and cost.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from django.db.models import Count
from django.utils.translation import gettext, gettext_lazy

from agreement import Resampling, Stream, bias, holm_by_key
from agreement.comparison import CORRELATIONS, FactorEffect, Level, factor_effects
from agreement.comparison.between_judges import GROUPS, GroupsCompared, compare_groups
from annotate.core.models import Project
from annotate.results.registry import Chosen, Parameter, Tables
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text
from annotate.results.text import MINUS
from judges.core.errors import NoJudgesError
from judges.core.judge_settings import names_of_settings
from judges.core.models import Experiment, Judge, Run
from judges.laboratory.factors import FACTORS
from judges.results.queries.pairings import Spent, cost_of_thousand_units, spent_by_judges
from judges.results.tables.columns import JUDGE, add_correction_count, difference_cell, number_or_reason
from judges.results.tables.compared import (
    Scored,
    category_tables,
    compared_values,
    on_shared_items,
    shared_items,
)
from judges.results.tables.parameters import Options, counts_corrected
from judges.results.tables.together import tables_between_judges

LEVEL = 0.05
_SAYS_EFFECTS = gettext_lazy(
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
        # Positions follow the product of the levels, with the last factor changing fastest.
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
            # Scales and categories have other statistics, so each set of names has a table.
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
    return Table(key, title, columns, rows, heads=2, says=str(_SAYS_EFFECTS), plot="intervals")


def _name(experiment: Experiment, effect: FactorEffect) -> Cell:
    """Return the name of a change: “Temperature 0 → 1”, of an interaction “Temperature 1 × Scale 1 to 10”."""
    parts = []
    for index, level in effect.levels.items():
        factor = experiment.factors[index]
        base, name = factor["levels"][0], factor["levels"][level]
        parts.append((factor["key"], base, name))
    # One factor: from the base level to this one; several: the levels that interact.
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
    # A mean over some of the variants would compare other factors, too.
    if known != sides:
        return Cell(reason=str(_NO_COST))
    return Cell(float(np.mean(known[0]) - np.mean(known[1])))


def answer_effects(tables: Tables) -> str:
    """Return the significant effects on agreement with people; empty without an experiment."""
    rows = [row for key in ("effects", "effects-named") if key in tables for row in tables[key].rows]
    # The first statistic of a row: alpha on scales, accuracy on named categories.
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


ALL = "all"
_TEMPERATURE = re.compile(r" · temperature [\d.]+")  # as `design_of` names it
_SAYS = gettext_lazy("Cost and time are of all answers of a judge.")
_OWN_ITEMS = gettext_lazy(
    "Each judge is compared with people on its own items, and two judges on the items that both have."
)
_EFFECTS_SAY = gettext_lazy(
    "Each effect is measured on the items that people and all variants of this effect have values for."
)
_TESTS = gettext_lazy(
    "Differences on the same items by paired bootstrap, corrected for the number of pairs. If "
    "both have 20 samples or more, the correlations of ten groups of samples are compared, too "
    "(Siledar and others 2024, table 5): this tests whether new samples would reverse the order "
    "of the two, not whether other documents would."
)
_NONE = gettext_lazy(
    "No two judges have values yet. Create variants of a judge and run them together on a sample "
    "of documents to compare them here."
)
_NO_PRICE = gettext_lazy("The prices of its endpoint are unknown.")
_NO_TIME = gettext_lazy("The answers were imported without times.")


def _runs(project: Project) -> Options:
    """Return the experiments and the other runs of several judges, the newest first, then "all judges"."""
    several: dict[int, set[str]] = {}
    # Candidates of searches and judges of watches are not variants that a person compares.
    rows = Run.objects.filter(
        project=project,
        judgments__judge__tried_by=None,
        judgments__judge__rechecks=None,
        judgments__isnull=False,
    )
    for run, judge in rows.values_list("pk", "judgments__judge__name").distinct():
        several.setdefault(run, set()).add(judge)
    named = {run: str(len(judges)) for run, judges in several.items() if len(judges) > 1}
    experiments = Experiment.objects.filter(run__project=project).annotate(count=Count("variants"))
    for each in experiments.order_by("pk"):
        factors = " × ".join(str(FACTORS[factor["key"]]) for factor in each.factors)
        named[each.run_id] = f"{factors}, {each.count}"
    return [
        *(
            (str(run), gettext("run {run}: {judges} judges").format(run=run, judges=judges))
            for run, judges in sorted(named.items(), reverse=True)
        ),
        (ALL, gettext("all judges")),
    ]


RUN = Parameter("run", gettext_lazy("Experiment"), _runs)


def experiments_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return effects of factors, the variants and the tests between them.

    Raises NoJudgesError with instructions unless two judges have values.
    """
    run = None if chosen["run"] == ALL else Run.objects.get(project=project, pk=int(chosen["run"]))
    loaded = Experiment.objects.prefetch_related("variants__judge")
    experiment = None if run is None else loaded.filter(run=run).first()
    judges = _judges(project, run, experiment)
    if not judges:
        raise NoJudgesError(str(_NONE))
    found = compared_values(project, chosen, judges)
    spent = spent_by_judges(judges, with_corrected=counts_corrected(chosen))
    says = str(_OWN_ITEMS) if run is None else _shared_sentence(found.scored)
    sections = []
    if experiment is not None and found.scored:
        effects = effect_tables(project, experiment, found.scored, spent)
        sections.append(Section(gettext("Effects of factors"), str(_EFFECTS_SAY), effects, "effects"))
    if run is not None:
        # Effects choose their items themselves; the other tables use the ones that all variants have.
        found = replace(found, scored=on_shared_items(found.scored))
    amounts, named = found.amount_scores, found.name_scores
    tables = [_variants(amounts, spent, chosen), _plot(amounts, chosen)] if amounts else []
    tables += _temperatures(amounts, chosen)
    tables += category_tables(named) if named else []
    tests = [*tables_between_judges(found), *_groups(amounts, chosen)]
    sections.append(Section(gettext("Variants"), f"{says} {_SAYS}", tables, "variants"))
    if tests:
        sections.append(Section(gettext("Differences between variants"), str(_TESTS), tests, "tests"))
    return add_correction_count(sections, found.judges, chosen)


def _shared_sentence(scored: Sequence[Scored]) -> str:
    """Return the number of items with values of all variants, and the variant that lacks the most."""
    if not scored:
        return ""
    shared = shared_items(scored)
    total = sum(
        int(np.logical_or.reduce([each.said.given for each in scored if each.dimension.key == key]).sum())
        for key in shared
    )
    # Units with values of every variant, among those with a value of any.
    common = sum(int(items.sum()) for items in shared.values())
    if common == total:
        return gettext("All {count:,} units have values of all variants.").format(count=total)
    given: dict[str, int] = {}
    for each in scored:
        given[each.judge.name] = given.get(each.judge.name, 0) + int(each.said.given.sum())
    least = min(given, key=given.__getitem__)
    return gettext(
        "{common:,} of {total:,} units (an item on a dimension) have values of all variants, and only these "
        "are compared; {judge} limits them most, with values of {given:,}."
    ).format(common=common, total=total, judge=least, given=given[least])


def _judges(project: Project, run: Run | None, experiment: Experiment | None) -> list[Judge]:
    if experiment is not None:
        return [each.judge for each in experiment.variants.all()]
    judges = Judge.objects.filter(project=project).order_by("name")
    if run is not None:
        judges = judges.filter(judgments__run=run).distinct()
    return [judge for judge in judges if not (judge.asks_pairs or judge.asks_kinds)]


def _variants(scored: Sequence[Scored], spent: dict[tuple[int, str], Spent], chosen: Chosen) -> Table:
    columns = [
        JUDGE,
        DIMENSION,
        Column("items", gettext("items"), ColumnKind.COUNT),
        Column("correlation", gettext("correlation with people")),
        Column("alpha", gettext("alpha with mean")),
        Column("bias", gettext("bias"), decimals=2),
        Column("answers", gettext("answers"), ColumnKind.COUNT),
        Column("unreadable", gettext("unreadable"), ColumnKind.COUNT),
        Column("cost", gettext("cost"), decimals=4),
        Column("seconds", gettext("seconds a call"), decimals=2),
    ]
    rows = []
    for each in scored:
        severity = bias(
            each.scores.judge,
            each.scores.human_means,
            documents=each.scores.documents,
            generator=each.stream,
            resampling=Resampling(by="documents"),
        )
        own = spent.get((each.judge.pk, each.dimension.key), Spent(0, 0, None, None))
        cost = None if own.cost is None else float(own.cost)
        rows.append(
            [
                *each.names,
                Cell(each.items),
                _correlation(each, chosen),
                figure(each.alpha.with_mean),
                figure(severity),
                Cell(own.answers),
                Cell(own.unreadable),
                number_or_reason(cost, str(_NO_PRICE)),
                number_or_reason(own.seconds, str(_NO_TIME)),
            ]
        )
    title = gettext("Variants on the same items")
    if chosen["run"] == ALL:
        title = gettext("Judges on their own items")
    return Table("experiment", title, columns, rows, heads=2)


def _correlation(each: Scored, chosen: Chosen) -> Cell:
    return figure(each.correlations[chosen["coefficient"], Level(chosen["level"])])


def _plot(scored: Sequence[Scored], chosen: Chosen) -> Table:
    """Every variant with its correlations, a column for each dimension."""
    dimensions = {each.dimension.key: each.dimension.name for each in scored}
    cells = {(each.judge.name, each.dimension.key): _correlation(each, chosen) for each in scored}
    nothing = Cell(reason=gettext("This judge has no value on this dimension."))
    rows = [
        [text(judge), *(cells.get((judge, key), nothing) for key in dimensions)]
        for judge in dict.fromkeys(each.judge.name for each in scored)
    ]
    columns = [JUDGE, *(Column(key, name) for key, name in dimensions.items())]
    return Table(
        "correlations", gettext("Correlation with people by variant"), columns, rows, plot="intervals"
    )


def _temperatures(scored: Sequence[Scored], chosen: Chosen) -> list[Table]:
    """Return correlations by temperature (Stureborg and others 2024, figure 6), if two were used.

    Judges of a curve differ in temperature only. At temperature 0 all samples are alike, so one sample
    represents any number.
    """
    judges = list({each.judge.pk: each.judge for each in scored}.values())
    curves: dict[tuple[object, ...], list[Judge]] = {}
    for judge in judges:
        if judge.temperature:
            curves.setdefault((*_settings(judge), judge.samples), []).append(judge)
    for settings, own in curves.items():
        own += [each for each in judges if each.temperature == 0 and _settings(each) == settings[:-1]]
    # Reversed, so the first of several judges of one temperature stays in the curve.
    lines = [(own[0], {judge.temperature: judge.pk for judge in reversed(own)}) for own in curves.values()]
    lines = [(judge, found) for judge, found in lines if len(found) > 1]
    if not lines:
        return []
    temperatures = sorted({temperature or 0.0 for _, found in lines for temperature in found})
    cells = {(each.judge.pk, each.dimension.key): _correlation(each, chosen) for each in scored}
    nothing = Cell(reason=gettext("No judge has this temperature on this dimension."))
    rows = [
        [
            text(name, key=key),
            Cell(temperature),
            # No judge has the id 0.
            *(cells.get((found.get(temperature, 0), key), nothing) for _, found in lines),
        ]
        for key, name in {each.dimension.key: each.dimension.name for each in scored}.items()
        for temperature in temperatures
    ]
    columns = [
        DIMENSION,
        Column("temperature", gettext("temperature"), decimals=2),
        *(Column(f"judge-{judge.pk}", _TEMPERATURE.sub("", judge.name)) for judge, _ in lines),
    ]
    title = gettext("Correlation with people by temperature")
    return [Table("temperatures", title, columns, rows, heads=2, plot="curves")]


def _settings(judge: Judge) -> tuple[object, ...]:
    # The name of the token limit changes no reply, and the reference is compared by its id.
    names = set(names_of_settings()) - {"temperature", "samples", "max_tokens_name", "reference"}
    # Text, because lists have no hash.
    values = (str(getattr(judge, name)) for name in sorted(names))
    return judge.model, judge.endpoint_id, judge.template_id, judge.reference_id, *values


def _groups(scored: Sequence[Scored], chosen: Chosen) -> list[Table]:
    """Return the tests over groups of samples, empty if fewer than two judges have enough of them."""
    measure, level = CORRELATIONS[chosen["coefficient"]], Level(chosen["level"])
    pairs = [
        (first, second, compare_groups(first.scores, first.said.as_read, second.said.as_read, measure, level))
        for first, second in combinations(scored, 2)
        if first.dimension.key == second.dimension.key
        # Two samples or more in each group.
        and min(first.samples.shape[1], second.samples.shape[1]) >= 2 * GROUPS
    ]
    if not pairs:
        return []
    adjusted = [_adjust(pairs, name) for name in ("u_p", "t_p")]
    rows = [
        [
            text(first.judge.name),
            text(second.judge.name),
            text(first.dimension.name, key=first.dimension.key),
            number_or_reason(compared.first, compared.reason),
            number_or_reason(compared.second, compared.reason),
            *(
                number_or_reason(each.get(index), compared.reason or gettext("It does not vary."))
                for each in adjusted
            ),
        ]
        for index, (first, second, compared) in enumerate(pairs)
    ]
    columns = [
        JUDGE,
        Column("other_judge", gettext("Other judge"), ColumnKind.TEXT),
        DIMENSION,
        Column("first", gettext("mean of the first")),
        Column("second", gettext("mean of the second")),
        Column("u_p", gettext("p, Mann-Whitney"), ColumnKind.P_VALUE),
        Column("t_p", "p, t", ColumnKind.P_VALUE),
    ]
    return [
        Table("groups", gettext("{groups} groups of samples").format(groups=GROUPS), columns, rows, heads=3)
    ]


def _adjust(pairs: Sequence[tuple[Scored, Scored, GroupsCompared]], name: str) -> dict[int, float]:
    """Return p values by position, after Holm over the pairs of judges of a dimension."""
    found: dict[int, float] = {}
    for key in {first.dimension.key for first, _, _ in pairs}:
        own = {
            index: getattr(compared, name)
            for index, (first, _, compared) in enumerate(pairs)
            if first.dimension.key == key
        }
        found |= holm_by_key(own)
    return found
