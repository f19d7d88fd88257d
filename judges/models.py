"""Django imports the tables from here; they are in `judges.core.models`."""

from judges.core import models

__all__ = ["models"]
