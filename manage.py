#!/usr/bin/env python
"""Django's command line for Concord."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db import OperationalError

from concord.environment import SettingError


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "concord.settings")
    try:
        execute_from_command_line(sys.argv)
    except SettingError as error:
        sys.exit(str(error))
    except OperationalError as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"The database cannot be used: {' '.join(str(error).split())}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
