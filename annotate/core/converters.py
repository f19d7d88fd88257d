from django.urls import register_converter
from django.urls.converters import IntConverter

LARGEST = 2**31 - 1


class PositionConverter(IntConverter):
    """A position: a number that its column can hold; prepared statements take no others. Others: 404."""

    regex = "[0-9]{1,10}"

    def to_python(self, value: str) -> int:
        """Return the number. Django treats a ValueError as an unknown URL."""
        number = int(value)
        if number > LARGEST:
            raise ValueError(value)
        return number


register_converter(PositionConverter, "position")
