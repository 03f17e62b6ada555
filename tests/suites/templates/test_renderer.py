from pathlib import Path

import pytest

from tests.suites.writing import TARGET, loaded
from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.spec import Suite
from tui_eval.suites.survey.template_check import survey
from tui_eval.suites.templates.renderer import Renderer, columns
from tui_eval.suites.templates.template import TemplateError

CASES = '[[cases]]\nid = "fr"\ncountry = "France"\ncapital = "Paris"\n'
NAMED = '[[prompts]]\nname = "{0}"\nuser = "{0} {{{{ country }}}}"\n'


def first_messages(suite: Suite, column: int = 0) -> list[JsonObject]:
    """Render the suite's first case for one of its columns."""
    return Renderer(suite).messages(columns(suite)[column], next(cases(suite)))


def messages(folder: Path, prompt: str, **files: list[JsonObject]) -> list[JsonObject]:
    suite = loaded(folder, CASES + TARGET + prompt, **files)
    return first_messages(suite)


def test_system_and_user_are_rendered(tmp_path: Path) -> None:
    prompt = '[prompt]\nsystem = "Be brief, {{ id }}."\nuser = "Capital of {{ country }}?"\n'
    assert messages(tmp_path, prompt) == [
        {"role": "system", "content": "Be brief, fr."},
        {"role": "user", "content": "Capital of France?"},
    ]


def test_a_conversation_is_rendered_message_by_message(tmp_path: Path) -> None:
    prompt = """[prompt]
messages = [
  { role = "developer", content = "Be brief." },
  { role = "user", content = "{{ country }}?" },
  { role = "assistant", content = "Yes?" },
  { role = "user", content = "{{ case.capital }}!" },
]
"""
    assert messages(tmp_path, prompt) == [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "France?"},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Paris!"},
    ]


def test_what_is_no_text_is_written_as_one(tmp_path: Path) -> None:
    suite = loaded(tmp_path, '[[cases]]\nn = 4\n[prompt]\nuser = "{{ n }}"\n' + TARGET)
    found = first_messages(suite)
    assert found == [{"role": "user", "content": "4"}]


def test_a_suite_without_a_prompt_sends_nothing(tmp_path: Path) -> None:
    assert messages(tmp_path, "") == []


def test_a_column_is_called_as_its_target_where_there_is_one_prompt(tmp_path: Path) -> None:
    suite = loaded(tmp_path, CASES + TARGET + '[prompt]\nuser = "x"\n')
    assert columns(suite) == (Column(0, "simulated", "simulated", None),)


def test_every_target_runs_every_prompt_it_names(tmp_path: Path) -> None:
    text = CASES + NAMED.format("short") + NAMED.format("long")
    text += TARGET + TARGET + 'name = "b"\nprompts = ["long"]\n'
    suite = loaded(tmp_path, text)
    assert columns(suite) == (
        Column(0, "simulated/short", "simulated", "short"),
        Column(1, "simulated/long", "simulated", "long"),
        Column(2, "b/long", "b", "long"),
    )
    renderer = Renderer(suite)
    case = next(cases(suite))
    assert [renderer.messages(column, case)[0]["content"] for column in renderer.columns] == [
        "short France",
        "long France",
        "long France",
    ]


def test_one_named_prompt_is_named_in_the_column(tmp_path: Path) -> None:
    suite = loaded(tmp_path, CASES + NAMED.format("short") + TARGET)
    assert [column.name for column in columns(suite)] == ["simulated/short"]


def test_what_fails_names_the_field(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r'^prompt\.user: "countri" is undefined; did you mean'):
        messages(tmp_path, '[prompt]\nuser = "{{ countri }}"\n')
    prompts = NAMED.format("a") + NAMED.format("b").replace("country", "countri")
    suite = loaded(tmp_path, CASES + prompts + TARGET)
    with pytest.raises(TemplateError, match=r"^prompts\[1\]\.user: "):
        first_messages(suite, 1)


SHOTS: list[JsonObject] = [
    {"id": "pt", "country": "Portugal", "capital": "Lisbon"},
    {"id": "fr", "country": "France", "capital": "Paris"},
    {"id": "se", "country": "Sweden", "capital": "Stockholm"},
    {"id": "jp", "country": "Japan", "capital": "Tokyo"},
]
EXAMPLES = """[prompt]
system = "Be brief."
user = "Capital of {{ country }}?"
[prompt.examples]
path = "shots.jsonl"
assistant = "{{ capital }}"
"""


def said(found: list[JsonObject]) -> list[str]:
    return [f"{message['role']}: {message['content']}" for message in found]


def test_examples_stand_between_the_instruction_and_the_question(tmp_path: Path) -> None:
    found = messages(tmp_path, EXAMPLES + "n = 1\n", shots_jsonl=SHOTS)
    assert said(found) == [
        "system: Be brief.",
        "user: Capital of Portugal?",
        "assistant: Lisbon",
        "user: Capital of France?",
    ]


