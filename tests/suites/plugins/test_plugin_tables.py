"""What a suite says of plugins: looked up by name, checked by their own models, asked for."""

from pathlib import Path

import pytest

from tests.plugins.installed import install, site
from tui_eval.plugins.lookup import PluginSort
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load, look
from tui_eval.suites.plugins.plugin_fields import why_unusable
from tui_eval.suites.spec import Suite
from tui_eval.suites.trust.needs_trust import NeedsTrust

__all__ = ["site"]

EVEN = """
from pathlib import Path
from pydantic import BaseModel, Field
Path(__file__).with_name("imported").touch()
version = "7"
class Bound(BaseModel):
    least: int
class Settings(BaseModel):
    digits: int = Field(default=1, ge=1)
    bound: Bound | None = None
def score(settings, case, output):
    pass
"""
SUITE = """
cases = [{ q = "2" }]
prompt.user = "{{ q }}"
[[targets]]
kind = "simulated"
answers = "{{ q }}"
[[scorers]]
kind = "acme.even"
weight = 2.0
"""


def written(folder: Path, *lines: str) -> Path:
    file = folder / "suite.toml"
    file.write_text(SUITE + "\n".join(lines), "utf-8")
    return file


def test_settings_are_checked_and_completed(site: Path, tmp_path: Path) -> None:
    install(site, "acme", "1.0", "scorer.even = acme_even", acme_even=EVEN)
    suite = load(written(tmp_path, "bound = { least = 3 }"), trusted=True)
    (scorer,) = suite.scorers
    assert (scorer.name, scorer.weight) == ("even", 2.0)
    kept = scorer.own_settings()
    assert kept["settings"] == {"digits": 1, "bound": {"least": 3}}
    assert (kept["plugin"], kept["distribution"], kept["version"]) == ("acme.even", "acme 1.0", "7")
    assert Suite.model_validate_json(suite.model_dump_json()) == suite
    assert next(iter(scorer.permissions({"plugin": "acme.even"}, tmp_path))).does == (
        f"run the scorer acme.even, a plugin of acme 1.0 in {site}"
    )


def test_mistakes_have_their_lines(site: Path, tmp_path: Path) -> None:
    install(site, "acme", "1.0", "scorer.even = acme_even", acme_even=EVEN)
    file = written(tmp_path, "digits = 0", 'bound = { least = "x" }', "digit = 2", "weigth = 1")
    with pytest.raises(SuiteError) as found:
        load(file, trusted=True)
    assert [str(one).removeprefix(f"{file}, ") for one in found.value.mistakes] == [
        "line 10: scorers[0].digits: must be at least 1, not 0",
        'line 11: scorers[0].bound.least: must be a whole number, not "x"',
        'line 12: scorers[0].digit: unknown key; did you mean "digits"?',
        "line 13: scorers[0].weigth: unknown key; there are digits, bound",
    ]


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("import nothing_there", "No module named 'nothing_there'"),
        ('version = "1"', "NoPluginError: acme_even has no function score"),
        ("def score(): pass", 'NoPluginError: acme_even has no version, a text such as "1"'),
        ('version = "1"\nSettings = 3\ndef score(): pass', "Settings is no pydantic model"),
        ("import os; os._exit(0)", "its process has ended in the call"),
    ],
)
def test_a_module_that_is_no_plugin_is_a_mistake(
    site: Path, tmp_path: Path, module: str, why: str
) -> None:
    install(site, "acme", "1.0", "scorer.even = acme_even", acme_even=module)
    with pytest.raises(SuiteError) as found:
        load(written(tmp_path), trusted=True)
    (mistake,) = found.value.mistakes
    assert (mistake.line, mistake.field) == (8, "scorers[0].kind")
    assert mistake.message.startswith("plugin acme.even of acme 1.0 cannot be used: ")
    assert why in mistake.message


def test_nothing_of_it_is_imported_before_it_is_trusted(site: Path, tmp_path: Path) -> None:
    install(site, "acme", "1.0", "scorer.even = acme_even", acme_even=EVEN)
    file = written(tmp_path, "digits = 0")
    with pytest.raises(NeedsTrust) as refused:
        load(file)
    assert refused.value.permissions == (
        f"run the scorer acme.even, a plugin of acme 1.0 in {site}",
    )
    assert not (site / "imported").exists()
    permission = look(file).asks[0].permission
    content = permission.content()
    assert content is not None
    with pytest.raises(SuiteError, match=r"digits: must be at least 1"):
        look(file, allowed=[permission])


def test_it_is_another_one_once_its_distribution_is(site: Path, tmp_path: Path) -> None:
    info = install(site, "acme", "1.0", "scorer.even = acme_even", acme_even=EVEN)
    assert why_unusable(PluginSort.SCORER, "acme.even", "acme 1.0") is None
    permission = look(written(tmp_path)).asks[0].permission
    info.rename(site / "acme-1.1.dist-info")
    (site / "acme-1.1.dist-info" / "METADATA").write_text("Name: acme\nVersion: 1.1\n")
    why = why_unusable(PluginSort.SCORER, "acme.even", "acme 1.0")
    assert why is not None
    assert why.startswith("plugin acme.even was of acme 1.0, and is of acme 1.1 now")
    assert look(written(tmp_path)).asks[0].permission.exactly != permission.exactly


def test_what_is_not_there_or_not_named_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(
        SuiteError, match=r'line 8: scorers\[0\]\.kind: no distribution is called "a'
    ):
        load(written(tmp_path))
    text = written(tmp_path).read_text("utf-8").replace("acme.even", "plugin")
    (tmp_path / "suite.toml").write_text(text, "utf-8")
    with pytest.raises(SuiteError, match=r'names no plugin; name it: kind = "DISTRIBUTION\.NAME"'):
        load(tmp_path / "suite.toml")
