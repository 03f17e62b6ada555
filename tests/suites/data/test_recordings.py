from pathlib import Path

import pytest

from tests.suites.writing import loaded
from tui_eval.model.case import Case
from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.spec import Suite
from tui_eval.suites.survey.template_check import survey
from tui_eval.suites.templates.renderer import Renderer

DATA = '[dataset]\npath = "data.jsonl"\n'
ROWS: list[JsonObject] = [{"id": "a"}, {"id": "b"}]


def recorded(folder: Path, target: str, said: list[JsonObject]) -> list[dict[str, JsonObject]]:
    text = f'{DATA}[[targets]]\nkind = "replay"\npath = "said.jsonl"\n{target}'
    suite = loaded(folder, text, data_jsonl=ROWS, said_jsonl=said)
    return [case.recorded for case in cases(suite)]


def test_a_recording_is_found_by_the_id_of_the_case(tmp_path: Path) -> None:
    said: list[JsonObject] = [{"id": "b", "output": "two"}, {"id": "z", "output": "nobody"}]
    assert recorded(tmp_path, "", said) == [{}, {"replay": {"output": "two"}}]


def test_every_column_can_be_called_otherwise(tmp_path: Path) -> None:
    target = """
name = "old"
id = "case_id"
output = "answer.text"
latency_s = "took"
finish_reason = "why"
messages = "trail"
"""
    said: list[JsonObject] = [
        {
            "case_id": "a",
            "answer": {"text": "one"},
            "took": "1.5",
            "why": "length",
            "trail": [{"role": "assistant", "content": "one"}],
        },
        {"case_id": "b", "answer": {"text": "two"}, "took": None, "why": None},
    ]
    assert recorded(tmp_path, target, said) == [
        {
            "old": {
                "output": "one",
                "latency_s": 1.5,
                "finish_reason": "length",
                "messages": [{"role": "assistant", "content": "one"}],
            }
        },
        {"old": {"output": "two"}},
    ]


def test_what_is_no_text_is_recorded_as_json(tmp_path: Path) -> None:
    said: list[JsonObject] = [{"id": "a", "output": {"é": 1}}, {"id": "b", "output": 42}]
    assert recorded(tmp_path, "", said) == [
        {"replay": {"output": '{"é": 1}'}},
        {"replay": {"output": "42"}},
    ]


def test_a_null_output_is_no_recording(tmp_path: Path) -> None:
    said: list[JsonObject] = [{"id": "a", "output": None}, {"id": "b", "output": ""}]
    assert recorded(tmp_path, "", said) == [{}, {"replay": {"output": ""}}]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"output": "x"}, 'has no column "id" to find its case by'),
        (
            {"id": "b", "output": "x", "epoch": 0},
            'column "epoch" must say in all rows which epoch it is, or in none',
        ),
        (
            {"id": "b", "output": "x", "took": -1},
            'column "took" must hold a number of seconds ≥ 0',
        ),
        (
            {"id": "b", "output": "x", "took": "x"},
            'column "took" must hold a number of seconds ≥ 0',
        ),
        ({"id": "b", "output": "x", "why": 1}, 'column "why" must hold a text'),
        ({"id": "b", "output": "x", "trail": "x"}, 'column "trail" must hold a list of messages'),
        ({"id": [1], "output": "x"}, 'the id in column "id" must be a text or a whole number'),
    ],
)
def test_a_bad_recording_is_told_with_its_line(
    tmp_path: Path, row: JsonObject, expected: str
) -> None:
    target = 'latency_s = "took"\nfinish_reason = "why"\nmessages = "trail"\n'
    with pytest.raises(SuiteError) as caught:
        recorded(tmp_path, target, [{"id": "a", "output": "x"}, row])
    assert [str(one) for one in caught.value.mistakes] == [f"said.jsonl, line 2: {expected}"]


