"""What happened to a case, told from the store alone."""

import json
from collections.abc import Mapping
from typing import Any

from tests.cli.conftest import Beside, Command, Place, document
from tests.servers.fake_judge import asked, reply
from tests.servers.fake_model import Call, FakeModel, Reply, first_attempts, refuse

JUDGED = """
[[scorers]]
name = "polite"
kind = "judge"
rubric = "Is it polite?"
scale = "pass-fail"

[judge]
base_url = "{url}"
model = "fake-judge"
batch_size = 3
"""


class LeavesOut:
    """Plays target and judge; the judge leaves one case out of its first reply."""

    def __init__(self, case: str) -> None:
        self.case = case
        self.replies = 0

    def __call__(self, call: Call) -> Reply | None:
        request = asked(call.body)
        if request is None:
            return Reply(text=call.prompt)
        self.replies += 1
        first = self.replies == 1

        def grade(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
            return None if first and self.case in str(item["output"]) else {"score": 1}

        return Reply(text=reply(request, grade))


def events(place: Place, tui_eval: Command, *words: str) -> list[dict[str, Any]]:
    """Give the events of the one trial that is chosen."""
    (trial,) = document(tui_eval("trace", *words, "--json"))["trials"]
    found: list[dict[str, Any]] = trial["events"]
    times = [event["at"] for event in found]
    assert times == sorted(times)
    return found


async def test_each_attempt_is_told_with_why_it_was_made_again(
    place: Place, tui_eval: Command, beside: Beside
) -> None:
    async with FakeModel(script=first_attempts(refuse(503, retry_after="0"))) as server:
        await beside("run", place.asking(server.base_url, n=1))
    found = events(place, tui_eval, "last", "--case", "case-0")
    kinds = [event["event"] for event in found if event["event"] != "limit"]
    assert kinds == [
        "created", "staged", "sent", "failed", "sent", "answered", "score", "verdict", "done",
    ]  # fmt: skip
    failed = next(event for event in found if event["event"] == "failed")
    assert (failed["status"], failed["error"]["kind"], failed["retry_after_s"]) == (
        503, "server_error", 0.0,
    )  # fmt: skip
    told = tui_eval("trace", "last", "--case", "case-0").out
    assert "attempt 1 failed after" in told
    assert "HTTP 503, server_error: " in told
    assert "attempt 2 left (backed off 0.00s)" in told
    assert [event["concurrency"] for event in found if event["event"] == "limit"] == [4]


async def test_a_judge_call_is_told_with_its_batch_and_its_round(
    place: Place, tui_eval: Command, beside: Beside
) -> None:
    script = LeavesOut("1 + 1?")
    async with FakeModel(script=script) as server:
        await beside(
            "run", place.asking(server.base_url, n=3, more=JUDGED.format(url=server.base_url))
        )
    found = events(place, tui_eval, "last", "--case", "case-1")
    calls = [event for event in found if event["event"] == "judge_sent"]
    assert [(call["round"], len(call["items"])) for call in calls] == [("first", 3), ("alone", 1)]
    (own,) = [item for item in calls[0]["items"] if item["here"]]
    assert own["case_id"] == "case-1"
    first, second = (event for event in found if event["event"] == "judge_answered")
    assert first["problems"]
    assert not second["problems"]
    told = tui_eval("trace", "last", "--case", "case-1").out
    assert "of 3 with case-" in told
    assert "round alone, try 1; item 1 of 1\n" in told


def test_a_stored_output_is_told_with_where_it_came_from(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=1)
    first = document(tui_eval("run", suite, "--json"))["run"]
    tui_eval("run", suite)
    (staged,) = (
        event
        for event in events(place, tui_eval, "last", "--case", "case-0")
        if event["event"] == "staged"
    )
    assert staged["output_of"]["run"] == first
    told = tui_eval("trace", "last", "--case", "case-0").out
    assert f"was in the store: run {first}, trial {staged['output_of']['trial']}" in told
    assert "attempt" not in told
    tui_eval("delete", first, "--yes")
    assert (
        "was in the store: a run that was deleted\n"
        in tui_eval("trace", "last", "--case", "case-0").out
    )


def test_requests_and_what_they_changed_are_told_in_order(place: Place, tui_eval: Command) -> None:
    name = place.suite(n=2)
    tui_eval("run", name)
    suite = place.folder / name
    suite.write_text(suite.read_text().replace('expected = "{{ answer }}"', 'expected = "none"'))
    tui_eval("rescore", "last", "--case", "case-0", "--suite", name)
    found = events(place, tui_eval, "last", "--case", "case-0")
    kinds = [event["event"] for event in found]
    rest = kinds[kinds.index("asked") :]
    assert [kind for kind in rest if kind != "limit"] == [
        "asked", "moved", "superseded", "request_answered", "score", "verdict", "done",
    ]  # fmt: skip
    verdicts = [event for event in found if event["event"] == "verdict"]
    assert [(one["was"], one["verdict"]) for one in verdicts] == [(None, "pass"), ("pass", "fail")]
    other = events(place, tui_eval, "last", "--case", "case-1")
    assert "asked" not in [event["event"] for event in other]  # it named the other case alone

    tui_eval("undo", "last")
    found = events(place, tui_eval, "last", "--case", "case-0")
    verdicts = [event for event in found if event["event"] == "verdict"]
    assert [one["verdict"] for one in verdicts] == ["pass", "fail", "pass"]
    assert "withdraw of what request 1 did" in tui_eval("trace", "last", "--case", "case-0").out


def test_a_trial_that_never_had_a_score_is_told(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=1, target="faults = { server_error = 1.0 }", more="[run]\nretries = 0")
    tui_eval("run", suite)
    found = events(place, tui_eval, "last", "--case", "case-0")
    assert [event["event"] for event in found][-2:] == ["failed", "error"]


def test_one_trial_is_chosen_by_target_epoch_or_number(place: Place, tui_eval: Command) -> None:
    place.suite(n=2, more="[run]\nepochs = 2")
    tui_eval("run", "s.toml")
    whole = document(tui_eval("trace", "last", "--case", "case-1", "--json"))["trials"]
    assert [trial["epoch"] for trial in whole] == [0, 1]
    chosen = ("trace", "last", "--case", "case-1", "--target", "made-up", "--epoch", "2", "--json")
    (one,) = document(tui_eval(*chosen))["trials"]
    assert one == whole[1]
    by_number = tui_eval("trace", "last", "--trial", str(one["trial"]), "--json")
    assert document(by_number)["trials"] == [one]
    assert "made-up · epoch 2  trial" in tui_eval("trace", "last", "--case", "case-1").out


def test_what_is_not_there_is_refused_with_what_is(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite(n=1))
    for words, told in (
        ((), "say which: --case ID or --trial N"),
        (("--case", "a", "--trial", "1"), "say which: --case ID or --trial N"),
        (("--case", "case-9"), "did you mean 'case-0'?"),
        (("--trial", "99"), "has no trial 99; --case ID finds trials by case"),
        (("--case", "case-0", "--target", "mad-up"), "did you mean 'made-up'?"),
        (("--case", "case-0", "--epoch", "2"), "was asked 1 time: --epoch is at most 1"),
    ):
        done = tui_eval("trace", "last", *words)
        assert done.code == 2
        assert told in done.err
        assert not done.out


def test_foreign_text_is_harmless(place: Place, tui_eval: Command) -> None:
    suite = place.folder / place.suite(n=1)
    suite.write_text(suite.read_text().replace('"case-0"', r'"a\u001b[2J"'))
    tui_eval("run", suite.name)
    done = tui_eval("trace", "last", "--trial", "1")
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "a␛[2J" in done.out
    json.loads(tui_eval("trace", "last", "--trial", "1", "--json").out)
