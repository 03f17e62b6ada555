"""The tabs of a trial's detail, as paragraphs."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from tests.support import Staged, output, reading
from tests.ui.playing import by_hand, para_words, plain_run
from tui_eval.model.case import Case
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.outputs.output import Failure, Usage
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read.comparing.case_history import PastTrial
from tui_eval.store.read.trials import trial_queries
from tui_eval.ui.expected_values import ExpectedValue
from tui_eval.ui.run.detail.folds import Folds
from tui_eval.ui.run.detail.pages.attempts_page import attempts_page
from tui_eval.ui.run.detail.pages.case_page import case_page
from tui_eval.ui.run.detail.pages.messages_page import messages_page
from tui_eval.ui.run.detail.pages.result_page import OutputRendering, result_page
from tui_eval.ui.run.detail.pages.scores_page import scores_page
from tui_eval.ui.run.detail.pages.time_axis import time_axis
from tui_eval.ui.run.detail.shortening import PageRoom
from tui_eval.ui.run.detail.trial_context import TrialContext
from tui_eval.ui.run.detail.trial_status import status_words
from tui_eval.ui.text.laid_out_text import lay_out_text
from tui_eval.ui.text.prose import LABELS, Para, lay_out
from tui_eval.ui.theme.glyphs import ASCII, UNICODE

PLAIN, CLOSED, ROOM = OutputRendering(), Folds(), PageRoom(80, 30)


def page(found: trial_queries.WholeTrial, name: str, now: float = 0.0) -> str:
    asked: list[JsonObject] = [{"role": "user", "content": "hello?"}]
    made: dict[str, Callable[[], Iterable[Para]]] = {
        "result": lambda: result(found, now=now),
        "scores": lambda: scores_page(found, None, UNICODE),
        "messages": lambda: messages_page(found, asked, Folds(), 80, UNICODE),
        "attempts": lambda: attempts_page(found, 60, UNICODE, now),
        "case": lambda: case_page(found, None, UNICODE),
    }
    return para_words(made[name]())


def result(
    found: trial_queries.WholeTrial,
    context: TrialContext | None = None,
    looks: OutputRendering = PLAIN,
    folds: Folds = CLOSED,
    room: PageRoom = ROOM,
    now: float = 0.0,
) -> list[Para]:
    return list(result_page(found, context, looks, folds, room, UNICODE, now))


def blocks(paras: Iterable[Para], width: int = ROOM.width) -> dict[str, str]:
    """Give what stands beside each label."""
    found: dict[str, str] = {}
    label = ""
    for line in lay_out(paras, width):
        label = line.text[:LABELS].strip() or label
        before = [found[label]] if label in found else []
        found[label] = "\n".join([*before, line.text[LABELS:]])
    return found


def whole(store: Path, made: Staged, place: int) -> trial_queries.WholeTrial:
    with reading(store) as db:
        found = trial_queries.whole(db, made.run, made.trials[place])
    assert found is not None
    return found


def test_the_tabs_of_a_graded_trial(store: Path) -> None:
    found = whole(store, plain_run(store, 5, failing=(2,)), 2)
    shown = blocks(result(found))
    assert shown["Output"] == "answer 2"
    assert shown["Scores"] == "✗ exact  extracted expected 2"
    assert "10 tokens in, 5 out" in page(found, "result")
    assert "fail 0.00  expected 2" in page(found, "scores")
    assert "hello?" in page(found, "messages")
    assert "answer 2" in page(found, "messages")
    assert "✓ 1 answered" in page(found, "attempts")
    assert "call 0.50s" in page(found, "attempts")
    assert "case-002" in page(found, "case")
    assert "t0" in page(found, "case")


def test_the_tabs_of_what_went_wrong(store: Path) -> None:
    failure = Failure("server_error", "broke", status=503, retry_after_s=2.0, partial="half an")
    made = by_hand(store, [Case(0, "c", {}), Case(1, "d", {})], answers=[failure, None])
    found = whole(store, made, 0)
    assert "server_error: broke" in page(found, "result")
    assert "half an" in page(found, "result")
    assert "No scores: there is no output" in page(found, "scores")
    assert "server_error (HTTP 503): broke" in page(found, "attempts")
    assert "asked to wait 2.00s" in page(found, "attempts")
    waiting = whole(store, made, 1)
    assert "none yet: queued" in page(waiting, "result")
    assert "No scores yet" in page(waiting, "scores")
    running = replace(waiting, trial=replace(waiting.trial, state=TrialState.RUNNING))
    assert "the call is in flight" in page(running, "result")
    at_work = replace(running, progress=AttemptProgress("preparing"))
    assert "none yet: preparing" in page(at_work, "result")
    assert "No attempt yet" in page(waiting, "attempts")


def test_the_conversation_of_a_failed_attempt_has_its_tab(store: Path) -> None:
    said: list[JsonObject] = [{"role": "assistant", "content": f"step {n}"} for n in range(2)]
    failure = Failure("exit", "code 3", partial="step 1", messages=tuple(said))
    found = whole(store, by_hand(store, [Case(0, "c", {})], answers=[failure]), 0)
    assert "broke off after 2 messages" in page(found, "result")
    assert "step 1" in page(found, "result")
    assert "step 0" in page(found, "messages")
    assert "said last: step 1" in page(found, "attempts")
    assert "had arrived" not in page(found, "attempts")


def test_an_output_says_what_cut_it_short(store: Path) -> None:
    cases = [Case(0, "a", {}), Case(1, "b", {})]
    ends = [output("half", finish_reason=reason) for reason in ("limit:wall", "length")]
    made = by_hand(store, cases, answers=ends)
    by_limit, by_endpoint = (page(whole(store, made, place), "result") for place in (0, 1))
    assert "Truncated: ended at its limit of `wall`." in by_limit
    assert "Truncated: the endpoint stopped before the model did." in by_endpoint


def test_an_empty_and_a_missing_text_are_told_apart(store: Path) -> None:
    answers = [output(""), output(None), output("cut", finish_reason="length")]
    made = by_hand(store, [Case(i, f"c{i}", {}) for i in range(3)], answers=answers)
    assert "an empty text" in page(whole(store, made, 0), "result")
    assert "no text in the answer" in page(whole(store, made, 1), "result")
    assert "Truncated" in page(whole(store, made, 2), "result")


def test_a_verdict_is_judged_by_question_output_expected_and_each_scorer(store: Path) -> None:
    found = whole(store, plain_run(store, 3, failing=(1,)), 1)
    wrong = replace(found.scores[0], raw="Rome", reason="expected Paris, got Rome")
    fine = replace(wrong, scorer="short", verdict=Verdict.PASS, required=False)
    found = replace(found, scores=(fine, wrong))
    asked: JsonObject = {"role": "user", "content": "Where?"}
    context = TrialContext(
        (
            ExpectedValue("exact", "", ("Paris", "Lutetia")),
            ExpectedValue("x", "to contain", ("[1]",)),
            ExpectedValue("judge", "", ("a city",), reference=True),
        ),
        (),
        ({"role": "system", "content": "Be brief."}, asked),
    )
    shown = blocks(result(found, context))
    assert list(shown) == ["Question", "Output", "Expected", "Reference", "Scores", "Call"]
    assert shown["Question"] == "Where?"
    assert shown["Expected"] == "exact: Paris or Lutetia\nx: to contain [1]"
    assert shown["Reference"] == "a city"
    assert shown["Scores"] == "✗ exact  extracted Rome\n✓ short (reported only)"
    talk = replace(context, asked=(asked, {"role": "assistant", "content": "Here."}, asked))
    assert (
        blocks(result(found, talk))["Question"]
        == "Where?\nafter 2 earlier messages: the tab Messages"
    )


def test_each_requirement_of_a_judge_has_its_mark_and_feedback(store: Path) -> None:
    found = whole(store, plain_run(store, 3, failing=(1,)), 1)
    parts: list[Json] = [
        {"number": 1, "text": "Is kind", "value": 1, "reason": "it is"},
        {"number": 2, "text": "Is short", "value": 0, "reason": "far from it"},
    ]
    raw: JsonObject = {"form": "requirements", "parts": parts}
    reason = "1 of 2 met; 2 is not: far from it"
    score = replace(found.scores[0], source="judge", raw=raw, reason=reason, value=0.5)
    shown = blocks(result(replace(found, scores=(score,))))["Scores"].split("\n")
    assert shown == [
        "✗ exact ~ judge 0.50",
        "  ✓ Is kind",
        "    it is",
        "  ✗ Is short",
        "    far from it",
    ]


def test_what_decides_stands_before_what_is_reported_and_nothing_known_has_no_line(
    store: Path,
) -> None:
    found = whole(store, plain_run(store, 3, failing=(1,)), 1)
    judged = replace(found.scores[0], scorer="truthful", source="judge")
    ungraded = replace(found.scores[0], verdict=Verdict.UNGRADED, scorer="short", required=False)
    shown = blocks(result(replace(found, scores=(ungraded, judged))))["Scores"]
    assert shown.index("truthful") < shown.index("short")
    silent = output("o", latency_s=None, finish_reason=None, usage=Usage(), cost=0.0)
    made = by_hand(store, [Case(0, "c", {})], answers=[silent])
    assert "Call" not in blocks(result(whole(store, made, 0)))


def test_what_is_long_is_cut_so_that_all_has_room_and_says_its_length(store: Path) -> None:
    text = "\n".join(f"line {n}" for n in range(200))
    made = by_hand(store, [Case(0, "c", {})], answers=[output(text)], reasons=["expected x"])
    found = whole(store, made, 0)
    context = TrialContext(
        (ExpectedValue("exact", "", ("x\n" * 40,)),), (), ({"role": "user", "content": text},)
    )
    for room in (PageRoom(80, 30), PageRoom(42, 16), PageRoom(46, 33)):
        paras = result(found, context, room=room)
        assert len(list(lay_out(paras, room.width))) <= room.height
        assert [para.action for para in paras if para.action] == [
            "turn_fold(0)",
            "turn_fold(1)",
            "turn_fold(3)",
        ]
        assert f"{len(text):,} characters; x shows all" in para_words(paras)
    assert "line 199" not in para_words(paras)
    one = blocks(result(found, context, folds=Folds().turned(1)))
    assert "line 199" in one["Output"]
    assert "line 199" not in one["Question"]
    everything = blocks(result(found, context, folds=Folds().all_turned()))
    assert "line 199" in everything["Question"]


def test_the_other_epochs_and_runs_of_a_case_stand_with_its_result(store: Path) -> None:
    found = whole(store, plain_run(store, 2), 1)
    past = PastTrial(
        run=1, run_name="r", partial=False, created_at=0, trial=found.trial.id, place=1, epoch=0,
        state=TrialState.DONE, verdict=Verdict.PASS, score=1, generation_key=None, output=None,
        opening=None, error_kind=None, text=None, rules=b"",
    )  # fmt: skip
    other = replace(past, trial=-1, epoch=1, verdict=Verdict.FAIL)
    before = replace(past, run=0, trial=-2, verdict=Verdict.FAIL)
    shown = blocks(result(found, TrialContext(pasts=(past, other))))
    assert shown["Epochs"].startswith("✓✗  1 of 2 pass; this is epoch 1")
    assert "History" not in shown
    assert blocks(result(found, TrialContext(pasts=(past, before))))["History"] == "✗✓"


def test_an_output_is_laid_out_or_shown_as_it_came(store: Path) -> None:
    text = '{"a": [1, 2], "b": "' + "x" * 60 + '"}'
    made = by_hand(store, [Case(0, "c", {})], answers=[output(text)])
    found = whole(store, made, 0)
    rendering = OutputRendering(shown=lay_out_text(text, 60, UNICODE))
    laid_out = para_words(result(found, looks=rendering))
    assert '  "a": [1, 2],\n' in laid_out
    assert "laid out as JSON" in laid_out
    raw = para_words(result(found, looks=OutputRendering(raw=True)))
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


def test_the_axis_is_broken_where_one_stretch_dwarfs_the_others(store: Path) -> None:
    made = by_hand(store, [Case(0, "c", {})], answers=[Failure("rate_limit", "slow", status=429)])
    found = whole(store, made, 0)
    first = replace(found.attempts[0], queue_s=0.0, wait_s=0.0, call_s=1.0)
    second = replace(first, number=2, state="answered", wait_s=60.0, call_s=1.0)
    found = replace(found, attempts=(first, second))
    paras = list(attempts_page(found, 46, ASCII, 0.0))
    assert "62.0s in all ~ 56.0s left out" in para_words(paras)
    drawn = [line.text for line in lay_out(paras, 60)]
    (waited,) = [line for line in drawn if "-~-" in line]
    assert waited.endswith("#######")
    assert drawn[-1].split() == ["0", "3.00s", "~", "59.0s", "62.0s"]
    even = time_axis([1.0, 2.0, 3.0], 30)
    assert even is not None
    assert (even.left_out, even.at(3.0)) == (None, 15)
    assert time_axis([0.0], 30) is None


def test_what_was_withdrawn_is_struck_and_the_way_of_a_verdict_is_told(store: Path) -> None:
    found = whole(store, plain_run(store, 3, failing=(1,)), 1)
    first = replace(found.scores[0], current=False, withdrawn_at=5.0, source="human")
    second = replace(found.scores[0], verdict=Verdict.PASS, value=1.0, reason="as expected")
    paras = list(scores_page(replace(found, scores=(first, second)), None, UNICODE))
    said = para_words(paras)
    assert "fail 0.00 → pass 1.00" in said
    assert "by hand" in said
    assert [para.label for para in paras if para.tone == "struck"] == ["-"]


def test_what_stands_beside_it_is_not_said_again_by_the_scorer(store: Path) -> None:
    found = whole(store, plain_run(store, 3, failing=(1,)), 1)
    context = TrialContext((ExpectedValue("exact", "", ("Paris",)),))

    def scores(reason: str) -> str:
        scored = replace(found, scores=(replace(found.scores[0], raw=None, reason=reason),))
        return blocks(result(scored, context))["Scores"]

    assert scores('expected "Paris", got "answer 1"') == "✗ exact"
    assert scores('expected "Paris", got a list') == "✗ exact  got a list"


def test_an_attempt_whose_engine_ended_may_have_been_sent(store: Path) -> None:
    made = by_hand(store, [Case(0, "c", {})], answers=[Failure("timeout", "late")])
    found = whole(store, made, 0)
    said = "its engine ended meanwhile: may have been sent"
    assert said not in para_words(attempts_page(found, 46, ASCII, 0.0))
    lost = replace(found.attempts[0], state="lost", call_s=None, error_kind=None)
    assert said in para_words(attempts_page(replace(found, attempts=(lost,)), 46, ASCII, 0.0))


def test_what_is_not_read_yet_has_its_place(store: Path) -> None:
    found = whole(store, plain_run(store, 3, failing=(1,)), 1)
    shown = blocks(result(found))
    assert list(shown)[:3] == ["Question", "Output", "Expected"]
    assert shown["Question"] == shown["Expected"] == "reading…"
    known = blocks(result(found, TrialContext(asked="The target needs no prompt.")))
    assert known["Question"] == "The target needs no prompt."
    assert "Expected" not in known


def test_what_is_only_reported_leaves_the_room_to_what_decides(store: Path) -> None:
    found = whole(store, plain_run(store, 3, failing=(1,)), 1)
    wishes = replace(
        found.scores[0], scorer="wishes", source="judge", required=False, reason="word " * 200
    )
    text = "\n".join(f"line {n}" for n in range(6))
    long = replace(found, output=output(text), scores=(wishes, replace(found.scores[0], raw=None)))
    shown = blocks(result(long, TrialContext(), room=PageRoom(80, 12)))
    assert shown["Output"] == text
    assert shown["Scores"].startswith("✗ exact")
    assert "characters; x shows all" in shown["Scores"]


def test_what_a_sweep_asked_was_answered_and_passed_nothing(store: Path) -> None:
    trial = whole(store, plain_run(store, 1), 0).trial
    assert status_words(trial, ASCII) == ("v pass", "pass")
    assert status_words(trial, ASCII, scored=False) == ("v answered", "plain")
