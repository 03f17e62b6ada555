"""One rule in one place: what the app, the command line and JSON say of one thing is the same."""

import json

import pytest

from tests.cli.conftest import Beside, Command, Place
from tests.store.fates import one_of_each
from tests.support import reading, writing
from tests.ui.playing import (
    app_on,
    by_hand,
    made_up,
    run_screen,
    shown_on,
    text,
    until,
    until_shown,
)
from tui_eval.engine.control import verbs
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Estimate, Output, Usage
from tui_eval.model.states import RunState
from tui_eval.store.connection import open_writable
from tui_eval.store.read import run_queries
from tui_eval.store.read.run_counts import board
from tui_eval.store.read.trials import trial_queries
from tui_eval.store.requests import Verb, why_not_resumed
from tui_eval.store.search import views
from tui_eval.store.search.views import Condition, FilterKind, TrialOutcome, View
from tui_eval.suites.loading import suite_file
from tui_eval.ui.run.actions import availability, commands
from tui_eval.ui.run.charts.chart_data import CHARTS, Drawing
from tui_eval.ui.suites import suite_list
from tui_eval.ui.suites.case_book import CaseBook
from tui_eval.ui.suites.launch_form import preflight_paras, trouble
from tui_eval.ui.suites.preview import PreviewState, preview


class Form:
    """What the Launch form and the preview of the app show of a suite."""

    def __init__(self, place: Place, suite: str) -> None:
        self._entry = suite_list.read(place.folder / suite, False)
        self._book = CaseBook(self._entry)
        self._store = place.store
        if not self._store.exists():
            open_writable(self._store).close()

    def preview(self) -> str:
        with reading(self._store) as db:
            known = PreviewState(expected=self._book.expected(db))
        return "\n".join(para.text for para in preview(self._entry, known, 0.0).paras)

    def launch(self, settings: Settings | None = None) -> str:
        with reading(self._store) as db:
            found = self._book.of_launch(db, settings or Settings())
        return "\n".join(f"{para.label} {para.text}".strip() for para in preflight_paras(found))

    def refusal(self, settings: Settings) -> tuple[str, ...]:
        with reading(self._store) as db:
            return trouble(self._book.of_launch(db, settings))


ODD = """
[[cases]]
id = "odd"
question = "a"
answer = "b"
output = "d"
none = "e"
"""


def test_app_check_and_run_warn_of_the_same(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=1, more=ODD)
    form = Form(place, suite)
    (checked,) = json.loads(tui_eval("check", suite, "--json").out)
    warnings = checked["warnings"]
    assert len(warnings) == 2
    text = tui_eval("check", suite).out
    preview, launch = form.preview(), form.launch()
    ran = tui_eval("run", suite).err
    for warning in warnings:
        assert f"  {warning}\n" in text
        assert warning in preview
        assert f"note: {warning}" in launch
        assert f"note: {warning}\n" in ran


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (("--case", "case-9", "--tag", "sun"), Settings(cases=("case-9",), tags=("sun",))),
        (("--only", "failed"), Settings(only="failed")),
        (("--target", "made-ip"), Settings(targets=("made-ip",))),
    ],
)
def test_app_and_run_refuse_in_the_same_words(
    place: Place, tui_eval: Command, options: tuple[str, ...], settings: Settings
) -> None:
    suite = place.suite(n=2)
    refused = Form(place, suite).refusal(settings)
    done = tui_eval("run", suite, *options)
    assert done.code == 2
    assert done.err == "error: " + "\n".join(refused) + "\n"
    assert refused


def test_app_check_and_json_count_and_price_the_same(place: Place, tui_eval: Command) -> None:
    suite = place.asking("http://127.0.0.1:9/v1", n=3)
    priced = (place.folder / suite).read_text().replace(
        'model = "fake-model"',
        'model = "fake-model"\nprices = { input = 1.0, output = 10.0 }\n'
        "params = { max_tokens = 1000 }",
    )  # fmt: skip
    (place.folder / suite).write_text(priced)
    launch, preview = Form(place, suite).launch(), Form(place, suite).preview()
    text = tui_eval("check", suite).out
    (checked,) = json.loads(tui_eval("check", suite, "--json").out)
    asked = checked["expected"]["served"]
    assert (checked["calls"], asked["calls"], asked["output_tokens"]) == (3, 3, 3000)
    assert asked["cost_usd"] == pytest.approx(0.03, rel=0.01)
    kinds = "0 reusable · 0 stale · 3 new"
    cost = f"about {asked['input_tokens']} tokens in, up to 3,000 out, about $0.0300"
    for shown in (launch, text):
        assert kinds in shown
    for shown in (launch, text, preview):
        assert cost in shown


JUDGED = """
[[judges]]
name = "j"
kind = "simulated"

[[scorers]]
kind = "judge"
name = "good"
rubric = "Is it?"
scale = [0, 10]
judge = "j"
required = false
"""


