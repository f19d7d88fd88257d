"""A project's template as a YAML or JSON file, `concord-template/2`: written, read, or rejected with reasons.

docs/reference/templates.md describes it. A file that this module writes reads back to the same template.
It also reads files of `concord-template/1`, which have only scales.
"""

import base64
import binascii
import json
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, ClassVar

import yaml
from django.utils.text import slugify
from django.utils.translation import gettext, gettext_lazy

from annotate.core.errors import InvalidValueError
from annotate.core.files import LARGEST_IMAGE, image_key
from annotate.core.guideline import DimensionSpec, Picture, PointSpec, ProjectTemplate, TemplateSettings
from annotate.core.scale import MOST_POINTS, SMALLEST_STEP, normalize, problem_of_step
from annotate.questions import KINDS

FORMAT = "concord-template/2"
EARLIER = ("concord-template/1",)
STARTS = (
    yaml.BlockSequenceStartToken,
    yaml.BlockMappingStartToken,
    yaml.FlowSequenceStartToken,
    yaml.FlowMappingStartToken,
)
ENDS = (yaml.BlockEndToken, yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
DEEPEST = 20
FAMILY = "concord-template/"
MOST_BYTES = 20 * 1024 * 1024
# URLs use these words instead of a dimension's key.
RESERVED_KEYS = frozenset({"new"})
LEVELS = ("nominal", "ordinal", "interval", "ratio")
SMALLEST, LARGEST = -1000, 1000
MOST_CATEGORIES = 20
STEP_PROBLEMS = {
    "decimals": gettext_lazy("must have two decimals at most and be above 0."),
    "range": gettext_lazy("must divide the scale from its minimum to its maximum without a rest."),
    "points": gettext_lazy("must leave the scale {most:,} values at most."),
}


class TemplateRefusedError(Exception):
    """A file that is no template that can be read; every problem with its path in the file."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(problems[0])
        self.problems = problems


def to_json(template: ProjectTemplate) -> str:
    return json.dumps(_content(template), ensure_ascii=False, indent=2) + "\n"


def to_yaml(template: ProjectTemplate) -> str:
    return yaml.dump(
        _content(template), Dumper=_TemplateDumper, allow_unicode=True, sort_keys=False, width=100
    )


class _TemplateDumper(yaml.SafeDumper):
    """Writes strings of several lines as blocks."""

    # Repeated values are written out, because this module rejects anchors and aliases.
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_TemplateDumper.add_representer(str, _TemplateDumper.represent_text)


# libyaml's loader reads a file with images ten times as fast.
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _TemplateLoader(_SafeLoader):  # type: ignore[misc]
    """Reads only JSON's types. Days, Yes, no, on and 10:30 stay strings."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


for _name, _pattern, _first in (
    ("null", r"null|~|", ["n", "~", ""]),
    ("bool", r"true|false", ["t", "f"]),
    ("int", r"-?(?:0|[1-9][0-9]*)", list("-0123456789")),
    ("float", r"-?[0-9]+\.[0-9]+", list("-0123456789")),
):
    _TemplateLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_name}", re.compile(f"^(?:{_pattern})$"), _first
    )


def _content(template: ProjectTemplate) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "name": template.name,
        "summary": template.summary,
        "source": template.source,
        "guidelines": template.guidelines,
        "settings": vars(template.settings),
        "dimensions": [_dimension_to_json(dimension) for dimension in template.dimensions],
        "pictures": [
            {"name": each.name, "base64": base64.b64encode(each.content).decode()}
            for each in template.pictures
        ],
        "sample": template.sample,
    }


def _dimension_to_json(dimension: DimensionSpec) -> dict[str, Any]:
    general = {
        "name": dimension.name,
        "kind": dimension.kind,
        "definition": dimension.definition,
        "guidelines": dimension.guidelines,
    }
    condition = {"shown_if": dimension.shown_if} if dimension.shown_if else {}
    rules = {"dispute_threshold": dimension.dispute_threshold, "tolerance": dimension.tolerance}
    if dimension.kind != "scale":
        asked = {"options": dimension.options, "not_applicable": dimension.not_applicable}
        return {**general, **asked, **condition, **rules}
    scale = {
        "minimum": dimension.scale_minimum,
        "maximum": dimension.scale_maximum,
        "step": dimension.scale_step,
        "level": dimension.measurement_level,
        "not_applicable": dimension.not_applicable,
        "points": [vars(point) for point in dimension.points],
    }
    return {**general, "scale": scale, **condition, **rules}


