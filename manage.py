#!/usr/bin/env python
"""Django's command line for Concord."""

import sys

from concord.commands import manage

if __name__ == "__main__":
    manage(sys.argv[1:], name="manage.py")
