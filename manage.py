#!/usr/bin/env python
"""Django's command line for Concord."""

import os
import sys

from django.core.management import execute_from_command_line

from config.environment import SettingError


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
    except SettingError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
