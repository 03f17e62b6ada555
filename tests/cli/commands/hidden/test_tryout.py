"""The hidden command behind the edit loop: JSON lines, nothing recorded."""

import json
from pathlib import Path

from tests.cli.conftest import Command, Place

JUDGED = """
[judge]
model = "m"
base_url = "https://elsewhere.invalid/v1"
api_key_env = "SECRET_KEY"
[[scorers]]
kind = "judge"
name = "good"
rubric = "good?"
scale = "pass-fail"
"""


def test_a_suite_that_now_wants_more_says_so_and_is_not_tried(
    place: Place, tui_eval: Command
) -> None:
    suite = place.suite(n=3)
    tui_eval("run", suite)
    file = Path(suite)
    file.write_text(file.read_text() + JUDGED)
    done = tui_eval("tryout", "last", suite)
    (said,) = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert list(said) == ["wants"]
    assert "SECRET_KEY" in said["wants"][0]


def test_what_would_change_is_told_line_by_line(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=3)
    tui_eval("run", suite)
    before = json.loads(tui_eval("show", "last", "--json").out)
    file = Path(suite)
    file.write_text(file.read_text().replace('expected = "{{ answer }}"', 'expected = "wrong"'))
    said = [json.loads(line) for line in tui_eval("tryout", "last", suite).out.splitlines()]
    assert said[0]["changed"] == ["scorer exact changed"]
    assert len([one for one in said if "flip" in one]) == before["counts"]["passed"]
    assert said[-1] == {"end": True}
    assert json.loads(tui_eval("show", "last", "--json").out) == before


def test_a_judge_that_is_changed_is_told_by_how_many_calls_it_takes(
    place: Place, tui_eval: Command
) -> None:
    suite = place.suite(n=3)
    tui_eval("run", suite)
    file = Path(suite)
    judged = JUDGED.replace("https://elsewhere.invalid/v1", "http://127.0.0.1:9/v1")
    file.write_text(file.read_text() + judged.replace('api_key_env = "SECRET_KEY"\n', ""))
    said = [json.loads(line) for line in tui_eval("tryout", "last", suite).out.splitlines()]
    assert said[0]["changed"] == ["scorer good new", "judge new"]
    assert (said[-2]["tried"]["judged"], said[-2]["tried"]["judge_calls"]) == (3, 1)
