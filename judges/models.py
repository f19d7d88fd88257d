"""Where Django looks for tables; they are in `judges.core.models`."""

from judges.core import models

__all__ = ["models"]
