"""The package of the page on plugins: installed as pip does it, and used for all that it brings."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, Place, document, place, tui_eval
from tui_eval.isolated.calls import import_path

__all__ = ["place", "tui_eval"]

DOCS = Path(__file__).parent.parent / "docs"
EXAMPLE = DOCS / "plugin-example"
BLOCK = re.compile(r"^```\w+\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_shows_the_files_of_the_package() -> None:
    shown = BLOCK.findall((DOCS / "how-to" / "plugins.md").read_text("utf-8"))
    assert len(shown) == 4
    for name, text in shown:
        assert (EXAMPLE / name).read_text("utf-8") == text


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the package into a folder of its own, which is on the path."""
    site = tmp_path / "site"
    asked = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    command = [sys.executable, "-m", "pip", *asked, "--target", str(site), str(EXAMPLE)]
    subprocess.run(command, check=True, timeout=100, capture_output=True)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", f"{site}:{import_path()}")
    return site


def test_it_is_installed_and_does_all_that_it_brings(
    installed: Path, place: Place, tui_eval: Command
) -> None:
    suite = place.folder / "suite.toml"
    suite.write_text((EXAMPLE / "suite.toml").read_text("utf-8"), "utf-8")
    refused = tui_eval("run", "suite.toml")
    assert (refused.code, "wants to run the scorer acme.palindrome" in refused.err) == (2, True)
    ran = tui_eval("run", "suite.toml", "--trust")
    assert "reverse  50.0%" in ran.out
    exported = tui_eval("export", "last", "--format", "acme.verdicts")
    assert exported.out.splitlines()[1:] == ["pass reverse anna", "fail reverse lisa"]
    (place.folder / "sums.quiz").write_text("1+1 = 2\nwhat\n2+2 = 4\n", "utf-8")
    imported = tui_eval("import", "acme.quiz", "sums.quiz", "-o", "sums.toml")
    assert "line 2 has no answer" in imported.err
    assert tui_eval("run", "sums.toml").code == 0
    told: dict[str, Any] = document(tui_eval("doctor", "--json"))["plugins"]
    assert told["acme.palindrome"] == ["scorer of acme 1.2.0, module acme_evals.palindrome"]
    wrong = tui_eval("import", "acme.riddle", "sums.quiz", "-o", "other.toml")
    assert 'acme has no importer "riddle"' in wrong.err
    wrong = tui_eval("export", "last", "--format", "acme.riddle")
    assert (wrong.code, 'acme has no exporter "riddle"' in wrong.err) == (2, True)
