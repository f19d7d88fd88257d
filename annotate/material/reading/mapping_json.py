"""Mappings written down: as JSON, and as the command line's field=column."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from annotate.core.translation import gettext
from annotate.material.reading.columns import ColumnMapping, PartColumn, ValueColumn
from annotate.material.reading.mappings import SHIPPED, Mapping

FORMATS = ("plain", "markdown", "chat")
SINGLE_FIELDS = ("document_key", "document_title", "system", "text", "rater", "dimension", "value", "round")


class MappingError(ValueError):
    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason


def mapping_to_json(mapping: Mapping) -> dict[str, Any]:
    """The mapping as imports store it; `mapping_from_json` reads it back to an equal one."""
    if not isinstance(mapping, ColumnMapping):
        return {"name": mapping.name}
    given = {field: value for field, value in asdict(mapping).items() if value}
    # JSON has lists only.
    return {field: list(value) if isinstance(value, tuple) else value for field, value in given.items()}


def mapping_from_json(written: object) -> Mapping:
    """Return the mapping of a stored one. A MappingError names the invalid field."""
    if not isinstance(written, dict):
        raise MappingError("", gettext('The mapping must be an object, such as {"name": "summeval-op"}.'))
    if "name" in written:
        return shipped_mapping(written["name"])
    # A misspelled field would otherwise import less than its author wants, without a message.
    _refuse_unknown(written, {*SINGLE_FIELDS, "format", "parts", "value_columns", "metadata"}, "")
    return ColumnMapping(
        **{field: _text(written, field, field) for field in SINGLE_FIELDS if field in written},
        parts=tuple(PartColumn(*pair) for pair in _pairs(written, "parts", "label")),
        value_columns=tuple(ValueColumn(*pair) for pair in _pairs(written, "value_columns", "dimension")),
        format=_format(_text(written, "format", "format")),
        metadata=_names(written, "metadata"),
    )


def shipped_mapping(name: object) -> Mapping:
    if not isinstance(name, str) or name not in SHIPPED:
        raise MappingError(
            "name",
            gettext("There is no mapping “{name}”; choose {names}.").format(
                name=name, names=", ".join(SHIPPED)
            ),
        )
    return SHIPPED[name]


def mapping_from_options(options: Iterable[str]) -> ColumnMapping:
    """The column mapping of options such as `system=model`, `part:Review=rev1`, `dimension:fluency=flu`."""
    single: dict[str, str] = {}
    parts: list[PartColumn] = []
    values: list[ValueColumn] = []
    metadata: list[str] = []
    for option in options:
        field, equals, column = option.partition("=")
        kind, _, label = field.partition(":")
        if not equals or not column:
            raise MappingError(
                option, gettext("“{option}” is not of the form field=column.").format(option=option)
            )
        if kind == "part":
            parts.append(PartColumn(column, label or column))
        elif field == "metadata":
            metadata.append(column)
        elif kind == "dimension" and label:
            values.append(ValueColumn(column, label))
        elif field == "format":
            single[field] = _format(column)
        # A field has one column, so a second one is an error.
        elif field in SINGLE_FIELDS and field not in single:
            single[field] = column
        else:
            raise MappingError(
                field,
                gettext(
                    "“{field}” is given twice or is not one of {fields}, part, part:LABEL, "
                    "dimension:NAME or metadata."
                ).format(field=field, fields=", ".join(SINGLE_FIELDS)),
            )
    return ColumnMapping(**single, parts=tuple(parts), value_columns=tuple(values), metadata=tuple(metadata))


def mapping_to_options(mapping: ColumnMapping) -> list[str]:
    """Return the options from which `mapping_from_options` makes an equal mapping."""
    single = [
        f"{field}={column}" for field in (*SINGLE_FIELDS, "format") if (column := getattr(mapping, field))
    ]
    parts = [f"part:{part.label}={part.column}" for part in mapping.parts]
    values = [f"dimension:{each.dimension}={each.column}" for each in mapping.value_columns]
    return [*single, *parts, *values, *(f"metadata={column}" for column in mapping.metadata)]


def _format(name: str) -> str:
    if name and name not in FORMATS:
        raise MappingError(
            "format",
            gettext("“{name}” is no format of texts; choose {names}.").format(
                name=name, names=", ".join(FORMATS)
            ),
        )
    return name


def _pairs(written: dict[str, object], field: str, second: str) -> list[tuple[str, str]]:
    entries = written.get(field, [])
    if not isinstance(entries, list):
        raise MappingError(field, gettext("“{field}” must be a list.").format(field=field))
    pairs = []
    for index, entry in enumerate(entries):
        path = f"{field}[{index}]"
        if not isinstance(entry, dict):
            raise MappingError(
                path,
                gettext("“{path}” must be an object with “column” and “{second}”.").format(
                    path=path, second=second
                ),
            )
        _refuse_unknown(entry, {"column", second}, f"{path}.")
        column, meaning = (_text(entry, key, f"{path}.{key}") for key in ("column", second))
        if not column or not meaning:
            raise MappingError(
                path,
                gettext("“{path}” needs both “column” and “{second}”.").format(path=path, second=second),
            )
        pairs.append((column, meaning))
    return pairs


def _names(written: dict[str, object], field: str) -> tuple[str, ...]:
    names = written.get(field, [])
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise MappingError(field, gettext("“{field}” must be a list of columns.").format(field=field))
    return tuple(names)


def _text(written: dict[str, object], key: str, path: str) -> str:
    value = written.get(key, "")
    if not isinstance(value, str):
        raise MappingError(path, gettext("“{path}” must be a text.").format(path=path))
    return value


def _refuse_unknown(written: dict[str, object], known: set[str], path: str) -> None:
    for key in written:
        if key not in known:
            raise MappingError(
                f"{path}{key}",
                gettext("A mapping has no field “{path}{key}”.").format(path=path, key=key),
            )
