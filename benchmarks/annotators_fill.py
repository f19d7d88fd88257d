"""Makes a project with an open Round I for benchmarks/annotators.py: annotators_fill.py ANNOTATORS ITEMS.

Prints the project's slug and a session of each annotator. Makes the tables where there are none.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.test import Client  # noqa: E402

from annotate.core.models import Project, Role, User  # noqa: E402
from annotate.people.commands import add_member  # noqa: E402
from annotate.rating.commands.assignments import acknowledge_wording  # noqa: E402
from annotate.rating.commands.rounds import open_round_one  # noqa: E402
from annotate.setup.commands import create_project  # noqa: E402
from annotate.setup.presets import TEMPLATES  # noqa: E402
from benchmarks.export_fill import add_items  # noqa: E402
from concord.management.commands.start import collect_static_files  # noqa: E402

ANSWERS = "CREATE TABLE IF NOT EXISTS yardstick (person TEXT, address TEXT, answer TEXT)"


def session_of(user: User) -> str:
    """Return the cookie of a session of this person."""
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def main() -> None:
    annotators, items = int(sys.argv[1]), int(sys.argv[2])
    call_command("migrate", verbosity=0)
    collect_static_files()
    number = Project.objects.count()
    with transaction.atomic():
        admin = User.objects.create_user(f"admin{number}@example.org")
        project = create_project(user=admin, name=f"Turn {number}", template=TEMPLATES["opinion-summaries"])
        add_items(project, items)
        people = [User.objects.create_user(f"{number}-{n}@example.org") for n in range(annotators)]
        memberships = [add_member(project=project, role=Role.ANNOTATOR, user=user) for user in people]
        open_round_one(project=project, by=admin)
        for membership, user in zip(
            memberships, people, strict=True
        ):  # the first visit leads to the guidelines
            acknowledge_wording(annotator=membership, version=1, by=user)
        sessions = [session_of(user) for user in people]
    with connection.cursor() as cursor:
        cursor.execute(ANSWERS)
        cursor.execute("ANALYZE")
    print(json.dumps({"slug": project.slug, "sessions": sessions}))


if __name__ == "__main__":
    main()
