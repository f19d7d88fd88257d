"""What the tokens of a model cost: entered for it, for its endpoint, or listed."""

from decimal import Decimal

import pytest
from django.core.checks import run_checks
from django.db.models import Sum

from annotate.core.models import AuditEntry
from judges.core.models import ModelPrice
from judges.core.specification import Scope
from judges.endpoints.prices import EndpointPrices, PriceListError, read_prices
from judges.endpoints.work import UNKNOWN_PRICES, Prices
from judges.runs.queries.plans import plan_of
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint, make_run
from tests.judges.provider import providing
from tests.judges.running import worked

OPENAI = "https://api.openai.com/v1"
HEAD = "host,model,input,output,cached,batch,currency,as_of,source"


@pytest.fixture
def price_list(tmp_path, settings):
    """Write the operator's list and name it in the settings."""
    path = tmp_path / "prices.csv"
    settings.PRICES_FILE = str(path)

    def write(*lines):
        path.write_text("\n".join((HEAD, *lines)))

    return write


@pytest.mark.parametrize("model", ["gpt-4o-mini", "gpt-4o-mini-2024-07-18", "GPT-4o-mini"])
@pytest.mark.django_db
def test_listed_price_holds_for_a_version_with_a_date(model):
    cost = EndpointPrices(make_endpoint(make_project().project, OPENAI)).cost_of(model)
    assert cost.prices == Prices(Decimal("0.15"), Decimal("0.6"), Decimal("0.075"), Decimal("0.5"))
    assert "OpenAI" in cost.origin
    assert cost.as_of is not None


@pytest.mark.django_db
def test_model_with_a_listed_version_has_the_price_of_that_version():
    prices = EndpointPrices(make_endpoint(make_project().project, OPENAI))
    assert prices.of("gpt-4o-2024-05-13").input == 5
    assert prices.of("gpt-4o-2024-08-06").input == Decimal("2.5")


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/v1", "https://other.example.org/v1"])
@pytest.mark.django_db
def test_listed_price_of_another_host_leaves_the_cost_unknown(url):
    prices = EndpointPrices(make_endpoint(make_project().project, url)).of("gpt-4o-mini")
    assert prices == UNKNOWN_PRICES
    assert prices.cost(100, 100) is None, "not 0"


@pytest.mark.django_db
def test_price_precedence_is_model_endpoint_operator_list(price_list):
    price_list("api.openai.com,gpt-4o,7,8,,,USD,2026-11-01,our contract")
    project = make_project().project
    listed = make_endpoint(project, OPENAI)
    assert EndpointPrices(listed).of("gpt-4o").input == 7
    assert EndpointPrices(listed).of("gpt-4o-mini").input == Decimal("0.15"), "of the shipped list"
    own = make_priced_endpoint(project, OPENAI)
    assert EndpointPrices(own).of("gpt-4o").input == 2
    ModelPrice.objects.create(
        endpoint=own, model="gpt-4o", input_price=1, output_price=3, currency="USD", as_of="2026-11-01"
    )
    assert EndpointPrices(own).of("gpt-4o").input == 1
    assert EndpointPrices(own).of("gpt-4o-mini").input == 2


@pytest.mark.django_db
def test_changed_price_list_is_read_without_a_restart(price_list, settings):
    endpoint = make_endpoint(make_project().project, OPENAI)
    price_list("*,any,1,2,,,USD,2026-11-01,a page")
    assert EndpointPrices(endpoint).of("any").input == 1
    settings.PRICES_FILE += "2"
    assert EndpointPrices(endpoint).of("any") == UNKNOWN_PRICES, "a list that is away is no list"


@pytest.mark.django_db
def test_price_in_another_currency_is_unknown_with_a_notice(price_list):
    price_list("*,any,1,2,,,EUR,2026-11-01,a page")
    cost = EndpointPrices(make_endpoint(make_project().project)).cost_of("any")
    assert cost.prices == UNKNOWN_PRICES
    assert "EUR" in cost.origin


