"""Settings of a test's worker: what it keeps in Redis has a prefix, since other runs use the same server."""

import os

from concord.settings import *  # noqa: F403
from concord.settings import CELERY_BROKER_TRANSPORT_OPTIONS

CELERY_BROKER_TRANSPORT_OPTIONS = {
    **CELERY_BROKER_TRANSPORT_OPTIONS,
    "global_keyprefix": os.environ["REDIS_PREFIX_OF_TEST"],
}