def test_a_bad_recording_in_another_folder_is_named_with_it(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "data.jsonl").write_text('{"output": "x"}\n')
    text = f'{DATA}[[targets]]\nkind = "replay"\npath = "old/data.jsonl"\n'
    suite = loaded(tmp_path, text, data_jsonl=ROWS)
    with pytest.raises(SuiteError, match=r"^old/data\.jsonl, line 1: has no column"):
        list(cases(suite))


def test_the_dataset_may_be_its_own_recording(tmp_path: Path) -> None:
    text = f'{DATA}[[targets]]\nkind = "replay"\npath = "data.jsonl"\nlatency_s = "s"\n'
    rows: list[JsonObject] = [{"id": "a", "output": "one", "s": 2}, {"id": "b"}]
    suite = loaded(tmp_path, text, data_jsonl=rows)
    assert [case.recorded for case in cases(suite)] == [
        {"replay": {"output": "one", "latency_s": 2.0}},
        {},
    ]


def test_a_bad_recording_in_the_dataset_is_the_rows_mistake(tmp_path: Path) -> None:
    text = f'{DATA}[[targets]]\nkind = "replay"\npath = "data.jsonl"\nlatency_s = "s"\n'
    suite = loaded(tmp_path, text, data_jsonl=[{"id": "a", "output": "one", "s": "x"}])
    with pytest.raises(SuiteError, match=r'data.jsonl, line 1: column "s" must hold a number'):
        list(cases(suite))


def test_several_recordings_stand_beside_each_other(tmp_path: Path) -> None:
    text = DATA + "".join(
        f'[[targets]]\nkind = "replay"\nname = "{name}"\npath = "{name}.csv"\n'
        for name in ("x", "y")
    )
    suite = loaded(
        tmp_path,
        text,
        data_jsonl=ROWS,
        x_csv="id,output\na,1\nb,2\n",
        y_csv="id,output\nb,3\n",
    )
    assert [case.recorded for case in cases(suite)] == [
        {"x": {"output": "1"}},
        {"x": {"output": "2"}, "y": {"output": "3"}},
    ]


def test_a_recording_may_have_epochs_and_stand_by_prompt(tmp_path: Path) -> None:
    text = (
        f'{DATA}[[prompts]]\nname = "p"\nuser = "x"\n[[prompts]]\nname = "q"\nuser = "y"\n'
        '[[targets]]\nkind = "replay"\npath = "data.jsonl"\nlatency_s = "s"\n'
        'record = { p = "said.p", q = "said.q" }\n[run]\nepochs = 2\n'
    )
    rows: list[JsonObject] = [
        {"id": "a", "said": {"p": [{"output": "one", "s": 1}, {"output": "two"}], "q": None}},
        {"id": "b", "said": {"p": [{"output": "three"}, None], "q": {"output": "four"}}},
    ]
    suite = loaded(tmp_path, text, data_jsonl=rows)
    p, q = Renderer(suite).columns
    first, second = cases(suite)
    assert first.recording(p, 0) == {"output": "one", "latency_s": 1.0}
    assert first.recording(p, 1) == {"output": "two"}
    assert (first.recording(q), second.recording(p, 1)) == (None, None)
    assert second.recording(q, 1) == {"output": "four"}, "said once, it stands for each epoch"
    assert Case.from_json(0, "a", first.as_json()).recording(p, 1) == {"output": "two"}
    warnings = survey(suite).warnings
    assert 'target "replay/p" has no recording of every epoch for 1 of 2: b' in warnings
    assert 'target "replay/q" has no recording of every epoch for 1 of 2: a' in warnings


REPEATS = 'target "replay" has recordings of 2 epochs, and [run] epochs is 1'


def said_in(folder: Path, said: list[JsonObject], more: str = "", run: str = "epochs = 3") -> Suite:
    text = f'{DATA}[[targets]]\nkind = "replay"\npath = "said.jsonl"\n{more}\n[run]\n{run}\n'
    return loaded(folder, text, data_jsonl=ROWS, said_jsonl=said)


