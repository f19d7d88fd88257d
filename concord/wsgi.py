"""The web entry point."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import reverse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "concord.settings")
application = get_wsgi_application()

# Everything is loaded now instead of by the first request; loaded objects stay, so no collection checks them.
reverse("projects")
gc.collect()
gc.freeze()
