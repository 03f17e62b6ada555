"""Where models live: the named endpoints, which key each takes, and which hosts a key is for."""

import ipaddress
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Preset:
    """One named endpoint that speaks the OpenAI protocol."""

    name: str
    base_url: str | None
    """Where its API starts; None: the suite has to say (`azure`), or it is started (`local`)."""
    api_key_env: str | None = None
    """The environment variable its key is read from; None: it needs no key."""
    local: bool = False
    """Whether it runs on this machine: no key, low concurrency, free unless priced."""
    default_concurrency: int | None = None
    """Calls in flight where the suite does not say; None: the ordinary default."""
    hosts: tuple[str, ...] = ()
    """Hosts its key is for; one that starts with a dot stands for every host below it."""
    embedded: bool = False
    """Whether the server is started beside the engine instead of being reached at a URL."""
    bulk: Literal["openai", "anthropic"] | None = None
    """How its batch API is spoken to; None: none is known."""


def _remote(
    name: str,
    base_url: str,
    api_key_env: str,
    *more_hosts: str,
    bulk: Literal["openai", "anthropic"] | None = None,
) -> Preset:
    host = host_of(base_url)
    return Preset(name, base_url, api_key_env, hosts=(host, *more_hosts), bulk=bulk)


def host_of(url: str) -> str:
    """Return the host of a URL in lower case, without port, brackets or a closing dot.

    Empty where the URL has none.
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return host.rstrip(".").lower()


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Say whether a host name or address can only be this machine.

    Only names that are loopback by definition count (`localhost` and below, RFC 6761): nothing
    is looked up, so no name server can make a foreign host one. Calls to them go nowhere else
    either (`providers/http/resolver.py`). Other ways to write an address (`127.1`, `2130706433`,
    `0.0.0.0`) are read differently by different libraries: they count as foreign.
    """
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _has_host_and_port(url: str) -> bool:
    try:
        return bool(host_of(url)) and urlsplit(url).port != 0
    except ValueError:
        return False


def shown_host(host: str) -> str:
    """Give a host as it is looked up: letters beyond ASCII, which may look like others, encoded."""
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host.encode("ascii", "backslashreplace").decode("ascii")


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        _remote("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", bulk="openai"),
        _remote("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        _remote("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", bulk="anthropic"),
        _remote(
            "gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"
        ),
        _remote("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        _remote("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        _remote("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", bulk="openai"),
        _remote("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", "api.together.ai"),
        Preset("ollama", "http://127.0.0.1:11434/v1", local=True, default_concurrency=4),
        Preset("vllm", "http://127.0.0.1:8000/v1", local=True, default_concurrency=8),
        Preset("llamacpp", "http://127.0.0.1:8080/v1", local=True, default_concurrency=4),
        Preset("lmstudio", "http://127.0.0.1:1234/v1", local=True, default_concurrency=4),
        Preset(
            "azure",
            None,
            "AZURE_OPENAI_API_KEY",
            hosts=(
                ".openai.azure.com",
                ".cognitiveservices.azure.com",
                ".services.ai.azure.com",
            ),
        ),
        Preset("local", None, local=True, default_concurrency=4, embedded=True),
    )
}


def key_hosts(env_name: str) -> frozenset[str]:
    """Return the hosts a key is bound to, by the variable it is read from; empty: unbound.

    An entry that starts with a dot stands for every host below it (see `host_fits`).
    """
    return frozenset(
        host
        for preset in PRESETS.values()
        if preset.api_key_env == env_name
        for host in preset.hosts
    )


def host_fits(host: str, bound: frozenset[str]) -> bool:
    """Say whether a host is one of those a key is bound to (see `key_hosts`)."""
    name = host.rstrip(".").lower()
    return any(name.endswith(entry) if entry.startswith(".") else name == entry for entry in bound)


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go and which key goes with them: what makes two targets share a limiter."""

    provider: str | None
    base_url: str | None
    """Without a closing slash; None for an embedded server, whose URL is known once it runs."""
    api_key_env: str | None
    """The variable the key is read from; None: a dummy key is sent."""
    local: bool
    """Whether it is a local preset or on this machine: free unless priced."""
    embedded: bool
    default_concurrency: int | None
    """Calls in flight where nobody says; None: as many as it takes, found out."""

    @property
    def host(self) -> str:
        """The host requests go to; empty for an embedded server."""
        return host_of(self.base_url) if self.base_url else ""

    @property
    def endpoint(self) -> str:
        """The name of the endpoint as limiters know it: provider, base URL and key variable."""
        return f"{self.provider or ''}|{self.base_url or ''}|{self.api_key_env or ''}"


def address(
    provider: str | None = None, base_url: str | None = None, api_key_env: str | None = None
) -> Address:
    """Put a preset and what a suite says over it together.

    A preset's own key goes along by itself only to hosts it is bound to; to send it anywhere
    else a suite has to name the variable, which then needs trust.

    Raises:
        ValueError: for an unknown preset, no base URL where one is needed, one that is not
            http(s), or one given to an embedded server.
    """
    preset = None
    if provider is not None:
        preset = PRESETS.get(provider)
        if preset is None:
            raise ValueError(f"unknown provider {provider!r}; there are {', '.join(PRESETS)}")
    embedded = preset is not None and preset.embedded
    if embedded:
        if base_url is not None or api_key_env is not None:
            raise ValueError(
                f"provider {provider!r} starts its own server: it takes neither base_url nor "
                "api_key_env"
            )
        url = None
    else:
        url = base_url or (preset.base_url if preset else None)
        if url is None:
            raise ValueError(
                f"provider {provider!r} needs a base_url"
                if provider
                else "give a provider or a base_url"
            )
        if not url.isprintable() or " " in url or "\\" in url:
            # clients disagree about what such an address means
            raise ValueError(
                f"base_url must hold no space, backslash or control character: {url!r}"
            )
        url = url.rstrip("/")
        if not url.lower().startswith(("http://", "https://")) or not _has_host_and_port(url):
            raise ValueError(f"base_url must be an http:// or https:// address, not {url!r}")
        if "@" in urlsplit(url).netloc:
            raise ValueError("base_url must hold no password: name its variable in api_key_env")
    key = api_key_env
    if key is None and preset is not None and url is not None:
        own = preset.api_key_env
        if own is not None and (base_url is None or host_fits(host_of(url), key_hosts(own))):
            key = own
    return Address(
        provider=provider,
        base_url=url,
        api_key_env=key,
        local=(preset is not None and preset.local) or is_loopback(host_of(url or "")),
        embedded=embedded,
        default_concurrency=preset.default_concurrency if preset else None,
    )