def read_template(text: str | bytes, *, key: str = "") -> ProjectTemplate:
    """Return the template of a file, under this key. Raises TemplateRefusedError with all its problems."""
    if len(text) > MOST_BYTES:
        raise TemplateRefusedError(
            [
                gettext("The file is larger than {limit} MB; leave pictures out.").format(
                    limit=MOST_BYTES // 2**20
                )
            ]
        )
    content = _load(text)
    _check_format(content)
    reading = _Reading(content)
    template = ProjectTemplate(
        key=key,
        name=reading.text("name", most=150, needed=True),
        summary=reading.text("summary"),
        source=reading.text("source"),
        sample=reading.text("sample"),
        guidelines=reading.text("guidelines"),
        settings=_settings(reading.part("settings")),
        dimensions=tuple(map(_dimension, reading.parts("dimensions"))),
        pictures=tuple(map(_picture, reading.parts("pictures"))),
    )
    _refuse_same_names(reading, template)
    # Reject conditions on later questions and on questions about other kinds of items.
    earlier: dict[str, DimensionSpec] = {}
    for number, dimension in enumerate(template.dimensions):
        if dimension.shown_if:
            asked = earlier.get(dimension.shown_if["dimension"])
            path = f"dimensions[{number}].shown_if.dimension"
            if asked is None:
                reading.refuse(
                    path, gettext("must be one of {names}.").format(names=", ".join(earlier) or "–")
                )
            elif _item_kind(asked) != _item_kind(dimension):
                reading.refuse(path, gettext("must be about outputs or comparisons, as this question is."))
        # By the key that the dimension gets in a project, which conditions name.
        earlier[free_key(dimension.name, earlier)] = dimension
    if reading.problems:
        raise TemplateRefusedError(reading.problems)
    return template


def _load(text: str | bytes) -> Any:
    """Return the content of a JSON or YAML file; YAML without anchors, which can grow without limit."""
    try:
        words = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        # JSON has no anchors, and Python's parser limits its depth itself.
        if words.lstrip().startswith("{"):
            return json.loads(words)
        # Reject aliases and deep nesting, which can exhaust the memory.
        depth = 0
        for token in yaml.scan(words, Loader=_TemplateLoader):
            if isinstance(token, yaml.AliasToken | yaml.AnchorToken | yaml.TagToken):
                raise TemplateRefusedError(
                    [gettext("Anchors, aliases and tags of YAML are not read: write everything out.")]
                )
            depth += isinstance(token, STARTS) - isinstance(token, ENDS)
            if depth > DEEPEST:
                raise TemplateRefusedError([gettext("The file is nested too deeply for a template.")])
        return yaml.load(words, Loader=_TemplateLoader)  # a SafeLoader
    except (UnicodeDecodeError, ValueError, RecursionError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())[:300]
        raise TemplateRefusedError(
            [gettext("This is not a JSON or YAML file: {error}.").format(error=reason)]
        ) from None


def _check_format(content: Any) -> None:
    found = content.get("format") if isinstance(content, dict) else None
    if found == FORMAT or found in EARLIER:
        return
    # A file of another origin gets another message than a template of another version.
    if not isinstance(found, str) or not found.startswith(FAMILY):
        raise TemplateRefusedError(
            [
                gettext("format: this is no template of Concord; one begins with {format!r}.").format(
                    format=FORMAT
                )
            ]
        )
    theirs, ours = found.removeprefix(FAMILY)[:20], FORMAT.removeprefix(FAMILY)
    raise TemplateRefusedError(
        [
            gettext(
                "format: this template is of version {theirs!r}, and this Concord reads version {ours!r}; "
                "export it again from a Concord of this version."
            ).format(theirs=theirs, ours=ours)
        ]
    )


