"""What Django checks about the settings before it starts anything."""

import os
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error


def a_shared_database_has_a_shared_key(**_options: Any) -> list[CheckMessage]:
    """Report a PostgreSQL installation whose hosts would each make their own secret key."""
    engine = settings.DATABASES["default"]["ENGINE"]
    if engine.endswith("postgresql") and not os.environ.get("CONCORD_SECRET_KEY"):
        return [
            Error(
                "CONCORD_SECRET_KEY is not set, and several hosts may share this PostgreSQL database.",
                hint="Give every host the same CONCORD_SECRET_KEY of 50 random characters: otherwise each "
                "makes its own, and refuses the sessions and invitations of the others.",
                id="concord.E001",
            )
        ]
    return []
