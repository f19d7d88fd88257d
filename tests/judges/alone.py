"""Shows a project's pages without judges; prints what each answered. Run by test_annotate_alone."""

import sys

import django

django.setup()

from django.apps import apps  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402

from tests.factories import make_project  # noqa: E402

PAGES = (
    "",
    "disputes/",
    "results/agreement/",
    "export/",
    "dimensions/",
    "imports/",
    "people/",
    "settings/",
    "judges/",
)


def main() -> None:
    call_command("check", stdout=sys.stderr)
    call_command("migrate", verbosity=0)
    cast = make_project()
    client = Client()
    client.force_login(cast.admin)
    print("judges" in {app.label for app in apps.get_app_configs()})  # noqa: T201
    for page in PAGES:
        reply = client.get(f"/projects/{cast.project.slug}/{page}")
        print(page, reply.status_code, b">Judges<" in reply.content)  # noqa: T201


main()
