"""The web entry point."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import reverse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "concord.settings")
application = get_wsgi_application()

# Everything is loaded now, not by the first request; and what is loaded stays, so no collection looks at it.
reverse("projects")
gc.collect()
gc.freeze()
