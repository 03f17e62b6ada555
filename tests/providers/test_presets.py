import pytest

from tui_eval.providers.presets import (
    PRESETS,
    address,
    host_fits,
    host_of,
    is_loopback,
    key_hosts,
)


def test_every_preset_of_the_format_is_there() -> None:
    assert set(PRESETS) == {
        "openai",
        "openrouter",
        "anthropic",
        "gemini",
        "mistral",
        "deepseek",
        "groq",
        "together",
        "ollama",
        "vllm",
        "llamacpp",
        "lmstudio",
        "azure",
        "local",
    }


def test_a_remote_preset_sends_its_key_over_tls_to_the_host_it_is_bound_to() -> None:
    for preset in PRESETS.values():
        if preset.local or preset.base_url is None:
            continue
        assert preset.base_url.startswith("https://")
        assert preset.api_key_env is not None
        assert host_fits(host_of(preset.base_url), key_hosts(preset.api_key_env))


def test_a_local_preset_needs_no_key_and_is_gentle() -> None:
    for preset in PRESETS.values():
        if preset.local:
            assert preset.api_key_env is None
            assert preset.default_concurrency is not None and preset.default_concurrency < 16


def test_an_unknown_variable_is_bound_to_nothing() -> None:
    assert key_hosts("MY_OWN_KEY") == frozenset()


def test_a_bound_suffix_means_hosts_below_it_only() -> None:
    azure = key_hosts("AZURE_OPENAI_API_KEY")
    assert host_fits("mine.openai.azure.com", azure)
    assert not host_fits("openai.azure.com.evil.example", azure)
    assert not host_fits("evilopenai.azure.com", azure)


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "127.0.0.1",
        "127.8.9.1",
        "::1",
        "[::1]",
        "::ffff:127.0.0.1",
        "a.b.LocalHost.",
    ],
)
def test_loopback_is_recognised(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "10.0.0.1",
        "0.0.0.0",
        "localhost.evil.example",
        "127.0.0.1.nip.example",
        "::2",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "notlocalhost",
        "localhost.localdomain",
        "::ffff:10.0.0.1",
        "ｌocalhost",
    ],
)
def test_other_hosts_are_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_a_preset_keeps_its_own_url_and_key() -> None:
    got = address("openai")
    assert got.endpoint == "openai|https://api.openai.com/v1|OPENAI_API_KEY"
    assert not got.local


def test_a_base_url_without_a_variable_sends_no_key() -> None:
    assert address(base_url="http://127.0.0.1:9/v1/").endpoint == "|http://127.0.0.1:9/v1|"


def test_a_presets_key_does_not_follow_it_to_another_host() -> None:
    assert address("openai", "https://evil.example/v1").api_key_env is None
    named = address("openai", "https://evil.example/v1", "OPENAI_API_KEY")
    assert named.api_key_env == "OPENAI_API_KEY"


def test_azure_takes_its_url_from_the_suite_and_its_key_along() -> None:
    got = address("azure", "https://mine.openai.azure.com/openai/v1")
    assert got.api_key_env == "AZURE_OPENAI_API_KEY"
    with pytest.raises(ValueError, match="azure' needs a base_url"):
        address("azure")


def test_an_embedded_server_has_no_url_of_its_own() -> None:
    got = address("local")
    assert got.embedded and got.local and got.base_url is None and got.default_concurrency == 4
    with pytest.raises(ValueError, match="starts its own server"):
        address("local", "http://127.0.0.1:1/v1")


@pytest.mark.parametrize("url", ["ftp://x/v1", "api.openai.com/v1", "http://", "http://[::1/v1"])
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="base_url must be"):
        address(base_url=url)


def test_a_password_in_a_base_url_is_refused_without_being_shown() -> None:
    with pytest.raises(ValueError, match="api_key_env") as caught:
        address(base_url="https://me:hunter2@example.com/v1")
    assert "hunter2" not in str(caught.value)


def test_an_unknown_preset_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="unknown provider 'opnai'; there are openai, "):
        address("opnai")