@pytest.mark.parametrize(
    "line",
    [
        "*,any,cheap,2,,,USD,2026-11-01,a page",
        "*,any,-1,2,,,USD,2026-11-01,a page",
        "*,any,1,2,,,USD,yesterday,a page",
        ",any,1,2,,,USD,2026-11-01,a page",
        "*,any,1",
    ],
)
def test_error_names_the_bad_line_of_a_price_list(line, price_list):
    with pytest.raises(PriceListError, match="Line 2"):
        read_prices([HEAD, line])
    price_list(line)
    assert "judges.E001" in {each.id for each in run_checks()}


def test_price_list_without_a_column_names_it():
    with pytest.raises(PriceListError, match="as_of, source"):
        read_prices(["host,model,input,output,cached,batch,currency"])


def test_cached_and_reasoning_tokens_count():
    prices = Prices(Decimal(2), Decimal(8), Decimal("0.5"))
    # 600 of 1,000 input tokens were cached; reasoning tokens are among the 100 of the output.
    assert prices.cost(1000, 100, 600) == Decimal("0.0019")
    assert Prices(Decimal(2), Decimal(8), batch_share=Decimal("0.25")).in_batches().input == Decimal("0.5")


@pytest.mark.django_db(transaction=True)
def test_judgments_of_two_models_have_separate_model_costs():
    cast = make_project()
    with providing() as provider:
        endpoint = make_priced_endpoint(cast.project, provider.base_url)
        ModelPrice.objects.create(
            endpoint=endpoint,
            model="dear",
            input_price=20,
            output_price=80,
            currency="USD",
            as_of="2026-11-01",
        )
        cheap = make_judge(cast.project, endpoint=endpoint, model="cheap")
        dear = make_judge(cast.project, endpoint=endpoint, model="dear")
        plan = plan_of(cast.project, Scope([cheap, dear], [cast.dimensions[0].key]))
        first, second = (each.cost for each in plan.judges)
        assert first is not None
        assert second == 10 * first
        run = make_run(cast.project, cheap, dear)
        type(run).objects.update(status="running")
        run = worked(run)
    costs = {judge: set(judge.judgments.values_list("cost", flat=True)) for judge in (cheap, dear)}
    assert costs == {cheap: {Decimal("0.0006")}, dear: {Decimal("0.006")}}
    assert run.spent == run.judgments.aggregate(spent=Sum("cost"))["spent"]


@pytest.mark.django_db
def test_admin_sets_and_removes_the_prices_of_a_model(client):
    cast = make_project()
    client.force_login(cast.admin)
    judge = make_judge(cast.project, model="lab/7b", name="A")
    assert judge.endpoint is not None
    page = f"/projects/{cast.project.slug}/judges/endpoints/{judge.endpoint_id}/"
    shown = client.get(page).content.decode()
    assert "lab/7b" in shown
    assert "unknown" in shown
    bad = client.post(f"{page}prices/", {"model": "lab/7b", "input_price": "-1"})
    assert bad.status_code == 422
    saved = client.post(
        f"{page}prices/", {"model": "lab/7b", "input_price": "0.3", "output_price": "0.9"}, follow=True
    )
    text = saved.content.decode()
    assert "entered for this model" in text
    assert "USD" in text
    assert EndpointPrices(judge.endpoint).of("lab/7b") == Prices(Decimal("0.3"), Decimal("0.9"))
    price = ModelPrice.objects.get()
    client.post(f"{page}prices/{price.pk}/remove/")
    assert EndpointPrices(judge.endpoint).of("lab/7b") == UNKNOWN_PRICES
    acts = AuditEntry.objects.filter(act__startswith="endpoint.price").values_list("act", flat=True)
    assert set(acts) == {"endpoint.price_set", "endpoint.price_removed"}
