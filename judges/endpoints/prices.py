"""Token prices of a model at an endpoint.

The sources, by priority: the model's entered prices, the endpoint's entered prices, the operator's price list
(CONCORD_PRICES), the list shipped with Concord. A list price applies to its own host only, because the same
model costs something else, or nothing, elsewhere. If none of these has a price, costs are unknown.
"""

import csv
import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.utils.translation import gettext

from judges.core.models import Endpoint, ModelPrice
from judges.endpoints.work import BATCH_DISCOUNT, UNKNOWN_PRICES, Prices

SHIPPED = Path(__file__).with_name("prices.csv")
ANY_HOST = "*"
COLUMNS = ("host", "model", "input", "output", "cached", "batch", "currency", "as_of", "source")
DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")  # a version behind the name, as in gpt-4o-2024-08-06
logger = logging.getLogger(__name__)


class PriceListError(ValueError):
    """A list of prices has an invalid line; the message contains its number."""


@dataclass(frozen=True)
class ModelCost:
    """The prices of a model at an endpoint and their source as a message; empty if there is none."""

    prices: Prices
    origin: str = ""
    as_of: date | None = None


UNKNOWN = ModelCost(UNKNOWN_PRICES)


class EndpointPrices:
    """The prices of all models of one endpoint. One query."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._host = urlsplit(endpoint.base_url).hostname or ""
        self._endpoint = endpoint
        self.entered = {row.model: row for row in ModelPrice.objects.filter(endpoint=endpoint)}

    def of(self, model: str) -> Prices:
        return self.cost_of(model).prices

    def cost_of(self, model: str) -> ModelCost:
        if row := self.entered.get(model):
            share = BATCH_DISCOUNT if row.batch_share is None else row.batch_share
            prices = Prices(row.input_price, row.output_price, row.cached_price, share)
            found = ModelCost(prices, gettext("entered for this model"), row.as_of)
            return found if row.currency == settings.CURRENCY else _reject_currency(row.currency)
        own = self._endpoint
        if own.has_prices:
            prices = Prices(own.input_price, own.output_price, own.cached_price)
            return ModelCost(prices, gettext("entered for the endpoint"))
        return list_price(self._host, model)


def prices_of(endpoint: Endpoint, model: str) -> Prices:
    """Return the prices of a model at an endpoint; unknown ones are None. One query."""
    return EndpointPrices(endpoint).of(model)


@dataclass(frozen=True)
class ModelPriceRow:
    """A model at an endpoint, its prices and their source; id: of prices that people entered."""

    model: str
    cost: ModelCost
    id: int | None


def model_prices_of(endpoint: Endpoint) -> list[ModelPriceRow]:
    """Return the models of an endpoint's judges, and the models with separate prices. Two queries."""
    prices = EndpointPrices(endpoint)
    models = {*endpoint.judges.values_list("model", flat=True), *prices.entered}
    entered = {model: row.pk for model, row in prices.entered.items()}
    return [ModelPriceRow(each, prices.cost_of(each), entered.get(each)) for each in sorted(models)]


def list_price(host: str, model: str) -> ModelCost:
    """Return the listed prices of a model at a host, with or without the date in its name."""
    # Gemini puts this before the name of each model.
    name = model.lower().removeprefix("models/")
    # The operator's list first, then a dated name before its plain one, a host before any host.
    for listed in (_operators_list(), _read_file(str(SHIPPED), 0.0, settings.CURRENCY)):
        for wanted in (name, DATED.sub("", name)):
            for listed_host in (host, ANY_HOST):
                if found := listed.get((listed_host, wanted)):
                    return found
    return UNKNOWN


def _operators_list() -> Mapping[tuple[str, str], ModelCost]:
    """Return the operator's list, read again when the file changes; an invalid list counts as empty."""
    if not settings.PRICES_FILE:
        return {}
    try:
        # Time and currency are part of the cache's key: a changed file is read again.
        return _read_file(settings.PRICES_FILE, os.stat(settings.PRICES_FILE).st_mtime, settings.CURRENCY)
    except (OSError, PriceListError) as error:
        logger.warning("The price list %s is not used: %s", settings.PRICES_FILE, error)
        return {}


@cache
def _read_file(path: str, _changed_at: float, _currency: str) -> Mapping[tuple[str, str], ModelCost]:
    with open(path, newline="", encoding="utf-8") as file:
        return read_prices(file)


def read_prices(lines: Iterable[str] | TextIO) -> dict[tuple[str, str], ModelCost]:
    """Return listed prices by host and model. Raises PriceListError with the number of a bad line.

    Prices of another currency than the installation's are unknown: costs are never converted.
    """
    reader = csv.DictReader(lines)
    if missing := set(COLUMNS) - set(reader.fieldnames or ()):
        raise PriceListError(
            gettext("Columns are missing: {names}.").format(names=", ".join(sorted(missing)))
        )
    found = {}
    for row in reader:
        try:
            cost = _read_row(row)
        except (ValueError, InvalidOperation, TypeError) as error:
            problem = gettext("Line {number} has no prices of a model: {error}").format(
                number=reader.line_num, error=error
            )
            raise PriceListError(problem) from error
        # In lower case, as `list_price` looks them up.
        found[row["host"].strip().lower(), row["model"].strip().lower()] = cost
    return found


def _read_row(row: Mapping[str, str | None]) -> ModelCost:
    told = {name: (row[name] or "").strip() for name in COLUMNS}
    if not told["host"] or not told["model"]:
        raise ValueError("host and model are required")
    numbers = [Decimal(told[name]) if told[name] else None for name in COLUMNS[2:6]]
    if any(number is not None and not 0 <= number < 1_000_000 for number in numbers):
        raise ValueError("a price is not between 0 and 1,000,000")
    as_of, currency = date.fromisoformat(told["as_of"]), told["currency"]
    if currency != settings.CURRENCY:
        return _reject_currency(currency)
    sent, got, cached, share = numbers
    prices = Prices(sent, got, cached, BATCH_DISCOUNT if share is None else share)
    origin = gettext("list price: {source}").format(source=told["source"])
    return ModelCost(prices, origin, as_of)


def _reject_currency(currency: str) -> ModelCost:
    origin = gettext("the price is in {currency}, and this installation counts in {own}")
    return ModelCost(UNKNOWN_PRICES, origin.format(currency=currency, own=settings.CURRENCY))


def check_price_list(**_: object) -> list[CheckMessage]:
    """Report a price list of the operator that cannot be read."""
    if not settings.PRICES_FILE:
        return []
    try:
        # `_operators_list` would only log the problem.
        _read_file(settings.PRICES_FILE, os.stat(settings.PRICES_FILE).st_mtime, settings.CURRENCY)
    except (OSError, PriceListError) as error:
        return [Error(f"CONCORD_PRICES: {error}", id="judges.E001")]
    return []
