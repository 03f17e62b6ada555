"""The tabs of a trial's detail, as paragraphs."""

from dataclasses import replace
from pathlib import Path

from tests.support import Staged, output, reading
from tests.ui.playing import by_hand, para_words, plain_run
from tui_eval.model.attempt_record import AttemptProgress
from tui_eval.model.case import Case
from tui_eval.model.json import JsonObject
from tui_eval.model.output import Failure
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read import trial_queries
from tui_eval.ui.run.detail.folds import Folds
from tui_eval.ui.run.detail.pages.attempts_page import attempts_page
from tui_eval.ui.run.detail.pages.case_page import case_page
from tui_eval.ui.run.detail.pages.messages_page import messages_page
from tui_eval.ui.run.detail.pages.output_page import OutputRendering, output_page
from tui_eval.ui.run.detail.pages.scores_page import scores_page
from tui_eval.ui.run.detail.trial_context import ExpectedValue, TrialContext
from tui_eval.ui.text.laid_out_text import lay_out_text
from tui_eval.ui.text.prose import GLUE, lay_out
from tui_eval.ui.theme.glyphs import ASCII, UNICODE


def page(found: trial_queries.WholeTrial, name: str, now: float = 0.0) -> str:
    asked: list[JsonObject] = [{"role": "user", "content": "hello?"}]
    made = {
        "output": lambda: output_page(found, None, OutputRendering(), UNICODE, now),
        "scores": lambda: scores_page(found, None, UNICODE),
        "messages": lambda: messages_page(found, asked, Folds(), 80, UNICODE),
        "attempts": lambda: attempts_page(found, 60, UNICODE, now),
        "case": lambda: case_page(found, None, UNICODE),
    }[name]()
    return para_words(made)


def whole(store: Path, made: Staged, place: int) -> trial_queries.WholeTrial:
    with reading(store) as db:
        found = trial_queries.whole(db, made.run, made.trials[place])
    assert found is not None
    return found


def test_the_tabs_of_a_graded_trial(store: Path) -> None:
    found = whole(store, plain_run(store, 5, failing=(2,)), 2)
    assert f"answer 2   exact{GLUE}✗ extracted expected 2" in page(found, "output")
    assert "10 tokens in, 5 out" in page(found, "output")
    assert "fail 0.00  expected 2" in page(found, "scores")
    assert "hello?" in page(found, "messages")
    assert "answer 2" in page(found, "messages")
    assert "✓ 1 answered" in page(found, "attempts")
    assert "call 0.50s" in page(found, "attempts")
    assert "id case-002" in page(found, "case")
    assert "t0" in page(found, "case")


def test_the_tabs_of_what_went_wrong(store: Path) -> None:
    failure = Failure("server_error", "broke", status=503, retry_after_s=2.0, partial="half an")
    made = by_hand(store, [Case(0, "c", {}), Case(1, "d", {})], answers=[failure, None])
    found = whole(store, made, 0)
    assert "server_error: broke" in page(found, "output")
    assert "half an" in page(found, "output")
    assert "No scores: there is no output" in page(found, "scores")
    assert "server_error (HTTP 503): broke" in page(found, "attempts")
    assert "asked to wait 2.00s" in page(found, "attempts")
    waiting = whole(store, made, 1)
    assert "waits for its turn" in page(waiting, "output")
    assert "No scores yet" in page(waiting, "scores")
    running = replace(waiting, trial=replace(waiting.trial, state=TrialState.RUNNING))
    assert "the call is in flight" in page(running, "output")
    at_work = replace(running, progress=AttemptProgress("preparing"))
    assert "No output yet: it is preparing" in page(at_work, "output")
    assert "No attempt yet" in page(waiting, "attempts")


def test_the_conversation_of_a_failed_attempt_has_its_tab(store: Path) -> None:
    said: list[JsonObject] = [{"role": "assistant", "content": f"step {n}"} for n in range(2)]
    failure = Failure("exit", "code 3", partial="step 1", messages=tuple(said))
    found = whole(store, by_hand(store, [Case(0, "c", {})], answers=[failure]), 0)
    assert "It broke off after 2 messages" in page(found, "output")
    assert "step 1" in page(found, "output")
    assert "step 0" in page(found, "messages")
    assert "said last: step 1" in page(found, "attempts")
    assert "had arrived" not in page(found, "attempts")


