"""Dates in English: the day before the month, whatever the region."""

DATE_FORMAT = "j F Y"
MONTH_DAY_FORMAT = "j F"
DATETIME_FORMAT = "j F Y H:i"
SHORT_DATETIME_FORMAT = "j M H:i"