@dataclass
class _Reading:
    """An object of the file with its path; invalid values are recorded and replaced by harmless ones."""

    content: dict[str, Any]
    path: str = ""
    problems: list[str] = field(default_factory=list)

    def refuse(self, name: str, sentence: str) -> None:
        path = f"{self.path}.{name}" if self.path and name else self.path or name
        self.problems.append(f"{path}: {sentence}")

    def text(self, name: str, *, most: int | None = None, needed: bool = False) -> str:
        value = self.content.get(name, "")
        if not isinstance(value, str):
            self.refuse(name, gettext("must be text, and is {value}.").format(value=_format_value(value)))
            return ""
        if needed and not value.strip():
            self.refuse(name, gettext("is missing."))
        if most is not None and len(value) > most:
            self.refuse(
                name,
                gettext("has {count} characters; at most {most} can be kept.").format(
                    count=len(value), most=most
                ),
            )
        return value

    def number(self, name: str, low: int, high: int, default: int) -> int:
        found = self.number_or_none(name, low, high) if name in self.content else default
        if found is None:
            self.refuse(
                name,
                gettext("must be a whole number from {low} to {high}, and is null.").format(
                    low=low, high=high
                ),
            )
        return default if found is None else found

    def number_or_none(self, name: str, low: int, high: int) -> int | None:
        value = self.content.get(name)
        # True is an int, too.
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        if value is not None:
            self.refuse(
                name,
                gettext("must be a whole number from {low} to {high}, and is {value}.").format(
                    low=low, high=high, value=_format_value(value)
                ),
            )
            return low
        return None

    def points(self, name: str, low: float, high: float) -> float | None:
        """Return a number with up to two decimals, None without a number."""
        value: Any = self.content.get(name)
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and low <= value <= high and value == normalize(value):
            return normalize(value)
        self.refuse(
            name,
            gettext(
                "must be a number from {low} to {high} with two decimals at most, and is {value}."
            ).format(low=low, high=high, value=_format_value(value)),
        )
        return normalize(low)

    def truth(self, name: str) -> bool:
        value = self.content.get(name, False)
        if not isinstance(value, bool):
            self.refuse(
                name, gettext("must be true or false, and is {value}.").format(value=_format_value(value))
            )
        return value is True

    def part(self, name: str) -> "_Reading":
        value = self.content.get(name, {})
        if not isinstance(value, dict):
            self.refuse(
                name, gettext("must be an object, and is {value}.").format(value=_format_value(value))
            )
            value = {}
        return _Reading(value, f"{self.path}.{name}" if self.path else name, self.problems)

    def parts(self, name: str) -> Iterator["_Reading"]:
        value = self.content.get(name, [])
        if not isinstance(value, list):
            self.refuse(name, gettext("must be a list, and is {value}.").format(value=_format_value(value)))
            return
        start = f"{self.path}.{name}" if self.path else name
        for number, each in enumerate(value):
            if isinstance(each, dict):
                yield _Reading(each, f"{start}[{number}]", self.problems)
            else:
                self.problems.append(
                    gettext("{start}[{number}]: must be an object, and is {value}.").format(
                        start=start, number=number, value=_format_value(each)
                    )
                )


def _settings(reading: _Reading) -> TemplateSettings:
    usual = TemplateSettings()
    settings = TemplateSettings(
        raters_per_item=reading.number("raters_per_item", 1, 50, usual.raters_per_item),
        dispute_threshold=reading.number("dispute_threshold", 1, 1000, usual.dispute_threshold),
        tolerance=reading.number("tolerance", 0, 1000, usual.tolerance),
        reservation_minutes=reading.number("reservation_minutes", 1, 60 * 24 * 30, usual.reservation_minutes),
    )
    if settings.tolerance >= settings.dispute_threshold:
        reading.refuse("tolerance", gettext("must be less than the dispute threshold."))
    return settings


def _dimension(reading: _Reading) -> DimensionSpec:
    kind = reading.text("kind") or "scale"
    if kind not in KINDS:
        reading.refuse(
            "kind",
            gettext("must be one of {names}, and is {value}.").format(
                names=", ".join(KINDS), value=_format_value(kind)
            ),
        )
    spec = DimensionSpec(
        name=reading.text("name", most=80, needed=True),
        definition=reading.text("definition", needed=True),
        guidelines=reading.text("guidelines"),
        dispute_threshold=reading.points("dispute_threshold", SMALLEST_STEP, 1000),
        tolerance=reading.points("tolerance", 0, 1000),
    )
    is_scale = kind in ("scale", "category")
    spec = _add_scale(spec, reading) if is_scale else _add_options(spec, reading, kind)
    threshold, tolerance = spec.dispute_threshold, spec.tolerance
    if threshold is not None and tolerance is not None and tolerance >= threshold:
        reading.refuse("tolerance", gettext("must be less than the dispute threshold."))
    return replace(spec, shown_if=_condition(reading))


def _add_options(spec: DimensionSpec, reading: _Reading, kind: str) -> DimensionSpec:
    options = reading.part("options").content
    try:
        complete = KINDS[kind].read_options(options) if kind in KINDS else None
    except InvalidValueError as error:
        reading.refuse("options", error.message)
        complete = None
    not_applicable = reading.truth("not_applicable")
    return replace(spec, not_applicable=not_applicable, kind=kind, options=complete)


