"""Events of security in the log of the installation: who signed in or was refused, tokens, keys and roles.

They name accounts and rows by their numbers: neither addresses of people nor anything that opens something.
"""

import logging

from annotate.core.models import User

LOGGER = "concord.security"
REFUSALS = ("refused", "too_many")
logger = logging.getLogger(LOGGER)


def log_security(event: str, person: User | None, **facts: object) -> None:
    """Log an event (`token.made`) of a person's account; refusals as warnings."""
    level = logging.WARNING if event.endswith(REFUSALS) else logging.INFO
    account = person.pk if person else None
    words = "".join(f" {name}={value}" for name, value in facts.items() if value is not None)
    logger.log(
        level,
        "%s account=%s%s",
        event,
        "none" if account is None else account,
        words,
        extra={"event": {"event": event, "account": account, **facts}},
    )
