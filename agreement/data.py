"""Reliability data: the values of raters for units, and their scale."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Made = TypeVar("Made")


class MeasurementLevel(StrEnum):
    """The possible statements about two values (Stevens 1946)."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


@dataclass(frozen=True, eq=False, init=False)
class ReliabilityData:
    """Values of raters for units; a gap is NaN.

    values: (raters, units). measurement_level: nominal, ordinal, interval or ratio. value_domain:
    (categories,), every possible value, also unused ones; sorted ascending; None for the values that occur,
    as of a continuous scale. documents: (units,), the document each unit belongs to, any labels; stored as
    indices from 0. raters: (raters,), their names; numbered from 1 by default. Raises ValueError with one
    message if these do not fit together.
    """

    values: FloatArray
    measurement_level: MeasurementLevel
    value_domain: FloatArray
    documents: IntArray | None = None
    raters: Sequence[str] = ()
    codes: npt.NDArray[np.unsignedinteger] = field(init=False, repr=False)
    """(raters, units): position of each value in `value_domain`; its length stands for a gap."""
    _found: dict[Hashable, object] = field(init=False, repr=False)

    def __init__(
        self,
        values: npt.ArrayLike,
        *,
        measurement_level: MeasurementLevel | str,
        value_domain: npt.ArrayLike | None,
        documents: npt.ArrayLike | None = None,
        raters: Sequence[str] = (),
    ) -> None:
        table = _table(values)
        level = _level(measurement_level)
        if value_domain is None:
            # Without any value the domain still needs a point, which no rating has.
            value_domain = observed_domain(table) if not np.isnan(table).all() else [0.0]
        domain = _domain(value_domain, level)
        checked = {
            "values": table,
            "measurement_level": level,
            "value_domain": domain,
            "documents": _documents(documents, table.shape[1]),
            "raters": _rater_names(raters, table.shape[0]),
            "codes": _codes(table, domain),
            "_found": {},
        }
        set_once(self, checked)

    @property
    def ratings_per_unit(self) -> IntArray:
        """(units,): the number of raters with a value."""
        return self.once(
            "ratings", lambda: np.sum(self.codes < len(self.value_domain), axis=0, dtype=np.intp)
        )

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the result of `make`, computed once for these values: statistics of one table share counts
        and resamples.

        The key names the derived object. It cannot become stale, since the values never change.
        """
        if key not in self._found:
            self._found[key] = make()
        return cast("Made", self._found[key])

    def at_level(self, measurement_level: MeasurementLevel | str) -> "ReliabilityData":
        """The same values read at another measurement level."""
        level = _level(measurement_level)
        # Counts of the values do not depend on the level.
        return self._with(
            measurement_level=level, value_domain=_domain(self.value_domain, level), _found=self._found
        )

    def of_raters(self, rater_indices: Sequence[int]) -> "ReliabilityData":
        """The same units with these raters only, in this order."""
        chosen = tuple(rater_indices)
        return self.once(
            # `at_level` shares kept objects, so the key needs the level.
            ("raters", self.measurement_level, chosen),
            lambda: self._with(
                values=self.values[list(chosen)],
                codes=self.codes[list(chosen)],
                raters=_rater_names([self.raters[rater] for rater in chosen], len(chosen)),
            ),
        )

    def of_units(self, chosen: npt.ArrayLike) -> "ReliabilityData":
        """The same raters with these units only: indices or a mask."""
        kept = np.asarray(chosen)
        documents = None if self.documents is None else self.documents[kept]
        return self._with(
            values=self.values[:, kept],
            codes=self.codes[:, kept],
            # Documents are numbered again from 0, without the ones whose units are excluded.
            documents=None if documents is None else _documents(documents, len(documents)),
        )

    def in_documents(self, documents: npt.ArrayLike) -> "ReliabilityData":
        """The same values whose units belong to these documents (units,), any labels."""
        return self._with(documents=_documents(documents, self.values.shape[1]))

    def _with(self, **changes: object) -> "ReliabilityData":
        """A copy with changes that need no check."""
        other = object.__new__(ReliabilityData)
        same = {each.name: getattr(self, each.name) for each in fields(self)}
        # Derived objects belong to the old values, so a copy starts without them.
        set_once(other, {**same, "_found": {}, **changes})
        return other


def set_once(instance: object, values: Mapping[str, object]) -> None:
    """Fill a frozen dataclass; its arrays become read-only."""
    for name, value in values.items():
        # Derived results stay valid only if the values never change.
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(instance, name, value)


@dataclass(frozen=True, eq=False)
class UnitParts:
    """Parts of the units of reliability data, such as documents; a unit may be in several.

    units: (members,), the indices of the units of the first part, then of the second, ... of_part:
    (members,), the part that each is in. number: the number of parts.
    """

    units: IntArray
    of_part: IntArray
    number: int

    @classmethod
    def of(cls, parts: Sequence[IntArray]) -> "UnitParts":
        """The parts whose units have these indices."""
        sizes = [len(units) for units in parts]
        return cls(np.concatenate(parts), np.repeat(np.arange(len(parts)), sizes), len(parts))

    @classmethod
    def whole(cls, data: ReliabilityData) -> "UnitParts":
        """All units as the only part."""
        return cls.of([np.arange(data.values.shape[1])])

    def sums(self, of_member: npt.NDArray[np.number | np.bool_]) -> FloatArray:
        """(parts,): the sum over each part's members of a number (members,)."""
        return np.bincount(self.of_part, of_member, self.number).astype(float)

    def counts(self, codes: IntArray, kinds: int) -> IntArray:
        """(parts, kinds): the number of times each code 0 to kinds - 1 occurs in each part; codes: (...,
        members).
        """
        # Each part has its own range of numbers, so one bincount counts all of them.
        positions = (self.of_part * kinds + codes).ravel()
        return np.bincount(positions, minlength=self.number * kinds).reshape(self.number, kinds)


