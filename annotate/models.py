"""Where Django looks for tables; they are in `annotate.core.models`."""

from annotate.core import models

__all__ = ["models"]
