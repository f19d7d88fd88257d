"""Small plots as SVG, each with a text alternative; pages show the same figures in a table beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotate.agreement import Coefficient
from annotate.templatetags.figures import decimals
from judges.queries.estimates import DimensionEstimates
from judges.queries.reliability import DimensionFigures
from judges.reliability import Spread

register = template.Library()

WIDTH, HEIGHT = 360, 240
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 10, 40


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers on a stretch of pixels, with round ticks."""

    low: float
    high: float
    first: float
    last: float
    step: float

    @classmethod
    def over(cls, values: Sequence[float], first: float, last: float) -> "Axis":
        """Return an axis that holds all values between round ends."""
        step = _step(max(values) - min(values) or abs(values[0]) or 1)
        low, high = floor(min(values) / step) * step, ceil(max(values) / step) * step
        return cls(low, high if high > low else low + step, first, last, step)

    def at(self, value: float) -> float:
        """Return where a value stands."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.first + share * (self.last - self.first), 1)

    @property
    def ticks(self) -> list[float]:
        """Return the round numbers from end to end."""
        return [
            self.low + index * self.step for index in range(round((self.high - self.low) / self.step) + 1)
        ]


@register.filter
def heat(coefficient: Coefficient) -> str:
    """Return the class of a cell's colour: blue the higher, ochre below 0, none where undefined."""
    if coefficient.value is None:
        return "heat heat-undefined"
    tenths = int(round(abs(coefficient.value), 9) * 10)
    return f"heat heat-{'minus' if coefficient.value < 0 else 'plus'}-{min(tenths, 7)}"


@register.simple_tag
def quality_plot(one: DimensionFigures) -> SafeString:
    """Draw each system's quality against the judge's agreement with people on it (as Shen's figure 3)."""
    points = [
        (each.system, each.quality.value, each.agreement.value)
        for each in one.figures.systems
        if each.quality.value is not None and each.agreement.value is not None
    ]
    if not points:
        return SafeString(
            '<p class="small soft">There is nothing to draw: P is undefined for every system.</p>'
        )
    across = Axis.over([x for _, x, _ in points], LEFT, WIDTH - RIGHT)
    up = Axis.over([y for _, _, y in points], HEIGHT - BOTTOM, TOP)
    dots = format_html_join(
        "",
        '<circle cx="{}" cy="{}" r="4.5"><title>{}: quality {}, P {}</title></circle>',
        [(across.at(x), up.at(y), name, decimals(x), decimals(y)) for name, x, y in points],
    )
    said = f"{one.dimension.name}: quality of {len(points)} systems against P, as in the table beside it."
    return _svg(said, HEIGHT, _ground(across, up, "quality: mean human score", "P"), dots)


@register.simple_tag
def spread_plot(dimensions: Sequence[DimensionFigures]) -> SafeString:
    """Draw least, quartiles and largest of R and P over systems on each dimension (as figures 1 and 5)."""
    rows = [
        (f"{name} {one.dimension.name}", name, found)
        for one in dimensions
        for name, found in (("R", one.figures.indicator_spread), ("P", one.figures.agreement_spread))
        if found
    ]
    if not rows:
        return SafeString("")
    height = TOP + 24 * len(rows) + BOTTOM
    ends = [end for _, _, found in rows for end in (found.smallest, found.largest)]
    axis = Axis.over([0, *ends], 130, WIDTH - RIGHT)
    boxes = format_html_join(
        "", "{}", [(_box(axis, TOP + 24 * index + 12, *row),) for index, row in enumerate(rows)]
    )
    said = "R and P over systems on each dimension: least, quartiles and largest, as in the table beside it."
    return _svg(said, height, _across(axis, height - BOTTOM, ""), boxes)


@register.simple_tag
def widths_plot(one: DimensionEstimates) -> SafeString:
    """Draw mean widths against ratings spent: people only dashed, combined solid, guaranteed dotted."""
    lines = {
        kind: [
            (each.ratings, width)
            for each in one.widths
            if not each.is_now and (width := getattr(each, kind)) is not None
        ]
        for kind in ("humans", "combined", "guaranteed")
    }
    points = [point for line in lines.values() for point in line]
    if not points:
        return SafeString("")
    across = Axis.over([0, *(float(x) for x, _ in points)], LEFT, WIDTH - RIGHT)
    up = Axis.over([0, *(y for _, y in points)], HEIGHT - BOTTOM, TOP)
    drawn = format_html_join(
        "",
        '<polyline class="plot-{}" points="{}"/>',
        [
            (kind, " ".join(f"{across.at(x)},{up.at(y)}" for x, y in line))
            for kind, line in lines.items()
            if line
        ],
    )
    said = f"{one.dimension.name}: width of intervals after more ratings, as in the table beside it."
    return _svg(said, HEIGHT, _ground(across, up, "ratings of each system", "width"), drawn)


def _box(axis: Axis, y: float, label: str, kind: str, found: Spread) -> SafeString:
    first, last = axis.at(found.first_quartile), axis.at(found.third_quartile)
    return format_html(
        '<text x="124" y="{}" text-anchor="end">{}</text>'
        '<line class="plot-reach" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<rect class="plot-{}" x="{}" y="{}" width="{}" height="12"/>'
        '<line class="plot-median" x1="{}" x2="{}" y1="{}" y2="{}"/>',
        *(y + 4, label if len(label) <= 20 else f"{label[:19]}…"),
        *(axis.at(found.smallest), axis.at(found.largest), y, y),
        *(kind.lower(), first, y - 6, round(max(last - first, 1), 1)),
        *(axis.at(found.median), axis.at(found.median), y - 8, y + 8),
    )


def _svg(said: str, height: float, *parts: SafeString) -> SafeString:
    inside = format_html_join("", "{}", [(part,) for part in parts])
    return format_html(
        '<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>',
        WIDTH,
        height,
        said,
        inside,
    )


def _ground(across: Axis, up: Axis, below: str, beside: str) -> SafeString:
    lines = format_html_join(
        "",
        '<line class="plot-line" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text x="{}" y="{}" text-anchor="end">{}</text>',
        [
            (LEFT, WIDTH - RIGHT, up.at(t), up.at(t), LEFT - 5, up.at(t) + 4, _tick(t, up.step))
            for t in up.ticks
        ],
    )
    middle = (up.first + up.last) / 2
    name = format_html(
        '<text transform="translate(12 {}) rotate(-90)" text-anchor="middle">{}</text>', middle, beside
    )
    return format_html("{}{}{}", lines, name, _across(across, HEIGHT - BOTTOM, below))


def _across(axis: Axis, y: float, below: str) -> SafeString:
    ticks = format_html_join(
        "",
        '<line class="plot-line" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<text x="{}" y="{}" text-anchor="middle">{}</text>',
        [(axis.at(t), axis.at(t), TOP, y, axis.at(t), y + 15, _tick(t, axis.step)) for t in axis.ticks],
    )
    middle = (axis.first + axis.last) / 2
    name = format_html('<text x="{}" y="{}" text-anchor="middle">{}</text>', middle, y + 32, below)
    return format_html("{}{}", ticks, name if below else "")


def _step(length: float) -> float:
    """Return 1, 2 or 5 times a power of ten, so that there are 3 to 7 ticks."""
    power = 10.0 ** floor(log10(length / 3))
    return next(power * factor for factor in (1, 2, 5, 10) if length / (power * factor) <= 6)


def _tick(value: float, step: float) -> str:
    return f"{value + 0.0:.{max(0, -floor(log10(step)))}f}".replace("-", "−")
