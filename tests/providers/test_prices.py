import subprocess
import sys

import pytest
from genai_prices import Usage as LibraryUsage
from genai_prices import calc_price

from tui_eval.model.outputs.output import Usage
from tui_eval.providers.prices import (
    FREE,
    BulkPrices,
    Prices,
    bulk_prices_of,
    is_free,
    known_prices,
    prices_of,
)

CALLS = [Usage(1000, 100), Usage(1000, 100, 50, 400), Usage(300_000, 5000, 0, 1000), Usage(0, 0)]


def price_of(
    provider: str | None,
    base_url: str | None,
    model: str,
    usage: Usage,
    own: Prices | None = None,
) -> float | None:
    prices = prices_of(provider, base_url, model, own)
    return None if prices is None else prices.of(usage)


@pytest.mark.parametrize("usage", CALLS)
@pytest.mark.parametrize(
    ("ours", "theirs", "model"),
    [
        ("openai", "openai", "gpt-5-mini"),
        ("gemini", "google", "gemini-2.5-pro"),
        ("anthropic", "anthropic", "claude-sonnet-4-5"),
        ("deepseek", "deepseek", "deepseek-chat"),
    ],
)
def test_a_known_price_is_the_librarys_to_the_cent(
    ours: str, theirs: str, model: str, usage: Usage
) -> None:
    counted = LibraryUsage(
        input_tokens=usage.input, output_tokens=usage.output, cache_read_tokens=usage.cached or 0
    )
    expected = float(calc_price(counted, model, provider_id=theirs).total_price)
    assert price_of(ours, None, model, usage) == pytest.approx(expected)


def test_a_known_host_is_priced_without_a_preset() -> None:
    assert price_of(None, "https://api.openai.com/v1", "gpt-5", Usage(1000, 0)) == pytest.approx(
        price_of("openai", None, "gpt-5", Usage(1000, 0))
    )


@pytest.mark.parametrize(
    ("provider", "base_url", "model"),
    [
        ("openai", None, "no-such-model"),
        (None, "https://models.example.com/v1", "gpt-5"),
        (None, None, "gpt-5"),
    ],
)
def test_an_unknown_price_is_unknown(
    provider: str | None, base_url: str | None, model: str
) -> None:
    assert price_of(provider, base_url, model, Usage(1000, 100)) is None


def test_unknown_tokens_have_no_price() -> None:
    assert price_of("openai", None, "gpt-5", Usage(1000, None)) is None


def test_this_machine_costs_nothing_unless_priced() -> None:
    assert price_of("local", None, "smollm2", Usage()) == 0.0
    assert price_of("ollama", "http://gpu.example.com:11434/v1", "x", Usage(1, 1)) == 0.0
    assert price_of(None, "http://127.0.0.1:9/v1", "gpt-5", Usage(1, 1)) == 0.0
    priced = Prices.flat(2.0, 8.0)
    assert price_of("local", None, "smollm2", Usage(1_000_000, 0), priced) == pytest.approx(2.0)
    assert not is_free(None, "https://models.example.com/v1")


def test_a_users_prices_go_over_the_librarys() -> None:
    own = Prices.flat(1.0, 10.0, 0.5)
    usage = Usage(1_000_000, 100_000, 0, 400_000)
    assert price_of("openai", None, "gpt-5", usage, own) == pytest.approx(0.6 + 0.2 + 1.0)


def test_cached_tokens_without_a_price_of_their_own_cost_like_others() -> None:
    assert Prices.flat(1.0, 1.0).of(Usage(1_000_000, 0, 0, 500_000)) == pytest.approx(1.0)


def test_the_librarys_figures_are_not_loaded_before_something_is_priced() -> None:
    script = (
        "import sys, tui_eval.providers.prices as p\n"
        "p.prices_of('local', None, 'x').of(p.Usage(1, 1))\n"
        "sys.exit('genai_prices' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_model_is_looked_up_once() -> None:
    known_prices.cache_clear()
    for _ in range(5):
        price_of("openai", None, "gpt-5", Usage(1, 1))
    assert known_prices.cache_info().misses == 1


@pytest.mark.parametrize("usage", CALLS)
@pytest.mark.parametrize(
    ("provider", "model"), [("openai", "gpt-5-mini"), ("anthropic", "claude-sonnet-4-5")]
)
def test_a_batch_costs_what_the_library_says_of_it(provider: str, model: str, usage: Usage) -> None:
    found = bulk_prices_of(provider, None, model)
    assert found is not None
    assert not found.at_most
    asked = LibraryUsage(
        input_tokens=usage.input, output_tokens=usage.output, cache_read_tokens=usage.cached
    )
    theirs = calc_price(
        asked, model, provider_id=provider, price_context={"processing": "batch"}
    ).total_price
    assert found.prices.of(usage) == pytest.approx(float(theirs))
    single = prices_of(provider, None, model)
    assert single is not None
    assert found.prices.of(usage) == pytest.approx((single.of(usage) or 0.0) / 2)


def test_a_batch_of_unknown_price_costs_at_most_what_single_calls_do() -> None:
    groq = prices_of("groq", None, "llama-3.3-70b-versatile")
    assert groq is not None
    found = bulk_prices_of("groq", None, "llama-3.3-70b-versatile")
    assert found == BulkPrices(groq, at_most=True)
    own = Prices.flat(1.0, 2.0)
    assert bulk_prices_of("openai", None, "gpt-5-mini", own) == BulkPrices(own, at_most=True)
    assert bulk_prices_of(None, "http://127.0.0.1:9/v1", "x") == BulkPrices(FREE, at_most=False)
    assert bulk_prices_of("openai", None, "nobody-knows-this-model") is None