def divide_where(defined: npt.ArrayLike, parts: npt.ArrayLike, wholes: npt.ArrayLike) -> FloatArray:
    """parts / wholes, of shapes that broadcast; NaN if `defined` is false."""
    result = np.full(np.broadcast_shapes(np.shape(parts), np.shape(wholes)), np.nan)
    np.divide(parts, wholes, out=result, where=np.asarray(defined))
    return result


def observed_domain(values: npt.ArrayLike) -> FloatArray:
    """(distinct values,): the occurring values, ascending: the value domain of a continuous scale.

    values: of any shape, NaN for a gap. For a scale with fixed points pass all points instead, since Gwet's
    coefficients count unused points.
    """
    table = np.asarray(values, dtype=float)
    return np.unique(table[~np.isnan(table)])


def _table(values: npt.ArrayLike) -> FloatArray:
    try:
        table = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError("Values must be a table of numbers, raters by units, with NaN for a gap.") from error
    if table.ndim != 2:
        raise ValueError(f"Values must be a table, raters by units, but have {table.ndim} dimension(s).")
    if np.isinf(table).any():
        raise ValueError("Values must be finite; use NaN for a gap.")
    return table


def _level(measurement_level: MeasurementLevel | str) -> MeasurementLevel:
    try:
        return MeasurementLevel(measurement_level)
    except ValueError as error:
        known = ", ".join(MeasurementLevel)
        raise ValueError(f"The measurement level {measurement_level!r} is not one of: {known}.") from error


def _domain(value_domain: npt.ArrayLike, level: MeasurementLevel) -> FloatArray:
    domain = np.array(value_domain, dtype=float)
    if domain.ndim != 1 or not len(domain):
        raise ValueError("The value domain must be a list of at least one value.")
    if not np.isfinite(domain).all():
        raise ValueError("The value domain must hold finite numbers only.")
    ordered = np.unique(domain)
    if len(ordered) < len(domain):
        raise ValueError("The value domain names a value twice.")
    if level is MeasurementLevel.RATIO and ordered[0] < 0:
        raise ValueError(f"A ratio scale has no negative values, but the value domain holds {ordered[0]:g}.")
    return ordered


def _documents(documents: npt.ArrayLike | None, units: int) -> IntArray | None:
    return None if documents is None else index_documents(documents, units)


def index_documents(documents: npt.ArrayLike | None, units: int) -> IntArray:
    """(units,): the document of each unit as an index from 0; without documents each unit is its own.

    documents: (units,), any labels. ValueError for another number of them.
    """
    if documents is None:
        return np.arange(units)
    labels = np.asarray(documents)
    if labels.shape != (units,):
        raise ValueError(f"There are {units} units, but documents have the shape {labels.shape}.")
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _rater_names(names: Sequence[str], raters: int) -> tuple[str, ...]:
    if not len(names):
        return tuple(str(number) for number in range(1, raters + 1))
    if len(names) != raters:
        raise ValueError(f"There are {raters} raters in the table, but {len(names)} names.")
    if len(set(names)) < len(names):
        raise ValueError("Two raters have the same name.")
    return tuple(names)


def _codes(table: FloatArray, domain: FloatArray) -> npt.NDArray[np.unsignedinteger]:
    """Position of each value in the domain, its length for a gap; row by row to spare memory."""
    # The smallest type for these codes, usually one byte for each value of a large table.
    codes = np.empty(table.shape, dtype=np.min_scalar_type(len(domain)))
    for row, values in zip(codes, table, strict=True):
        positions = np.searchsorted(domain, values)  # NaN sorts behind everything
        # A value above the domain, or NaN, has a position behind its end: the last value is compared.
        foreign = domain[np.minimum(positions, len(domain) - 1)] != values
        foreign &= ~np.isnan(values)
        if foreign.any():
            raise ValueError(
                f"The value {values[foreign][0]:g} is not in the value domain {_join_values(domain)}."
            )
        row[:] = positions
    return codes


def _join_values(domain: FloatArray) -> str:
    shown = [f"{value:g}" for value in domain]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:6], "...", shown[-1]])