def test_an_output_says_what_cut_it_short(store: Path) -> None:
    cases = [Case(0, "a", {}), Case(1, "b", {})]
    ends = [output("half", finish_reason=reason) for reason in ("limit:wall", "length")]
    made = by_hand(store, cases, answers=ends)
    by_limit, by_endpoint = (page(whole(store, made, place), "output") for place in (0, 1))
    assert "Truncated: it was ended at its limit of `wall`." in by_limit
    assert "Truncated: the endpoint stopped before the model did." in by_endpoint


def test_an_empty_and_a_missing_text_are_told_apart(store: Path) -> None:
    answers = [output(""), output(None), output("cut", finish_reason="length")]
    made = by_hand(store, [Case(i, f"c{i}", {}) for i in range(3)], answers=answers)
    assert "an empty text" in page(whole(store, made, 0), "output")
    assert "has no text" in page(whole(store, made, 1), "output")
    assert "Truncated" in page(whole(store, made, 2), "output")


def test_expected_stands_beside_what_came_and_what_was_seen(store: Path) -> None:
    found = whole(store, plain_run(store, 3, failing=(1,)), 1)
    score = replace(found.scores[0], raw="Rome", reason="expected Paris, got Rome")
    found = replace(found, scores=(score,))
    beside = TrialContext(
        (ExpectedValue("exact", "", ("Paris", "Lutetia")), ExpectedValue("x", "with", ("[1]",))), ()
    )
    first = next(iter(output_page(found, beside, OutputRendering(), UNICODE, 0.0))).text
    assert first == f"answer 1   expected Paris or Lutetia, with [1]   exact{GLUE}✗ extracted Rome"


def test_what_a_judge_says_has_a_line_of_its_own(store: Path) -> None:
    found = whole(store, plain_run(store, 3, failing=(1,)), 1)
    score = replace(found.scores[0], source="judge", reason="misses the point " * 10)
    found = replace(found, scores=(score,))
    said = para_words(output_page(found, None, OutputRendering(), UNICODE, 0.0))
    assert f"✗ exact by judge: {score.reason}" in said


def test_an_output_is_laid_out_or_shown_as_it_came(store: Path) -> None:
    text = '{"a": [1, 2], "b": "' + "x" * 60 + '"}'
    made = by_hand(store, [Case(0, "c", {})], answers=[output(text)])
    found = whole(store, made, 0)
    rendering = OutputRendering(shown=lay_out_text(text, 60, UNICODE))
    laid_out = para_words(output_page(found, None, rendering, UNICODE, 0.0))
    assert '  "a": [1, 2],\n' in laid_out
    assert "laid out as JSON" in laid_out
    raw = para_words(output_page(found, None, OutputRendering(raw=True), UNICODE, 0.0))
    assert text in raw
    assert "as it came" in raw


def test_tool_calls_and_long_messages_are_folded_with_their_length(store: Path) -> None:
    call: JsonObject = {
        "function": {"name": "look", "arguments": '{"where": "' + "far " * 40 + '"}'}
    }
    messages: tuple[JsonObject, ...] = (
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "row\n" * 500},
        {"role": "assistant", "content": "done"},
    )
    made = by_hand(store, [Case(0, "c", {})], answers=[output("done", messages=messages)])
    found = whole(store, made, 0)
    folded = list(messages_page(found, [], Folds(), 80, UNICODE))
    assert "3 messages, 1 tool call" in para_words(folded)
    assert "2,000 characters" in para_words(folded)
    assert para_words(folded).count("row") < 50
    actions = [para.action for para in folded if para.action]
    assert actions == ["turn_fold(1)", "turn_fold(2)"]
    one = para_words(messages_page(found, [], Folds().turned(1), 80, UNICODE))
    assert para_words(folded).count("far") < 40 <= one.count("far")
    assert one.count("row") < 50
    everything = para_words(messages_page(found, [], Folds().all_turned(), 80, UNICODE))
    assert everything.count("row") == 500