def test_the_case_itself_is_never_an_example_and_another_takes_its_place(tmp_path: Path) -> None:
    found = messages(tmp_path, EXAMPLES + "n = 2\n", shots_jsonl=SHOTS)
    assert [m["content"] for m in found if m["role"] == "assistant"] == ["Lisbon", "Stockholm"]


def test_the_same_question_is_no_example_whatever_its_row_says(tmp_path: Path) -> None:
    shots: list[JsonObject] = [{"country": "France", "capital": "Lyon"}, SHOTS[0]]
    found = messages(tmp_path, EXAMPLES, shots_jsonl=shots)
    assert [m["content"] for m in found if m["role"] == "assistant"] == ["Lisbon"]


def test_a_condition_says_which_examples_a_case_may_have(tmp_path: Path) -> None:
    shots: list[JsonObject] = [
        {"country": f"{where}{number}", "capital": f"c{number}", "where": where}
        for number in range(3)
        for where in ("Asia", "Europe")
    ]
    written = """[[cases]]
id = "fr"
country = "France"
region = "Europe"
[[cases]]
id = "jp"
country = "Japan"
region = "Asia"
[[cases]]
id = "ke"
country = "Kenya"
region = "Africa"
"""
    where = 'n = 2\nwhere = "{{ example.where == region }}"\n'
    suite = loaded(tmp_path, written + TARGET + EXAMPLES + where, shots_jsonl=shots)
    renderer = Renderer(suite)
    asked = {
        case.id: [m["content"] for m in renderer.messages(columns(suite)[0], case)][1:-1:2]
        for case in cases(suite)
    }
    assert asked == {
        "fr": ["Capital of Europe0?", "Capital of Europe1?"],
        "jp": ["Capital of Asia0?", "Capital of Asia1?"],
        "ke": [],
    }


def test_a_condition_on_examples_that_nobody_can_meet_is_refused(tmp_path: Path) -> None:
    where = 'where = "{{ example.country == regoin }}"\n'
    suite = loaded(tmp_path, CASES + TARGET + EXAMPLES + where, shots_jsonl=SHOTS)
    with pytest.raises(SuiteError, match=r'prompt\.examples\.where: no case has "regoin"'):
        survey(suite)


def test_without_n_all_examples_are_given(tmp_path: Path) -> None:
    found = messages(tmp_path, EXAMPLES, shots_jsonl=SHOTS)
    assert len([m for m in found if m["role"] == "assistant"]) == 3


def test_a_seed_draws_the_examples_alike_for_every_case(tmp_path: Path) -> None:
    def drawn(seed: int) -> tuple[str, ...]:
        text = CASES + '[[cases]]\nid = "ke"\ncountry = "Kenya"\n' + TARGET
        shots: list[JsonObject] = [
            {"country": f"C{number}", "capital": f"c{number}"} for number in range(30)
        ]
        suite = loaded(tmp_path, text + EXAMPLES + f"n = 5\nseed = {seed}\n", shots_jsonl=shots)
        renderer = Renderer(suite)
        per_case = {
            tuple(
                str(message["content"])
                for message in renderer.messages(renderer.columns[0], case)
                if message["role"] == "assistant"
            )
            for case in cases(suite)
        }
        assert len(per_case) == 1
        return per_case.pop()

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert len(drawn(1)) == 5


def test_examples_as_text_stand_before_the_question(tmp_path: Path) -> None:
    found = messages(tmp_path, EXAMPLES + 'as = "text"\nn = 2\n', shots_jsonl=SHOTS)
    assert said(found) == [
        "system: Be brief.",
        (
            "user: Capital of Portugal?\nLisbon\n\nCapital of Sweden?\nStockholm\n\n"
            "Capital of France?"
        ),
    ]


def test_examples_as_text_stand_where_the_prompt_wants_them(tmp_path: Path) -> None:
    prompt = """[prompt]
system = "Like this:\\n{{ examples }}"
user = "{{ country }}?"
[prompt.examples]
path = "shots.jsonl"
n = 2
as = "text"
user = "{{ country }}:"
assistant = "{{ capital }}"
"""
    assert said(messages(tmp_path, prompt, shots_jsonl=SHOTS)) == [
        "system: Like this:\nPortugal:\nLisbon\n\nSweden:\nStockholm",
        "user: France?",
    ]


def test_an_example_that_cannot_be_rendered_is_told(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"prompt\.examples\.assistant: .capital. is undefined"):
        messages(tmp_path, EXAMPLES, shots_jsonl=[{"country": "Peru"}])


def test_names_are_the_fields_and_the_whole_row() -> None:
    case = Case(seq=0, id="a", fields={"case": "mine", "x": 1})
    assert Renderer.names(case) == {"x": 1, "case": {"case": "mine", "x": 1}}


def test_rendering_does_not_change_the_suite(tmp_path: Path) -> None:
    suite = loaded(tmp_path, CASES + TARGET + EXAMPLES, shots_jsonl=SHOTS)
    before = suite.model_dump_json()
    first_messages(suite)
    assert Suite.model_validate_json(before) == suite
