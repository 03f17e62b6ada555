from pathlib import Path

import pytest

from tui_eval.providers.presets import host_fits
from tui_eval.suites.config import config_path, configuration
from tui_eval.suites.config.config_path import config_dir
from tui_eval.suites.config.configuration import bound_hosts, key_hosts
from tui_eval.suites.loading.errors import SuiteError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own configuration, not there yet."""
    monkeypatch.setenv("TUI_EVAL_CONFIG", str(tmp_path))
    return tmp_path / "config.toml"


def told(file: Path, text: str | bytes) -> list[str]:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SuiteError) as caught:
        key_hosts()
    return [str(mistake).replace(str(file), "config.toml") for mistake in caught.value.mistakes]


def test_without_a_file_nothing_is_bound_but_the_presets_keys(file: Path) -> None:
    assert key_hosts() == {}
    assert bound_hosts("MY_KEY") is None
    assert bound_hosts("OPENAI_API_KEY") == frozenset({"api.openai.com"})


def test_a_key_is_bound_to_the_hosts_named(file: Path) -> None:
    file.write_text('[keys]\nMY_KEY = ["API.Example.org.", ".inner.example", "[::1]"]\n')
    hosts = bound_hosts("MY_KEY")
    assert hosts == frozenset({"api.example.org", ".inner.example", "::1"})
    assert host_fits("a.inner.example", hosts)
    assert not host_fits("inner.example", hosts)


def test_a_presets_key_may_have_further_hosts(file: Path) -> None:
    file.write_text('[keys]\nOPENAI_API_KEY = ["proxy.example"]\n')
    assert bound_hosts("OPENAI_API_KEY") == frozenset({"api.openai.com", "proxy.example"})


def test_a_key_may_be_bound_to_nothing(file: Path) -> None:
    file.write_text("[keys]\nMY_KEY = []\n")
    assert bound_hosts("MY_KEY") == frozenset()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[keys\n", "config.toml, line 1: is not TOML"),
        (b"\xff", "config.toml: is not UTF-8 text"),
        ("\n[key]\n", 'config.toml, line 2: key: unknown field; did you mean "keys"?'),
        ("keys = 3\n", "config.toml, line 1: keys: must be a table"),
        ('[keys]\n"MY KEY" = ["x.example"]\n', "line 2: keys.MY KEY: is no name of an environment"),
        ('[keys]\nA = "x.example"\n', "line 2: keys.A: must be a list of hosts"),
        ("[keys]\nA = [\n 3]\n", "line 3: keys.A[0]: must be a host, not 3"),
        (
            '[keys]\nA = ["https://x.example/v1"]\n',
            """must be a host, not 'https://x.example/v1'; write "x.example\"""",
        ),
        ('[keys]\nA = ["x.example:443"]\n', "must be a host, not 'x.example:443'"),
        ('[keys]\nA = ["*"]\n', "must be a host, not '*'"),
        ('[keys]\nA = ["."]\n', "must be a host, not '.'"),
        ('[keys]\nA = [""]\n', "must be a host, not ''"),
        ('[keys]\nA = ["exämple.org"]\n', "must be a host, not 'exämple.org'"),
    ],
)
def test_a_mistake_is_told_with_its_line(file: Path, text: str | bytes, expected: str) -> None:
    (mistake,) = told(file, text)
    assert expected in mistake


def test_all_mistakes_are_told_at_once(file: Path) -> None:
    assert len(told(file, '[kays]\n[keys]\nA = 1\nB = ["/"]\n')) == 3


def test_what_is_no_file_is_told(file: Path) -> None:
    file.mkdir()
    with pytest.raises(SuiteError, match="cannot be read: Is a directory"):
        key_hosts()


def test_the_folder_is_the_systems_where_nobody_names_one() -> None:
    assert config_dir({}).name == "tui-eval"
    assert config_dir({"TUI_EVAL_CONFIG": "/x"}) == Path("/x")
    assert config_dir({"TUI_EVAL_CONFIG": "/x/config.toml"}) == Path("/x")
    assert config_path.config_file().name == "config.toml"


def test_the_configuration_that_is_documented_is_one(file: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "explanation" / "trust.md").read_text()
    file.write_text(page.split("```ini\n")[1].split("```")[0])
    assert bound_hosts("COMPANY_KEY") == frozenset({".inner.example"})
    assert bound_hosts("SPARE_KEY") == frozenset()


def test_every_field_is_read(file: Path) -> None:
    file.write_text(
        'theme = "light"\nstore = "mine/store.sqlite3"\nconcurrency = 8\n'
        '[keymap]\n"run.retry" = "x"\nrun.cancel = ["c", "f5"]\n'
    )
    found = configuration.read()
    assert found.mistakes == ()
    assert (found.theme, found.concurrency) == ("light", 8)
    assert found.store == file.parent / "mine" / "store.sqlite3"
    assert found.keymap == {"run.retry": ("x",), "run.cancel": ("c", "f5")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("theme = 3\n", "config.toml, line 1: theme: must be a theme's name, not 3"),
        ('\nstore = ""\n', "config.toml, line 2: store: must be a file's path, not ''"),
        ("concurrency = 0\n", "line 1: concurrency: must be a whole number from 1 to 10000, or"),
        ("concurrency = true\n", 'not True; write concurrency = 8 or concurrency = "auto"'),
        ("keymap = 3\n", "line 1: keymap: must be a table; write [keymap], then"),
        (
            '[keymap]\n"run.retry" = 3\n',
            "line 2: keymap.run.retry: must be a key or a list of keys",
        ),
        ("[keymap]\nrun.retry = []\n", "line 2: keymap.run.retry: must be a key or a list of keys"),
    ],
)
def test_a_mistake_in_a_field_takes_nothing_from_the_others(
    file: Path, text: str, expected: str
) -> None:
    file.write_text(f'{text}[keys]\nMY_KEY = ["x.example"]\n')
    found = configuration.read()
    (mistake,) = found.mistakes
    assert expected in str(mistake)
    assert bound_hosts("MY_KEY") == frozenset({"x.example"})
    with pytest.raises(SuiteError):
        found.require(mistake.field.partition(".")[0])


def test_a_field_nobody_knows_may_be_any_of_them_misspelt(file: Path) -> None:
    file.write_text('stor = "x.sqlite3"\n')
    with pytest.raises(SuiteError, match='unknown field; did you mean "store"'):
        configuration.read().require("store")
