"""Encrypt the keys of endpoints with another secret."""

from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import ConcordCommand
from annotate.people.factor_secrets import encrypt_second_factors_again
from judges.endpoints.commands import encrypt_all_again


class Command(ConcordCommand):
    """Encrypts every key of an endpoint with the first secret of the settings."""

    help = (
        "Encrypts the keys of endpoints and second factors with the first secret of CONCORD_KEY_ENCRYPTION, "
        "else with the secret key. Run it after another secret was put first; then leave the old one out."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        # Both kinds first: an unreadable secret must not keep the readable ones from the new secret.
        factors, people = encrypt_second_factors_again()
        count, unreadable = encrypt_all_again()
        self.stdout.write(f"{count} keys are encrypted with the first secret.")
        if factors:
            self.stdout.write(f"So are {factors} secrets of second factors.")
        if people:
            self.stderr.write(
                "These second factors cannot be read with any secret: "
                f"{', '.join(sorted(each.email for each in people))}. Remove them, or put their secret back."
            )
        if unreadable:
            named = ", ".join(f"{each.name} of {each.project.slug}" for each in unreadable)
            raise CommandError(
                f"{len(unreadable)} keys cannot be read with any secret: {named}. Put the secret that "
                "they were encrypted with last in CONCORD_KEY_ENCRYPTION, or enter them again."
            )
