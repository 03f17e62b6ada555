"""A run is taken up with the executor that is named, and stays trusted with what it was."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.executors.nearby import register
from tests.engine.harness import Harness, suite
from tui_eval.engine.preflight.permission import permitted, refusal
from tui_eval.engine.preflight.taking_up import (
    RunUnreadyError,
    RunUntrustedError,
    settings_after,
)
from tui_eval.engine.settings import Settings
from tui_eval.model.runs.executor_choice import AS_BEFORE, LOCAL, ExecutorChoice, NamedExecutor
from tui_eval.store.connection import open_readable
from tui_eval.store.requests import Verb
from tui_eval.suites.spec import Suite

THERE = ExecutorChoice("nearby", "10.0.0.5:6379")
WANTING = {
    "targets": [{"kind": "model", "name": "m", "base_url": "https://example.com/v1", "model": "m",
                 "api_key_env": "OWN_KEY"}]
}  # fmt: skip


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUI_EVAL_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("OWN_KEY", "x")
    register(monkeypatch)


def made_by(executor: ExecutorChoice | None) -> Settings:
    return Settings(executor=executor)


def after(
    harness: Harness,
    of: Suite,
    settings: Settings,
    named: NamedExecutor,
    *,
    elsewhere: bool = False,
    trusted: bool = False,
) -> Settings:
    """Give the settings of a run that is retried; `elsewhere`: its mark is of another machine."""
    run = harness.create(of, settings)
    if elsewhere:
        harness.write("UPDATE runs SET settings = json_set(settings, '$.permit', 'theirs')")
    db = open_readable(harness.path)
    try:
        return settings_after(db, harness.row(run), [Verb.RETRY], named, trusted=trusted)
    finally:
        db.close()


@pytest.mark.parametrize(
    ("before", "named", "then"),
    [
        (None, AS_BEFORE, None),
        (THERE, AS_BEFORE, THERE),
        (THERE, NamedExecutor(LOCAL), None),
        (None, NamedExecutor("nearby"), ExecutorChoice("nearby")),
        (THERE, NamedExecutor("nearby"), ExecutorChoice("nearby")),
        (THERE, NamedExecutor(None, "b:1"), ExecutorChoice("nearby", "b:1")),
        (None, NamedExecutor("nearby", "b:1"), ExecutorChoice("nearby", "b:1")),
    ],
)
def test_what_is_named_holds_and_all_else_is_as_before(
    harness: Harness,
    before: ExecutorChoice | None,
    named: NamedExecutor,
    then: ExecutorChoice | None,
) -> None:
    of = Suite.model_validate({**suite("http://x.invalid", 1).model_dump(mode="json"), **WANTING})
    settings = after(harness, of, made_by(before), named)
    assert settings.executor == then
    assert refusal(of, settings, staged=True) is None
    assert replace(settings, permit=None, executor=None) == Settings()


@pytest.mark.parametrize("named", [NamedExecutor(None, "b:1"), NamedExecutor(LOCAL, "b:1")])
def test_an_address_of_nothing_is_refused(harness: Harness, named: NamedExecutor) -> None:
    with pytest.raises(ValueError, match="where an executor is"):
        after(harness, suite("http://x.invalid", 1), Settings(), named)


def test_a_run_made_elsewhere_goes_where_a_person_says_and_nowhere_else(harness: Harness) -> None:
    plain, theirs = suite("http://x.invalid", 1), made_by(THERE)
    with pytest.raises(RunUntrustedError, match=r"have attempts made by nearby at 10\.0\.0\.5"):
        after(harness, plain, theirs, AS_BEFORE, elsewhere=True)
    here = after(harness, plain, theirs, NamedExecutor(LOCAL), elsewhere=True)
    assert here.executor is None
    ours = after(harness, plain, theirs, NamedExecutor("nearby"), elsewhere=True)
    assert refusal(plain, ours, staged=True) is None
    trusted = after(harness, plain, theirs, AS_BEFORE, elsewhere=True, trusted=True)
    assert trusted == permitted(plain, theirs)


def test_naming_an_executor_trusts_a_suite_with_nothing_else(harness: Harness) -> None:
    of = Suite.model_validate({**suite("http://x.invalid", 1).model_dump(mode="json"), **WANTING})
    with pytest.raises(RunUntrustedError, match=r"example\.com"):
        after(harness, of, made_by(THERE), NamedExecutor("nearby"), elsewhere=True)


def test_what_an_executor_cannot_do_is_said_before_anything_is_asked(harness: Harness) -> None:
    of = suite("http://x.invalid", 1, run={"orphans": "finish"})
    with pytest.raises(RunUnreadyError, match="no program outlives its worker") as refused:
        after(harness, of, Settings(), NamedExecutor("nearby"))
    assert len(refused.value.reasons) == 1