def by_epoch(suite: Suite) -> list[list[Json]]:
    column = Renderer(suite).columns[0]
    found = [[case.recording(column, epoch) for epoch in range(3)] for case in cases(suite)]
    return [[None if one is None else one["output"] for one in of_case] for of_case in found]


def test_several_rows_of_a_case_are_its_epochs_as_they_come(tmp_path: Path) -> None:
    said: list[JsonObject] = [
        {"id": "a", "output": "1"}, {"id": "b", "output": "2"}, {"id": "a", "output": None},
        {"id": "a", "output": "3"},
    ]  # fmt: skip
    suite = said_in(tmp_path, said)
    assert by_epoch(suite) == [["1", None, "3"], ["2", None, None]]
    assert (
        'target "replay" has no recording of every epoch for 2 of 2: a, b' in survey(suite).warnings
    )


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("column", ["epoch", "run.no"])
def test_a_column_says_which_epoch_a_row_is(tmp_path: Path, start: int, column: str) -> None:
    def at(epoch: int) -> JsonObject:
        return {"epoch": epoch} if column == "epoch" else {"run": {"no": str(epoch)}}

    said: list[JsonObject] = [
        {"id": "a", "output": "3", **at(start + 2)}, {"id": "a", "output": "1", **at(start)},
        {"id": "b", "output": "2", **at(start + 1)},
    ]  # fmt: skip
    more = "" if column == "epoch" else f'epoch = "{column}"'
    assert by_epoch(said_in(tmp_path, said, more)) == [["1", None, "3"], [None, "2", None]]


def test_rows_that_are_all_of_one_epoch_stand_for_each(tmp_path: Path) -> None:
    said: list[JsonObject] = [{"id": one, "output": one, "epoch": 0} for one in ("a", "b")]
    assert by_epoch(said_in(tmp_path, said)) == [["a"] * 3, ["b"] * 3]


def test_an_epoch_is_recorded_once(tmp_path: Path) -> None:
    said: list[JsonObject] = [{"id": "a", "output": "x", "epoch": 1}] * 2
    with pytest.raises(SuiteError, match='line 2: case "a" is recorded twice in epoch 1, first in'):
        list(cases(said_in(tmp_path, said)))


@pytest.mark.parametrize("value", ["x", -1, True, 1.5, [], 10_001])
def test_what_is_no_epoch_is_told(tmp_path: Path, value: Json) -> None:
    with pytest.raises(SuiteError, match='line 1: column "epoch" must hold'):
        list(cases(said_in(tmp_path, [{"id": "a", "output": "x", "epoch": value}])))


def test_epochs_that_a_run_does_not_ask_for_are_told(tmp_path: Path) -> None:
    said: list[JsonObject] = [{"id": one, "output": "x"} for one in "aabb"]
    assert any(one.startswith(REPEATS) for one in survey(said_in(tmp_path, said, "", "")).warnings)
    assert not survey(said_in(tmp_path, said, "", "epochs = 2")).warnings[1:]


def test_epochs_of_rows_hold_prompts(tmp_path: Path) -> None:
    text = (
        f'{DATA}[[prompts]]\nname = "p"\nuser = "x"\n[[targets]]\nkind = "replay"\n'
        'path = "said.jsonl"\nrecord = { p = "by.p" }\n[run]\nepochs = 2\n'
    )
    said: list[JsonObject] = [{"id": "a", "by": {"p": {"output": str(n)}}} for n in range(2)]
    suite = loaded(tmp_path, text, data_jsonl=ROWS, said_jsonl=said)
    first = next(iter(cases(suite)))
    column = Renderer(suite).columns[0]
    assert [first.recording(column, n) for n in range(2)] == [{"output": "0"}, {"output": "1"}]


def test_a_recording_for_a_prompt_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    text = f'{DATA}[[targets]]\nkind = "replay"\npath = "data.jsonl"\nrecord = {{ p = "said" }}\n'
    with pytest.raises(SuiteError, match='no prompt is called "p"'):
        loaded(tmp_path, text, data_jsonl=ROWS)