def test_a_talk_of_many_turns_is_read_as_it_went_and_only_work_is_folded(store: Path) -> None:
    talk: list[JsonObject] = []
    for n in range(8):
        talk.append({"role": "user", "content": [{"type": "image", "path": f"img/{n}\x1b.png"}]})
        talk.append({"role": "assistant", "content": f"reply {n}"})
    made = by_hand(store, [Case(0, "c", {})], answers=[output("bye")])
    read = list(messages_page(whole(store, made, 0), talk, Folds(), 80, UNICODE))
    assert "[image img/7\x1b.png]" in para_words(read)
    assert not [para.action for para in read if para.action]
    step: JsonObject = {"role": "assistant", "content": "step"}
    worked = by_hand(store, [Case(0, "d", {})], answers=[output("bye", messages=(step,) * 4)])
    folded = messages_page(whole(store, worked, 0), talk, Folds(), 80, UNICODE)
    assert [para.action for para in folded if para.action]


def bars(found: trial_queries.WholeTrial, now: float = 0.0) -> list[str]:
    made = lay_out(attempts_page(found, 46, ASCII, now), 60)
    return [
        line.text
        for line in made
        if set(line.text) & set("#-") and not set(line.text) - set(" .-#")
    ]


def test_attempts_stand_one_behind_the_other_on_one_scale(store: Path) -> None:
    failure = Failure("rate_limit", "slow down", status=429, retry_after_s=4.0)
    made = by_hand(store, [Case(0, "c", {})], answers=[failure])
    found = whole(store, made, 0)
    first = replace(found.attempts[0], queue_s=1.0, wait_s=None, call_s=1.0)
    second = replace(first, number=2, state="answered", queue_s=0.0, wait_s=4.0, call_s=2.0)
    third = replace(first, number=3, state="sent", queue_s=0, wait_s=0, call_s=None, sent_at=100.0)
    found = replace(found, attempts=(first, second, third))
    assert bars(found, 102.0) == [
        "    ....####",
        "            ----------------########",
        " " * 36 + "########",
    ]


def test_what_was_withdrawn_is_struck_and_the_way_of_a_verdict_is_told(store: Path) -> None:
    found = whole(store, plain_run(store, 3, failing=(1,)), 1)
    first = replace(found.scores[0], current=False, withdrawn_at=5.0, source="human")
    second = replace(found.scores[0], verdict=Verdict.PASS, value=1.0, reason="as expected")
    paras = list(scores_page(replace(found, scores=(first, second)), None, UNICODE))
    said = para_words(paras)
    assert "fail 0.00 → pass 1.00" in said
    assert "by hand" in said
    assert [para.label for para in paras if para.tone == "struck"] == ["-"]


def test_what_stands_in_the_first_line_is_not_said_again_by_the_scorer(store: Path) -> None:
    found = whole(store, plain_run(store, 3, failing=(1,)), 1)
    beside = TrialContext((ExpectedValue("exact", "", ("Paris",)),), ())

    def first(reason: str) -> str:
        scored = replace(found, scores=(replace(found.scores[0], raw=None, reason=reason),))
        return next(iter(output_page(scored, beside, OutputRendering(), UNICODE, 0.0))).text

    said = f"answer 1   expected Paris   exact{GLUE}✗"
    assert first('expected "Paris", got "answer 1"') == said
    assert first('expected "Paris", got a list') == f'{said} expected "Paris", got a list'


def test_an_attempt_whose_engine_ended_may_have_been_sent(store: Path) -> None:
    made = by_hand(store, [Case(0, "c", {})], answers=[Failure("timeout", "late")])
    found = whole(store, made, 0)
    said = "its engine ended meanwhile: may have been sent"
    assert said not in para_words(attempts_page(found, 46, ASCII, 0.0))
    lost = replace(found.attempts[0], state="lost", call_s=None)
    assert said in para_words(attempts_page(replace(found, attempts=(lost,)), 46, ASCII, 0.0))
