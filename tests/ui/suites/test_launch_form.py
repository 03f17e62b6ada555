"""What a launch is asked to do, and what is said before it is started."""

import sqlite3
from pathlib import Path

import pytest

from tests.support import reading
from tests.ui.playing import finished, made_up, plain_run, sql
from tests.ui.suites.making import GOOD, words, write
from tui_eval.engine.preflight.preflight import Preflight
from tui_eval.engine.settings import Settings
from tui_eval.store.errors import StoreError
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.spec import Suite
from tui_eval.ui.suites import suite_list
from tui_eval.ui.suites.case_book import CaseBook
from tui_eval.ui.suites.launch_form import (
    FormError,
    LaunchForm,
    NotReadyError,
    launch,
    preflight_paras,
    trouble,
)


def said(found: Preflight | None) -> str:
    return "\n".join(f"{para.label} {para.text}".strip() for para in preflight_paras(found))


def test_empty_fields_leave_it_to_the_suite() -> None:
    assert LaunchForm(("a", "b"), True).settings() == Settings()


def test_fields_become_settings() -> None:
    form = LaunchForm(
        ("b",),
        False,
        cases="x, y ,",
        tags="t",
        limit=" 5",
        sample="1,000",
        only="errors",
        epochs="2",
        concurrency="7",
        max_cost="$2.50",
        max_tokens="10_000",
        cache=False,
        judge=False,
    )
    assert form.settings() == Settings(
        targets=("b",),
        cases=("x", "y"),
        tags=("t",),
        limit=5,
        sample=1000,
        only="errors",
        epochs=2,
        concurrency=7,
        max_cost_usd=2.5,
        max_tokens=10_000,
        fresh=True,
        no_judge=True,
    )
    assert LaunchForm(("a",), True, concurrency=" Auto").settings() == Settings(concurrency="auto")


