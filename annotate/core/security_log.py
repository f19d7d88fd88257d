"""Security events in the log of the installation: sign-ins, rejections, tokens, keys and roles.

They identify accounts and rows by number. They contain no e-mail and no secret.
"""

import logging

from annotate.core.models import User

LOGGER = "concord.security"
REFUSALS = ("refused", "too_many")
logger = logging.getLogger(LOGGER)


def log_security(event: str, person: User | None, **facts: object) -> None:
    """Log an event (`token.made`) of a person's account; rejections as warnings."""
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