def _condition(reading: _Reading) -> dict[str, Any] | None:
    if reading.content.get("shown_if") is None:
        return None
    condition = reading.part("shown_if")
    values = condition.content.get("values")
    if (
        not isinstance(values, list)
        or not values
        or not all(type(each) in (int, float, str) for each in values)
    ):
        condition.refuse("values", gettext("must list the answers after which the question is asked."))
    return {"dimension": condition.text("dimension", needed=True), "values": values}


def _item_kind(dimension: DimensionSpec) -> str:
    return KINDS[dimension.kind].item_kind if dimension.kind in KINDS else ""


def free_key(name: str, taken: Container[str]) -> str:
    """Return the key of a dimension by its name, with a number if another dimension has the key."""
    base = slugify(name)[:50].strip("-") or "dimension"
    candidates = (base if n == 1 else f"{base}-{n}" for n in count(1))
    return next(each for each in candidates if each not in taken and each not in RESERVED_KEYS)


def _add_scale(spec: DimensionSpec, reading: _Reading) -> DimensionSpec:
    scale, named = reading.part("scale"), reading.content.get("kind") == "category"
    minimum = scale.number("minimum", SMALLEST, LARGEST, 1)
    maximum = scale.number("maximum", SMALLEST, LARGEST, 5)
    spec = replace(
        spec,
        scale_minimum=minimum,
        scale_maximum=maximum,
        scale_step=scale.points("step", SMALLEST_STEP, LARGEST) or 1,
        measurement_level=scale.text("level") or ("nominal" if named else "interval"),
        not_applicable=scale.truth("not_applicable"),
        points=tuple(_point(each, minimum, maximum) for each in scale.parts("points")),
    )
    _check_scale(scale, spec)
    return spec


def _check_scale(reading: _Reading, spec: DimensionSpec) -> None:
    if spec.scale_minimum >= spec.scale_maximum:
        reading.refuse(
            "maximum", gettext("must be above the minimum, {minimum}.").format(minimum=spec.scale_minimum)
        )
    elif problem := problem_of_step(spec.scale_minimum, spec.scale_maximum, spec.scale_step):
        reading.refuse("step", STEP_PROBLEMS[problem].format(most=MOST_POINTS))
    if spec.measurement_level == "nominal" and spec.scale_step != 1:
        reading.refuse("step", gettext("must be 1 where values are named categories."))
    if spec.measurement_level not in LEVELS:
        reading.refuse(
            "level",
            gettext("must be one of {names}, and is {value}.").format(
                names=", ".join(LEVELS), value=_format_value(spec.measurement_level)
            ),
        )
    if spec.measurement_level == "ratio" and spec.scale_minimum < 0:
        reading.refuse("minimum", gettext("must be zero or above on a ratio scale."))
    # Points: each value once, and a name for every category.
    values = [point.value for point in spec.points]
    if len(set(values)) < len(values):
        reading.refuse("points", gettext("describe a value twice."))
    if spec.measurement_level == "nominal":
        names = {point.label.strip().casefold() for point in spec.points if point.label.strip()}
        wanted = spec.scale_maximum - spec.scale_minimum + 1
        if len(names) != wanted or wanted > MOST_CATEGORIES:
            reading.refuse(
                "points",
                gettext("must give each category a name of its own, {most} at most.").format(
                    most=MOST_CATEGORIES
                ),
            )


def _point(reading: _Reading, minimum: int, maximum: int) -> PointSpec:
    if reading.content.get("value") is None:
        reading.refuse("value", gettext("is missing."))
    # A maximum below the minimum is an error already; the range here must not be empty.
    value = reading.number_or_none("value", minimum, max(minimum, maximum))
    return PointSpec(value or 0, reading.text("label", most=80), reading.text("description"))


def _picture(reading: _Reading) -> Picture:
    name, text = reading.text("name", most=150, needed=True), reading.text("base64", needed=True)
    try:
        # Without `validate` Python skips characters that are not base64.
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        reading.refuse("base64", gettext("is not base64."))
        return Picture(name, b"")
    if text and (image_key(content) is None or len(content) > LARGEST_IMAGE):
        reading.refuse(
            "base64",
            gettext("is not a PNG, JPEG, GIF or WebP picture of at most {limit} MB.").format(
                limit=LARGEST_IMAGE // 2**20
            ),
        )
    return Picture(name, content)


def _refuse_same_names(reading: _Reading, template: ProjectTemplate) -> None:
    names: dict[str, int] = {}
    for number, dimension in enumerate(template.dimensions):
        before = names.setdefault(dimension.name.strip().casefold(), number)
        if before != number and dimension.name.strip():
            reading.refuse(
                f"dimensions[{number}].name",
                gettext("is that of dimensions[{before}] too.").format(before=before),
            )


def _format_value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:40]}…"
