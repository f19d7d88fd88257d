"""The app of the wiring: the start command and the checks of the settings."""

import gc

from django.apps import AppConfig
from django.core.checks import Tags, register

from concord import COLLECTED_GARBAGE
from concord.checks import (
    a_shared_database_has_a_shared_key,
    files_are_kept_for_all_hosts,
    listed_variables_are_set,
    no_host_is_open_at_every_port,
    the_schema_matches,
)


class ConcordConfig(AppConfig):
    name = "concord"

    def ready(self) -> None:
        gc.freeze()
        if COLLECTED_GARBAGE:
            gc.enable()
        register(a_shared_database_has_a_shared_key, Tags.security)
        register(files_are_kept_for_all_hosts, Tags.security, deploy=True)
        register(listed_variables_are_set, Tags.security)
        register(no_host_is_open_at_every_port, Tags.security, deploy=True)
        register(the_schema_matches, Tags.database)