@pytest.mark.parametrize(
    ("verb", "options", "args"),
    [
        (Verb.RETRY, ("--failed",), {"which": ["failed"]}),
        (Verb.RETRY, ("--case", "case-1"), {"which": "all", "cases": ["case-1"]}),
        (Verb.RESCORE, (), {"which": "all"}),
    ],
)
def test_app_and_command_say_alike_what_a_request_takes(
    place: Place, tui_eval: Command, verb: Verb, options: tuple[str, ...], args: JsonObject
) -> None:
    suite = place.suite(n=6, target="accuracy = 0.0", more=JUDGED)
    tui_eval("run", suite)
    with reading(place.store) as db:
        words = commands.forecast_words(db, 1, verb, args).words()
    assert "judge call" in words
    assert f"{verb.called}: {words}\n" in tui_eval(verb.called, "last", *options).err


async def test_head_summary_and_json_agree_on_pace_caps_and_money(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUI_EVAL_STATE", str(place.folder / "state.json"))
    spec = made_up(4, run={"max_cost_usd": 2.0, "max_tokens": 50_000}).model_dump_json()
    answers = [Output(f"{i}", cost_usd=0.5, usage=Usage(900, 100)) for i in range(2)]
    cases = [Case(i, f"c{i}", {}) for i in range(4)]
    by_hand(
        place.store, cases, answers=[*answers, None, None], spec=spec, state=RunState.PAUSED
    )  # fmt: skip
    with writing(place.store) as db:
        db.execute("UPDATE runs SET wall_s = 0.8")
    document = json.loads(tui_eval("show", "last", "--json").out)
    assert document["throughput"] == {"answered": 2, "answers_s": 2.5}
    assert document["caps"] == {"max_cost_usd": 2.0, "max_tokens": 50_000, "max_errors": None}
    assert (document["cost_usd"]["target"], document["cost_usd"]["target_expected"]) == (1.0, 2.0)
    summary = tui_eval("show", "last").out
    app = app_on(place.store, run="last")
    async with shown_on(app, (140, 36)) as pilot:
        await run_screen(pilot)
        for words in ("$1.00/2", "2000/50.0k tok", "about $2.00 in all"):
            await until_shown(pilot, words)
            assert words in summary
        assert "2.5/s" in summary
        await pilot.press("v")  # the head of a run that no engine works on has no pace
        await until_shown(pilot, "2.5/s")


async def test_an_estimate_reads_so_wherever_a_trial_is_shown(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUI_EVAL_STATE", str(place.folder / "state.json"))
    silent = Output("x", estimate=Estimate(1000, 0.12))
    by_hand(place.store, [Case(0, "c0", {})], answers=[silent], spec=made_up(1).model_dump_json())
    assert "cost about $0.12" in tui_eval("show", "last", "--case", "c0").out
    app = app_on(place.store, run="last")
    async with shown_on(app, (140, 36)) as pilot:
        await run_screen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: text(app).count("about $0.12") == 2)  # the head, the output
    with reading(place.store) as db:
        found = trial_queries.whole(db, 1, 1)
        assert found is not None
        (tried,) = found.attempts
        assert (found.trial.about_usd, tried.about_usd) == (0.12, 0.12)
        drawing = CHARTS["cost"](db, 1, 50)
    assert isinstance(drawing, Drawing)
    said = "".join(piece.text for line in drawing.panels[0].words for piece in line)
    assert "about $0.12 in all" in said


TELLS = """
[[cases]]
id = "c0"
question = "a"

[[targets]]
name = "own"
%s

[[scorers]]
kind = "cost"
max = 0.2

[[scorers]]
kind = "tokens"
max = 1000

[gate]
max_cost_usd = 0.15
"""
PROGRAM = """kind = "command"
command = ["cat", "said.jsonl"]
workspace = "files"
isolation = "none"
output = "last_message"
transcript = { from = "stdout", format = "messages" }
[prompt]
user = "{{ question }}"
"""


async def test_what_a_program_says_it_took_reads_as_its_word_everywhere(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUI_EVAL_STATE", str(place.folder / "state.json"))
    usage = {"input": 700, "output": 200}
    said = {"role": "assistant", "content": "x", "usage": usage, "cost_usd": 0.12}
    (place.folder / "files").mkdir()
    (place.folder / "files/said.jsonl").write_text(json.dumps(said))
    (place.folder / "s.toml").write_text(TELLS % PROGRAM)

    def line() -> JsonObject:
        found = json.loads(tui_eval("export", "last", "--format", "jsonl").out)
        figures = ("cost_usd", "cost_about_usd", "self_reported", "tokens")
        assert [found[name] for name in figures] == [None, 0.12, True, usage]
        return {score["scorer"]: score["reason"] for score in found["scores"]}

    ran = place.program("run", "s.toml", "--trust")
    assert ran.code == 0, ran.err
    reasons: JsonObject = {
        "cost": "$0.12 ≤ $0.2, as the target says",
        "tokens": "200 tokens ≤ 1,000 tokens, as the target says",
    }
    assert line() == reasons
    assert place.program("rescore", "last", "--trust").code == 0
    assert line() == reasons  # the store knows whose word it is
    document = json.loads(tui_eval("show", "last", "--json").out)
    money = document["cost_usd"]
    assert (money["target"], money["target_about"]) == (None, 0.12)
    column = document["targets"]["own"]
    assert (column["cost_usd"], column["cost_about_usd"]) == (None, 0.12)
    assert "about $0.12" in tui_eval("show", "last").out
    assert "cost about $0.12, as the target says" in tui_eval("show", "last", "--case", "c0").out
    app = app_on(place.store, run="last")
    async with shown_on(app, (140, 36)) as pilot:
        await run_screen(pilot)
        await pilot.press("enter")
        await until_shown(pilot, "about $0.12  as the target says")


def test_a_sample_is_the_same_draw_in_launch_and_dataset(place: Place, tui_eval: Command) -> None:
    def run(*options: str) -> set[str]:
        tui_eval("run", suite, *options)
        lines = tui_eval("export", "last", "--format", "jsonl").out.splitlines()
        return {json.loads(line)["case_id"] for line in lines}

    suite = place.suite(n=30)
    drawn = run("--sample", "5")
    assert len(drawn) == 5
    assert run("--set", "dataset.sample=5") == drawn
    assert run("--set", "dataset.seed=7", "--sample", "5") != drawn


@pytest.mark.parametrize("which", ["failed", "errors", "ungraded", "cancelled", "open"])
def test_filters_of_the_app_and_requests_mean_the_same_trials(place: Place, which: str) -> None:
    with writing(place.store) as db:
        made = one_of_each(db)
        listed = views.places(
            db, made.run, View((Condition(FilterKind.STANDS, TrialOutcome(which)),))
        )
        of_filter = [made.trials[place] for place in listed]
        assert of_filter
        assert list(verbs.selected(db, made.run, {"which": which})) == of_filter


def test_a_cancelled_run_is_refused_in_the_same_words_by_command_and_screens(
    place: Place, tui_eval: Command
) -> None:
    by_hand(place.store, [Case(0, "c0", {})], answers=[None], state=RunState.CANCELLED)
    with reading(place.store) as db:
        run, total = run_queries.runs(db)[0], board(db, 1)[0]
    why = why_not_resumed(run.state, run.name, live=False, unfinished=True)
    assert why is not None
    assert tui_eval("resume", "last").err == f"error: {why}\n"
    situation = availability.situation(run, total, availability.Selection())
    assert availability.why_not("resume", situation) == why


@pytest.mark.parametrize(
    ("target", "gate", "code"),
    [
        ("", "pass_rate = 0.0", 0),
        ("accuracy = 0.0", "pass_rate = 1.0", 1),
        ("faults = { server_error = 1.0 }", "", 3),
        ("faults = { server_error = 1.0 }", "max_error_rate = 1.0", 0),
        ("faults = { server_error = 1.0 }", "max_error_rate = 0.0", 1),
    ],
)
def test_whatever_goes_through_a_run_ends_with_the_code_that_its_document_has(
    place: Place, tui_eval: Command, target: str, gate: str, code: int
) -> None:
    settings = "[run]\nretries = 0\n" + (f"[gate]\n{gate}\n" if gate else "")
    suite = place.suite(n=6, target=target, more=settings)
    ran = tui_eval("run", suite, "--json")
    assert (ran.code, json.loads(ran.out)["exit_code"]) == (code, code)
    with_outputs = (
        () if "faults" in target else (("rescore", "last"), ("rescore", "last", "--json"))
    )
    for again in (
        ("retry", "last", "--case", "case-0"),
        ("retry", "last", "--case", "case-0", "--json"),
        *with_outputs,
        *([("resume", "last"), ("resume", "last", "--json")] if "faults" in target else []),
    ):
        done = tui_eval(*again)
        assert done.code == code, (again, done.err)
        if "--json" in again:
            assert json.loads(done.out)["exit_code"] == code
    assert json.loads(tui_eval("show", "last", "--json").out)["exit_code"] == code
    (listed,) = json.loads(tui_eval("runs", "--json").out)
    assert listed["exit_code"] == code


async def test_why_no_edited_data_is_taken_reads_alike_in_app_command_and_json(
    place: Place, beside: Beside
) -> None:
    suite, data = place.folder / place.suite(n=0), place.folder / "rows.jsonl"
    suite.write_text(suite.read_text() + '[dataset]\npath = "rows.jsonl"\n')
    data.write_text('{"id": "a", "question": "1?", "answer": "1"}\n')
    create(place.store, suite_file.load(suite), Settings(), path=str(suite))
    data.write_text('{"id": "a", "question": "2?", "answer": "2"}\n')
    told = await beside("resume", "last")
    shown = json.loads((await beside("resume", "last", "--json")).out)
    why = shown["reason"]
    assert f"{data} was changed after this run was launched" in why
    assert (told.code, shown["exit_code"], shown["stopped_by"]) == (2, 2, "data")
    assert why in told.err
    assert json.loads((await beside("show", "last", "--json")).out)["reason"] == why
    async with shown_on(app_on(place.store, run="last"), (400, 40)) as pilot:
        await until_shown(pilot, why)
