from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from annotate.core.models import Addition


@dataclass(frozen=True)
class AdditionPart:
    """A section of an addition's page: its template, which gets `part` with the content."""

    template: str
    content: Any = field(default=None)


SECTIONS: dict[str, Callable[[Addition], AdditionPart]] = {}
"""The section of each app, by its name."""
