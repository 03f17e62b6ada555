"""Plugins as a target and a scorer of a run: in workers, under keys, whatever they do."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness
from tests.plugins.installed import install, site
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.spec import Suite

__all__ = ["site"]

TARGET = """
import os, signal
from pydantic import BaseModel
from tui_eval.plugins import Failure, Output, Usage
version = "1"
class Settings(BaseModel):
    mark: str = "!"
async def generate(settings, request, timeout_s):
    asked = request["prompt"]
    print("asked", asked, sorted(request), timeout_s > 0)
    if asked == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if asked == "fail":
        return Failure("busy", "try another day")
    if asked == "text":
        return "no Output"
    if asked == "keys":
        return Output(str("OPENAI_API_KEY" in os.environ))
    return Output(asked + settings.mark, reasoning="because", usage=Usage(1, 2), cost_usd=0.5)
"""
SCORER = """
import os
from tui_eval.plugins import Grade, Verdict
version = "1"
def score(settings, case, output):
    if case["q"] == "ungraded":
        return Grade.ungraded("nobody knows")
    if case["q"] == "crash":
        os._exit(3)
    raw = {"seen": len(output.messages)}
    return Grade(Verdict.FAIL, 0.5, f"{output.text} for {case['q']}", raw)
"""
CASES = ("plain", "kill", "fail", "text", "keys", "ungraded", "crash")


def suite(folder: Path, *cases: str, **scorer: Any) -> Suite:
    given = {
        "name": "acme",
        "prompt": {"user": "{{ q }}"},
        "cases": [{"id": case, "q": case} for case in cases],
        "targets": [{"kind": "acme.echo", "mark": "?", "workers": 1}],
        "scorers": [{"kind": "acme.half", **scorer}],
    }
    return load(folder / "(mapping)", trusted=True, given=given)


@pytest.fixture
def both(site: Path) -> Path:
    """Install a target and a scorer."""
    points = ("target.echo = acme_echo", "scorer.half = acme_half")
    return install(site, "acme", "1.0", *points, acme_echo=TARGET, acme_half=SCORER)


async def test_whatever_a_plugin_does_harms_one_trial(
    both: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    (tmp_path / "pydantic.py").write_text("raise SystemExit('beside the suite')")
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(suite(tmp_path, *CASES))
    trials = {trial.case_id: trial for trial in harness.trials(run)}
    errors = {name: one.error_message for name, one in trials.items() if one.error_kind}
    assert errors == {
        "kill": "its process was ended by signal 9 (Killed) in the call",
        "fail": "try another day",
        "text": "TypeError: generate returned str: it returns Output or Failure",
    }
    assert trials["fail"].error_kind == "busy"
    scores = {
        name: harness.sql("SELECT verdict, value, reason, raw FROM scores WHERE trial = ?", one.id)
        for name, one in trials.items()
    }
    assert [score[:3] for score in scores["plain"]] == [("fail", 0.5, "plain? for plain")]
    assert '{"seen":2}' in str(scores["plain"][0][3]).replace(" ", "")
    assert scores["keys"][0][2] == "False for keys"
    assert scores["ungraded"][0][0::2][:2] == ("ungraded", "nobody knows")
    assert "half" in scores["crash"][0][2] or "exit code 3" in scores["crash"][0][2]
    assert scores["crash"][0][0] == "ungraded"
    (printed,) = harness.sql(
        "SELECT printed FROM attempts WHERE trial = ? AND printed IS NOT NULL", trials["plain"].id
    )
    assert "asked plain ['args', 'messages', 'prompt'] True" in str(printed[0])


@pytest.mark.whole  # four descriptions and three runs, each with processes of its own
async def test_it_is_found_again_by_distribution_versions_and_settings(
    both: Path, site: Path, tmp_path: Path
) -> None:
    harness = Harness(tmp_path / "store.db")

    def newer() -> None:
        info = both.rename(site / "acme-1.1.dist-info")
        (info / "METADATA").write_text("Name: acme\nVersion: 1.1\n")

    async def calls() -> int:
        await harness.run(suite(tmp_path, "plain", threshold=0.5))
        return int(harness.sql("SELECT count(*) FROM attempts")[0][0])

    assert await calls() == 1
    assert await calls() == 1
    assert harness.sql("SELECT DISTINCT verdict FROM scores") == [("pass",)]
    before = suite(tmp_path, "plain")
    newer()
    with closing(Session(before, Settings())) as session:
        target, scorer = session.problems()
    assert "plugin acme.echo was of acme 1.0, and is of acme 1.1 now" in target
    assert "plugin acme.half was of acme 1.0" in scorer
    assert await calls() == 2
