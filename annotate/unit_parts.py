"""What other apps show of a unit on the page of a disagreement: routes of parts that are loaded into it."""

UNIT_PARTS: list[str] = []


def add_unit_part(route: str) -> None:
    """Load this route, which takes the project's slug, the item's key and the dimension's key."""
    if route not in UNIT_PARTS:
        UNIT_PARTS.append(route)
