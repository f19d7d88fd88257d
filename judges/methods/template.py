"""Prompt templates: plain strings with `{{ placeholders }}`, filled in one pass.

A placeholder inside inserted material is not filled. Material under judgment cannot close the delimiters that
the template puts around it: anything like one of its tags gets other brackets.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

MATERIAL = (
    *("document", "text", "text_1", "text_2", "reference", "examples"),
    *("sentence", "key_points", "questions", "units"),
)
"""Placeholders whose content is judged and never trusted."""

END_OF_SYSTEM = "end_of_system_message"
"""Stands for nothing: what is before it is sent as the system message, what follows as the user's."""

PLACEHOLDER = re.compile(r"\{\{([^{}\n]*)\}\}")
ALONE_ON_A_LINE = re.compile(r"^[ \t]*\{\{([^{}\n]*)\}\}[ \t]*(?:\n|\Z)", re.MULTILINE)
TAG = re.compile(r"</?([A-Za-z][\w-]*)>")


def placeholders(template: str) -> frozenset[str]:
    return frozenset(name.strip() for name in PLACEHOLDER.findall(template))


def check(template: str, *, known: Iterable[str], required: Iterable[str]) -> None:
    """Raise a ValueError for a placeholder that is unknown or missing."""
    names = placeholders(template) - {END_OF_SYSTEM}
    if len(_system_and_user(template)) > 2:
        raise ValueError(f"{{{{ {END_OF_SYSTEM} }}}} divides a template in two; write it once.")
    if unknown := sorted(names - set(known)):
        known_names = ", ".join(sorted(known))
        raise ValueError(f"{{{{ {unknown[0]} }}}} is not a placeholder here; these are: {known_names}.")
    if missing := sorted(set(required) - names):
        raise ValueError(f"The template needs the placeholder {{{{ {missing[0]} }}}}.")


def render(template: str, values: Mapping[str, str], *, required: Iterable[str]) -> tuple[str, str]:
    """Return system message and user's message with placeholders filled; an empty value removes its line.

    The system message is empty if the template has none. It is split off before the placeholders are filled,
    so that no inserted material can end it.
    """
    parts, tags = _checked_parts(template, frozenset(values), frozenset(required))
    *system, user = (_fill(part, values, tags) for part in parts)
    return "".join(system).strip(), user


def shared_beginning(template: str, values: Mapping[str, str]) -> int:
    """Return the number of characters before the first material in the user's message."""
    user = _system_and_user(template)[-1]
    found = (match for match in PLACEHOLDER.finditer(user) if match[1].strip() in MATERIAL)
    first = next(found, None)
    if first is None:
        return 0
    # The part before the material is the same for all items, so servers can cache it.
    return len(_fill(user[: first.start()], values, frozenset()))


@lru_cache(maxsize=256)  # a run asks thousands of questions by one template
def _checked_parts(
    template: str, known: frozenset[str], required: frozenset[str]
) -> tuple[Sequence[str], frozenset[str]]:
    """Return a template's parts and tags; raises ValueError with the problem of an invalid one."""
    check(template, known=known, required=required)
    # Authors may put material between any tags, so all tags of the template are protected.
    return _system_and_user(template), (frozenset(MATERIAL) | frozenset(TAG.findall(template)))


def _system_and_user(template: str) -> list[str]:
    return re.split(rf"\{{\{{[^\S\n]*{END_OF_SYSTEM}[^\S\n]*\}}\}}\n?", template)


def _fill(template: str, values: Mapping[str, str], tags: frozenset[str]) -> str:
    def fill(match: re.Match[str]) -> str:
        name = match[1].strip()
        return neutralise_tags(values[name], tags) if name in MATERIAL else values[name]

    def keep(match: re.Match[str]) -> str:
        return match[0] if values[match[1].strip()] else ""

    # Lines with an empty value go first, because inserted text can contain double braces.
    return PLACEHOLDER.sub(fill, ALONE_ON_A_LINE.sub(keep, template))


def neutralise_tags(material: str, tags: Iterable[str]) -> str:
    """Return material in which none of these tags opens or closes anything; everything else is unchanged."""
    names = "|".join(sorted(map(re.escape, tags), key=len, reverse=True))
    # Spaces and slashes count too: a model may read "< / document>" as the end of the material.
    return re.sub(rf"<(?=[\s/\\]*(?:{names})\b)", "‹", material, flags=re.IGNORECASE)
