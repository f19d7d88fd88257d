"""Charts of results as data: `static/charts.js` renders them with Observable Plot.

The points are the cells of the tables that the API returns, so a chart shows no value that a table lacks.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from django.utils.translation import gettext

from annotate.results.registry import Chart, Data, Tables
from annotate.results.table import Cell, Column, ColumnKind, Table
from annotate.results.text import interval, number

MOST_POINTS = 400
MOST_SERIES = 3
MOST_ROWS_TOGETHER = 6
AMOUNTS = (ColumnKind.NUMBER, ColumnKind.SHARE)


def chart_of(
    table: Table, wanted: Chart | None = None, units: str = "", tables: Tables | None = None
) -> Data | None:
    """Return the chart of a table as plain values for JSON, None if no column can be plotted.

    units: the URL of the list of units, which points lead to. tables: the other tables of its page.
    """
    rows = [row for row in table.rows[:MOST_POINTS] if row]
    kind = "intervals" if wanted and wanted.columns else table.plot or "intervals"
    found = MAKERS[kind](table, rows, wanted.columns if wanted else ())
    points = found.get("points")
    if not points:
        return None
    for point in points:
        if link := point.pop("link", ""):
            point["url"] = link if "/" in link else f"{units}?{link}"
    found = {"key": table.key, "title": table.title, "lines": [], **found}
    if wanted is None:
        return found
    found |= {"lines": list(wanted.lines)}
    if bands := _bands(table, rows, wanted.band):
        found |= {"bands": bands, "band_name": gettext("interval of people alone")}
    if wanted.title:
        found["title"] = str(wanted.title)
    return wanted.refine(found, tables or {}) if wanted.refine else found


def _bands(table: Table, rows: Sequence[Sequence[Cell]], key: str) -> list[Data]:
    index = next((at for at, column in enumerate(table.columns) if key and column.key == key), None)
    at = next((at for at, head in enumerate(table.columns) if head.key == "dimension"), None)
    if index is None or at is None:
        return []
    found: dict[str, Data] = {}
    for row in rows:
        cell, name = row[index], str(row[at].value)
        if cell.low is not None and cell.high is not None and name not in found:
            note = f"{name}, {table.columns[index].name}: {interval(cell, table.columns[index])}"
            found[name] = {"row": name, "low": cell.low, "high": cell.high, "note": note}
    return list(found.values())


def _intervals(table: Table, rows: Sequence[Sequence[Cell]], wanted: Sequence[str]) -> Data:
    columns = _choose_columns(table, rows, wanted)
    heads = table.columns[: table.heads]
    at = next((index for index, head in enumerate(heads) if head.key == "dimension"), None)
    others = [index for index in range(table.heads) if index != at]
    points = []
    for row in rows:
        other = " – ".join(str(row[index].value) for index in others)
        dimension = str(row[at].value) if at is not None else ""
        for index in columns:
            if isinstance(row[index].value, int | float):
                name = table.columns[index].name
                points.append((dimension, other, name, row[index], table.columns[index], row))
    # Panels and series depend on the number of columns, and on heads next to the dimension.
    alone, many_heads = len(columns) == 1, at is not None and bool(others)
    names = list(dict.fromkeys(other for _, other, *_ in points))
    together = many_heads and alone and len(names) <= MOST_SERIES
    panels_of_columns = not many_heads and len(columns) > MOST_SERIES
    made = []
    for dimension, other, name, cell, column, row in points:
        label = dimension or other
        if together:
            panel, label, series = "", dimension, other
        elif many_heads:
            panel, label, series = dimension, other, "" if alone else name
        elif panels_of_columns:
            panel, series = name, ""
        else:
            panel, series = "", "" if alone else name
        placed = {"panel": panel, "row": label, "series": series, "name": other or series}
        made.append({**placed, **_point(table, row, cell, column)})
    # Series from columns keep the order of the columns, whatever the order of points.
    in_columns = not (alone or together or panels_of_columns)
    ordered = {"series": [table.columns[index].name for index in columns]} if in_columns else {}
    counted = all(table.columns[index].kind is ColumnKind.COUNT for index in columns)
    return {
        "kind": "intervals",
        "points": made,
        "axis": (table.columns[columns[0]].name if len(columns) == 1 else ""),
        "from_zero": counted,
        **ordered,
    }


def _choose_columns(table: Table, rows: Sequence[Sequence[Cell]], wanted: Sequence[str]) -> list[int]:
    """Return the positions of the columns to plot: those wanted, else with intervals, else any numbers."""
    positions = range(table.heads, len(table.columns))
    if wanted:
        return [index for index in positions if table.columns[index].key in wanted]
    amounts = [index for index in positions if table.columns[index].kind in AMOUNTS]
    with_interval = [index for index in amounts if any(row[index].low is not None for row in rows)]
    numbers = [index for index in positions if any(isinstance(row[index].value, int | float) for row in rows)]
    found = with_interval or [index for index in amounts if index in numbers] or numbers
    two_heads = table.heads > 1
    return found[:MOST_SERIES] if two_heads else found[:MOST_ROWS_TOGETHER]


def _point(table: Table, row: Sequence[Cell], cell: Cell, column: Column) -> Data:
    # Its heads, value, interval, n and method.
    heads = ", ".join(str(head.value) for head in row[: table.heads])
    parts = [f"{heads}, {column.name}: {_words(cell, column)} {interval(cell, column)}".strip()]
    if cell.count is not None:
        parts.append(gettext("n = %(count)s") % {"count": f"{cell.count:,}"})
    if cell.how:
        parts.append(cell.how.partition(" (function")[0])
    point = {"value": cell.value, "note": " · ".join(parts)}
    if cell.low is not None and cell.high is not None:
        point |= {"low": cell.low, "high": cell.high}
    return {**point, **({"link": cell.link} if cell.link else {})}


def _words(cell: Cell, column: Column) -> str:
    return number(cell.value, column) if isinstance(cell.value, int | float) else str(cell.value)


def _heat(table: Table, rows: Sequence[Sequence[Cell]], _wanted: Sequence[str]) -> Data:
    points = [
        {
            "row": ", ".join(str(head.value) for head in row[: table.heads]),
            "column": column.name,
            "name": str(row[0].value),
            "shown": _words(cell, column),
            **_point(table, row, cell, column),
        }
        for row, cell, column in _entries(table, rows)
    ]
    return {"kind": "heat", "points": points, "most": 1}


def _entries(table: Table, rows: Sequence[Sequence[Cell]]) -> Iterator[tuple[Sequence[Cell], Cell, Column]]:
    for row in rows:
        for cell, column in list(zip(row, table.columns, strict=True))[table.heads :]:
            if isinstance(cell.value, int | float):
                yield row, cell, column


def _distribution(table: Table, rows: Sequence[Sequence[Cell]], _wanted: Sequence[str]) -> Data:
    points = []
    for row in rows:
        counts = [
            (column.name, int(cell.value))
            for cell, column in zip(row, table.columns, strict=True)
            if column.kind is ColumnKind.COUNT and isinstance(cell.value, int)
        ]
        total = sum(count for _, count in counts)
        if row[1].value != "all" or not total:
            continue
        points += [
            {
                "row": str(row[0].value),
                "series": name,
                "value": count / total,
                "shown": str(count),
                "name": name,
                "note": f"{row[0].value}, {name}: {count} ({100 * count / total:.0f} %)",
            }
            for name, count in counts
        ]
    return {"kind": "shares", "points": points}


def _movement(_table: Table, rows: Sequence[Sequence[Cell]], _wanted: Sequence[str]) -> Data:
    points = [
        {
            "row": gettext("%(points)s in Round I") % {"points": row[1].value},
            "column": str(after),
            "value": cell.value,
            "shown": str(cell.value),
            "name": str(after),
            "note": gettext("%(units)s units: a difference of %(before)s before, %(after)s after")
            % {"units": cell.value, "before": row[1].value, "after": after},
        }
        for row in rows
        if row[0].value == "all"
        for after, cell in enumerate(row[2:])
        if isinstance(cell.value, int)
    ]
    counts = [cell.value for row in rows if row[0].value == "all" for cell in row[2:]]
    most = max((each for each in counts if isinstance(each, int)), default=0) or 1
    across = gettext("difference after discussion, in points")
    return {"kind": "heat", "points": points, "most": most, "across": across}


def _box(table: Table, rows: Sequence[Sequence[Cell]], _wanted: Sequence[str]) -> Data:
    points = [
        {
            "panel": str(row[0].value),
            "row": str(row[1].value),
            "name": str(row[1].value),
            "ends": [cell.value for cell in row[2:7]],
            "value": row[4].value,
            "note": f"{row[0].value}, {row[1].value}: "
            + "; ".join(
                f"{column.name} {number(cell.value, column)}"
                for cell, column in zip(row[2:7], table.columns[2:7], strict=True)
                if isinstance(cell.value, int | float)
            ),
        }
        for row in rows
        if all(isinstance(cell.value, int | float) for cell in row[2:7])
    ]
    return {"kind": "box", "points": points}


def _against(
    table: Table, rows: Sequence[Sequence[Cell]], across: int, up: int, size: int | None = None
) -> Data:
    x, y = table.columns[across], table.columns[up]
    points = []
    for row in rows:
        one, other = row[across], row[up]
        if isinstance(one.value, int | float) and isinstance(other.value, int | float):
            heads = ", ".join(str(head.value) for head in row[: table.heads])
            note = f"{heads}: {x.name} {number(one.value, x)}; {y.name} {number(other.value, y)}"
            sized = {"size": row[size].value} if size is not None else {}
            points.append(
                {
                    **_point(table, row, other, y),
                    "panel": str(row[0].value),
                    "x": one.value,
                    "name": str(row[table.heads - 1].value) if table.heads > 1 else "",
                    "note": note,
                    **sized,
                }
            )
    return {"kind": "scatter", "points": points, "across": x.name, "up": y.name}


def _widths(table: Table, rows: Sequence[Sequence[Cell]], _wanted: Sequence[str]) -> Data:
    own = [row for row in rows if row[2].value == "no"]
    return _lines(table, own, range(3, len(table.columns)), gettext("width of the interval"))


def _lines(table: Table, rows: Sequence[Sequence[Cell]], columns: Sequence[int], up: str) -> Data:
    points = [
        {
            **_point(table, row, row[index], table.columns[index]),
            "panel": str(row[0].value),
            "series": table.columns[index].name if len(columns) > 1 else "",
            "name": table.columns[index].name,
            "x": row[1].value,
        }
        for row in rows
        for index in columns
        if isinstance(row[index].value, int | float)
    ]
    return {"kind": "lines", "points": points, "across": table.columns[1].name, "up": up}


def _calibration(table: Table, rows: Sequence[Sequence[Cell]], _wanted: Sequence[str]) -> Data:
    found = _lines(table, rows, [2], table.columns[2].name)
    calibrated = gettext("calibrated")
    panels = list(dict.fromkeys(point["panel"] for point in found["points"]))
    for point in found["points"]:
        point["series"] = point["name"]
    line = [
        {
            "panel": panel,
            "series": calibrated,
            "name": calibrated,
            "x": end,
            "value": end,
            "note": gettext("A calibrated judge is right as often as it is confident."),
        }
        for panel in panels
        for end in (0, 1)
    ]
    return {**found, "points": [*found["points"], *line]}


MAKERS: Mapping[str, Callable[[Table, Sequence[Sequence[Cell]], Sequence[str]], Data]] = {
    "intervals": _intervals,
    "heat": _heat,
    "distribution": _distribution,
    "movement": _movement,
    "box": _box,
    "scatter": lambda table, rows, _: _against(table, rows, 1, 2, size=3),
    "quality": lambda table, rows, _: _against(table, rows, 2, 3),
    "widths": _widths,
    "curve": lambda table, rows, _: _lines(table, rows, [2], table.columns[2].name),
    "curves": lambda table, rows, _: _lines(table, rows, range(2, len(table.columns)), table.title),
    "calibration": _calibration,
}
"""By the name of the plot in a table."""


def differences_chart(table: Table) -> Data | None:
    """Return the share of units of each dimension by the size of the difference.

    The table lists units by difference with counts, or one unit a row.
    """
    names = [column.key for column in table.columns]
    at, counts = names.index("dimension"), Counter[tuple[str, float]]()
    for row in table.rows:
        cells = dict(zip(names, row, strict=True))
        value = cells["apart"].value if "apart" in cells else abs(float(cells["difference"].value or 0))
        units = int(cells["units"].value or 0) if "units" in cells else 1
        counts[str(cells["dimension"].value), float(round(float(value or 0)))] += units
    if not counts:
        return None
    # The kept list of Round I names dimensions by what URLs call them already.
    by_key = {str(row[at].value): row[at].key for row in table.rows}
    keys = {name: name if key.isdigit() else key for name, key in by_key.items()}
    totals: Counter[str] = Counter()
    for (dimension, _), units in counts.items():
        totals[dimension] += units
    points = [
        {
            "row": dimension,
            "series": f"{apart:g}",
            "value": units / totals[dimension],
            "shown": str(units),
            "name": f"{apart:g}",
            "note": gettext("%(dimension)s, a difference of %(difference)s: %(units)s units")
            % {"dimension": dimension, "difference": f"{apart:g}", "units": units},
            "url": f"?dimension={keys[dimension]}&apart={apart:g}",
        }
        for (dimension, apart), units in sorted(counts.items())
    ]
    series = [f"{apart:g}" for apart in sorted({apart for _, apart in counts})]
    title = gettext("Units by difference, in points")
    return {"kind": "shares", "key": "differences", "title": title, "points": points, "series": series}
