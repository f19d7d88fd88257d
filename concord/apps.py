"""The app of the wiring, and the checks of the settings before Django starts anything."""

import gc
import os
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register

from annotate.core.files import is_local
from concord import COLLECTED_GARBAGE
from concord.schema import compare_database


def a_shared_database_has_a_shared_key(**_options: Any) -> list[CheckMessage]:
    """Report a PostgreSQL installation whose hosts would each make their own secret key."""
    engine = settings.DATABASES["default"]["ENGINE"]
    # SQLite means one host, which stores its own key in its folder of data.
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


def listed_variables_are_set(**_options: Any) -> list[CheckMessage]:
    """Report variables that the operator lists for hosts, and that this process does not have."""
    missing = {each.variable for each in settings.ENVIRONMENT_KEYS} - os.environ.keys()
    return [
        checks.Warning(
            f"CONCORD_ENVIRONMENT_KEYS lists {name}, which is not set.",
            hint=f"Set {name} for the web server and for every worker, or take it from the list.",
            id="concord.W001",
        )
        for name in sorted(missing)
    ]


def files_are_kept_for_all_hosts(**_options: Any) -> list[CheckMessage]:
    """Report the need for a shared folder of files on PostgreSQL, which may have several hosts."""
    engine = settings.DATABASES["default"]["ENGINE"]
    if not engine.endswith("postgresql") or not is_local():
        return []
    return [
        checks.Info(
            f"Uploads and exports are kept in {settings.MEDIA_ROOT}, which every host must share.",
            hint="With one host this is well. With several, mount the folder on each, or name a bucket in "
            "CONCORD_FILES_URL.",
            id="concord.I001",
        )
    ]


def no_host_is_open_at_every_port(**_options: Any) -> list[CheckMessage]:
    """Report hosts of private networks at which endpoints may name any port."""
    hosts = sorted({host.host for host in settings.LOCAL_ENDPOINTS if host.port is None})
    return [
        checks.Warning(
            f"CONCORD_LOCAL_ENDPOINTS opens every port of {host} to the admins of all projects.",
            hint=f"List the ports at which models answer, such as {host}:8000.",
            id="concord.W002",
        )
        for host in hosts
    ]


def the_schema_matches(databases: Sequence[str] | None = None, **_options: Any) -> list[CheckMessage]:
    """Report a database that does not match its recorded migrations, before `migrate` changes it."""
    # Django names databases only for commands that use one, such as `migrate`.
    mismatch = compare_database().mismatch() if databases and "default" in databases else ""
    return [Error(mismatch, id="concord.E002")] if mismatch else []


class ConcordConfig(AppConfig):
    name = "concord"

    def ready(self) -> None:
        # Loaded modules stay until the process ends, so no collection needs to check their objects.
        gc.freeze()
        if COLLECTED_GARBAGE:
            gc.enable()
        register(a_shared_database_has_a_shared_key, Tags.security)
        # With one host this is no problem, so only `check --deploy` reports it.
        register(files_are_kept_for_all_hosts, Tags.security, deploy=True)
        register(listed_variables_are_set, Tags.security)
        register(no_host_is_open_at_every_port, Tags.security, deploy=True)
        register(the_schema_matches, Tags.database)