@pytest.mark.parametrize(
    ("form", "field"),
    [
        (LaunchForm((), False), "target"),
        (LaunchForm(("a",), True, limit="0"), "limit"),
        (LaunchForm(("a",), True, epochs="two"), "epochs"),
        (LaunchForm(("a",), True, concurrency="-1"), "concurrency .* or auto"),
        (LaunchForm(("a",), True, concurrency="10,001"), "concurrency .* at most 10000; or auto"),
        (LaunchForm(("a",), True, epochs="9" * 5000), "epochs must be at most"),
        (LaunchForm(("a",), True, sample="²"), "sample"),
        (LaunchForm(("a",), True, max_cost="free"), "max cost"),
        (LaunchForm(("a",), True, max_cost="nan"), "max cost"),
        (LaunchForm(("a",), True, max_tokens="1.5"), "max tokens"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_name(form: LaunchForm, field: str) -> None:
    with pytest.raises(FormError, match=field):
        form.settings()


def looked(
    db: sqlite3.Connection, entry: suite_list.SuiteEntry, settings: Settings | None = None
) -> Preflight:
    return CaseBook(entry).of_launch(db, settings or Settings())


async def test_the_account_says_what_is_there_already(store: Path, tmp_path: Path) -> None:
    suite = made_up(6, targets=[{"kind": "simulated", "name": "one", "answers": ["{{ a }}"]}])
    await finished(store, suite)
    entry = suite_list.SuiteEntry(tmp_path / "s.toml", suite)
    with reading(store) as db:
        found = looked(db, entry)
        assert "6 trials: 6 reusable · 0 stale · 0 new" in said(found)
        assert "no API calls" in said(found)
        fresh = looked(db, entry, Settings(epochs=2))
        assert "12 trials: 6 reusable" in said(fresh)
        some = looked(db, entry, Settings(limit=2))
        assert "2 trials (partial): 2 reusable" in said(some)
        none = looked(db, entry, Settings(only="failed"))
        assert trouble(none) == ("no case of sums failed when last run",)
    assert said(None).startswith("counting")


async def test_what_made_outputs_stale_is_told(store: Path, tmp_path: Path) -> None:
    target = {"kind": "simulated", "name": "one", "answers": ["{{ a }}"]}
    await finished(store, made_up(6, targets=[target]))
    suite = made_up(5, targets=[target], prompts=[{"user": "How much is {{ q }}"}])
    with reading(store) as db:
        told = said(looked(db, suite_list.SuiteEntry(tmp_path / "s.toml", suite)))
    assert "5 trials: 0 reusable · 5 stale · 0 new · 1 removed" in told
    assert "stale: prompt changed (5 trials)" in told


def test_cases_and_tags_nobody_has_are_told_with_the_nearest(store: Path, tmp_path: Path) -> None:
    entry = suite_list.read(write(tmp_path, "good.toml"), False)
    plain_run(store, 1)
    with reading(store) as db:
        found = looked(db, entry, Settings(cases=("oen",), tags=("easi",)))
    assert trouble(found) == (
        "no case is called 'oen'; did you mean 'one'?",
        "no tag is called 'easi'; did you mean 'easy'?",
    )


def test_calls_tokens_and_cost_are_told_before_the_start(store: Path, tmp_path: Path) -> None:
    text = GOOD.replace(
        'model = "some-model"',
        'model = "some-model"\nparams = { max_tokens = 1000 }\n'
        "prices = { input = 1.0, output = 10.0 }",
    )
    entry = suite_list.read(write(tmp_path, "priced.toml", text), False)
    plain_run(store, 1)
    with reading(store) as db:
        assert "2 calls, about 8 tokens in, up to 2,000 out, about $0.02" in said(looked(db, entry))
        one = said(looked(db, entry, Settings(limit=1)))
    assert "1 call, about 4 tokens in, up to 1,000 out, about $0.01" in one


def test_a_missing_key_refuses_the_launch_in_full(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    text = GOOD.replace('base_url = "http://127.0.0.1:9/v1"', 'provider = "openai"')
    entry = suite_list.read(write(tmp_path, "keyed.toml", text), False)
    plain_run(store, 1)
    with reading(store) as db:
        found = looked(db, entry)
    assert not found.may_start
    assert "OPENAI_API_KEY" in said(found)
    with pytest.raises(NotReadyError, match="OPENAI_API_KEY"):
        launch(store, entry, Settings(), None)
    assert sql(store, "SELECT count(*) FROM runs") == [(1,)]


def test_judges_of_the_family_and_judges_of_cases_are_told_before_the_start(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    judged = GOOD.replace("some-model", "gpt-9") + (
        '\n[[scorers]]\nkind = "judge"\nname = "good"\nrubric = "Good?"\nscale = [0, 1]\n'
        'judge = "near"\n[[judges]]\nname = "near"\nbase_url = "http://127.0.0.1:9/v1"\n'
        'model = "gpt-9-mini"\n[[judges]]\nname = "far"\nprovider = "openai"\nmodel = "gpt-9"\n'
    )
    plain_run(store, 1)
    with reading(store) as db:
        entry = suite_list.read(write(tmp_path, "kin.toml", judged), False)
        assert 'note: judge "near" is of one family with' in said(looked(db, entry))
        mine = 'kind = "judge", name = "own", rubric = "x", scale = [0, 1], judge = "far"'
        own = f"[[cases]]\nscorers = [{{ {mine} }}]\n"
        brought = judged.replace("[[cases]]\n", own, 1)
        found = looked(db, suite_list.read(write(tmp_path, "far.toml", brought), False))
    assert not found.may_start
    assert "OPENAI_API_KEY is not set: judge 'far'" in said(found)


BAD_NAME = GOOD.replace('expected = "{{ a }}"', 'expected = "{{ answer }}"')


def test_a_name_no_case_has_is_a_mistake_of_the_suite(store: Path, tmp_path: Path) -> None:
    entry = suite_list.read(write(tmp_path, "unknown.toml", BAD_NAME), False)
    line = BAD_NAME.splitlines().index('expected = "{{ answer }}"') + 1
    assert not entry.usable
    assert entry.where() == (entry.path, line)
    assert f'unknown.toml, line {line}: scorers[0].expected: no case has "answer"' in words(entry)
    assert "user      1+1?" in words(entry)  # what can be shown is shown
    plain_run(store, 1)
    with reading(store) as db:
        found = looked(db, entry)
    assert not found.may_start
    assert f"unknown.toml, line {line}" in said(found)


def test_it_is_found_out_by_the_survey_where_the_data_is_much(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_list, "_MOST_COUNTED", 1)
    text = BAD_NAME.split("[[cases]]")[0] + '[dataset]\npath = "rows.jsonl"\n'
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "q": "x", "a": "y"}\n')
    entry = suite_list.read(write(tmp_path, "much.toml", text), False)
    assert entry.usable
    assert entry.suite is not None
    with pytest.raises(SuiteError, match="answer"):
        CaseBook(entry).survey(entry.suite)
    plain_run(store, 1)
    with reading(store) as db:
        assert "much.toml, line" in said(looked(db, entry))


def test_a_store_that_cannot_be_used_is_an_error_of_the_store(tmp_path: Path) -> None:
    entry = suite_list.read(write(tmp_path, "good.toml"), False)
    (tmp_path / "damaged.db").write_text("this is no database, but long enough to be one" * 20)
    with pytest.raises(StoreError):
        launch(tmp_path / "damaged.db", entry, Settings(), None)


def test_parameters_are_set_at_the_ticked_targets_alone() -> None:
    suite = Suite.model_validate(
        {
            "name": "s",
            "targets": [
                {"provider": "openai", "model": "a", "params": {"temperature": 1.0, "seed": 7}},
                {"provider": "openai", "model": "b"},
                {"kind": "simulated", "name": "c", "answers": ["1"]},
            ],
        }
    )
    form = LaunchForm(("a",), False, parameters='temperature=0.2, stop=["END"], effort=low')
    found = [target.model_dump().get("params") for target in form.suite_of(suite).targets]
    assert found == [
        {"temperature": 0.2, "seed": 7, "stop": ["END"], "effort": "low"},
        {},
        None,
    ]
    with pytest.raises(FormError, match=r"c .simulated. takes no parameters"):
        LaunchForm(("c",), False, parameters="temperature=0").suite_of(suite)
    for wrong in ("temperature", "=2", "a="):
        with pytest.raises(FormError, match=r"temperature=0\.2, not"):
            LaunchForm(("a",), False, parameters=wrong).suite_of(suite)
    with pytest.raises(FormError, match="cannot be set here"):
        LaunchForm(("a",), False, parameters="stream=true").suite_of(suite)
    assert LaunchForm(("a", "b", "c"), True).suite_of(suite) is suite


def test_a_judge_of_several_scorers_is_told_for_each(store: Path, tmp_path: Path) -> None:
    scorer = '\n[[scorers]]\nkind = "judge"\nname = "{}"\nrubric = "Good?"\nscale = [0, 1]\n'
    judge = '[judge]\nkind = "simulated"\n'
    plain_run(store, 1)
    with reading(store) as db:
        one = suite_list.read(write(tmp_path, "one.toml", GOOD + scorer.format("a") + judge), False)
        assert "judge: 2 trials to grade" in said(looked(db, one))
        text = GOOD + scorer.format("a") + scorer.format("b") + judge
        two = suite_list.read(write(tmp_path, "two.toml", text), False)
        shown = said(looked(db, two))
    assert "judge, a: 2 trials to grade" in shown
    assert "judge, b: 2 trials to grade" in shown
