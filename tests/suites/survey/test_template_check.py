from pathlib import Path

import pytest

from tests.suites.writing import TARGET, loaded
from tui_eval.model.json import JsonObject
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.survey.needed_names import unknown_names
from tui_eval.suites.survey.template_check import Survey, survey

DATA = '[dataset]\npath = "data.jsonl"\ntags = "topic"\n'
PROMPT = '[prompt]\nuser = "What is {{ country }}?"\n'
SCORER = '[[scorers]]\nkind = "exact"\nexpected = "{{ capital }}"\n'
ANY = '[[scorers]]\nkind = "exact"\nexpected = "x"\n'
ROWS: list[JsonObject] = [
    {"id": f"c{n}", "country": f"Land {n}", "capital": f"Town {n}", "topic": "x"} for n in range(6)
]


def surveyed(folder: Path, text: str, rows: list[JsonObject] = ROWS) -> Survey:
    return survey(loaded(folder, DATA + text, data_jsonl=rows))


def refused(folder: Path, text: str, rows: list[JsonObject] = ROWS) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        surveyed(folder, text, rows)
    return [str(mistake) for mistake in caught.value.mistakes]


def without(rows: list[JsonObject], column: str, *which: int) -> list[JsonObject]:
    return [
        {key: value for key, value in row.items() if key != column or n not in which}
        for n, row in enumerate(rows)
    ]


def test_it_says_what_would_run(tmp_path: Path) -> None:
    second = TARGET + 'name = "second"\n'
    found = surveyed(tmp_path, TARGET + second + PROMPT + SCORER + "[run]\nepochs = 3\n")
    assert (found.cases, len(found.columns), found.epochs, found.trials) == (6, 2, 3, 36)
    assert found.troubles == ()
    assert found.warnings == ()


def test_tokens_are_estimated_at_four_characters_each(tmp_path: Path) -> None:
    found = surveyed(tmp_path, TARGET + PROMPT + "[run]\nepochs = 2\n")
    assert found.input_tokens == {"simulated": 6 * len("What is Land 0?") * 2 // 4}


def test_failing_templates_are_grouped_with_counts_and_first_cases(tmp_path: Path) -> None:
    rows = without(ROWS, "capital", 0, 2, 3, 5)
    (trouble,) = surveyed(tmp_path, TARGET + PROMPT + SCORER, rows).troubles
    assert str(trouble) == (
        'scorers[0].expected: "capital" is undefined; there are id, country, topic '
        "(4 cases: c0, c2, c3, …)"
    )
    assert (trouble.count, trouble.name) == (4, "capital")


def test_a_null_that_is_expected_is_a_trouble(tmp_path: Path) -> None:
    rows: list[JsonObject] = [*ROWS, {"id": "z", "country": "Z", "capital": None}]
    (trouble,) = surveyed(tmp_path, TARGET + PROMPT + SCORER, rows).troubles
    assert str(trouble) == "scorers[0].expected: is null (1 case: z)"


def test_a_name_that_no_case_has_refuses_the_suite_with_its_line(tmp_path: Path) -> None:
    text = TARGET + PROMPT.replace("country", "countri") + SCORER.replace("capital", "capitl")
    assert refused(tmp_path, text) == [
        'suite.toml, line 8: prompt.user: no case has "countri"; did you mean "country"?',
        'suite.toml, line 11: scorers[0].expected: no case has "capitl"; did you mean "capital"?',
    ]


def test_a_name_inside_a_table_that_no_case_has_is_an_error_of_each_case(tmp_path: Path) -> None:
    rows: list[JsonObject] = [{"id": 1, "meta": {"topic": "x"}}]
    found = surveyed(tmp_path, TARGET + '[prompt]\nuser = "{{ meta.topc }}"\n', rows)
    assert [str(trouble) for trouble in found.troubles] == [
        'prompt.user: "topc" is undefined in a table; did you mean "topic"? (1 case: 1)'
    ]


def test_a_scorer_is_tried_only_where_it_applies(tmp_path: Path) -> None:
    scorer = SCORER + 'when = "{{ capital is defined }}"\n'
    rows = without(ROWS, "capital", 0, 1)
    assert surveyed(tmp_path, TARGET + PROMPT + scorer, rows).troubles == ()
    nobody = without(ROWS, "capital", *range(6))
    assert surveyed(tmp_path, TARGET + PROMPT + scorer, nobody).troubles == ()


def test_a_scorer_that_a_case_skips_is_not_tried_on_it(tmp_path: Path) -> None:
    rows: list[JsonObject] = [*ROWS, {"id": "z", "country": "Z", "skip": ["exact"]}]
    assert surveyed(tmp_path, TARGET + PROMPT + SCORER, rows).troubles == ()


def test_templates_over_the_output_wait_for_it(tmp_path: Path) -> None:
    scorer = '[[scorers]]\nkind = "exact"\nexpected = "{{ output | upper }}"\n'
    assert surveyed(tmp_path, TARGET + PROMPT + scorer).troubles == ()


def test_scorers_may_name_the_question(tmp_path: Path) -> None:
    scorer = '[[scorers]]\nkind = "includes"\nexpected = "{{ prompt }}{{ messages[0].role }}"\n'
    assert surveyed(tmp_path, TARGET + PROMPT + scorer).troubles == ()


def test_answers_of_a_simulated_target_are_tried(tmp_path: Path) -> None:
    text = PROMPT + '[[targets]]\nkind = "simulated"\nanswers = ["x", "{{ captal }}"]\n'
    assert refused(tmp_path, text) == [
        'suite.toml, line 8: targets[0].answers: no case has "captal"; did you mean "capital"?'
    ]


def test_columns_with_reserved_names_are_pointed_out(tmp_path: Path) -> None:
    rows: list[JsonObject] = [{"id": 1, "output": "x", "messages": [], "country": "x"}]
    assert surveyed(tmp_path, TARGET + PROMPT + ANY, rows).warnings == (
        (
            'the column "messages" has a name that templates may use for something else: write '
            "case.messages"
        ),
        (
            'the column "output" has a name that templates may use for something else: write '
            "case.output"
        ),
    )


def test_columns_called_like_values_of_templates_are_pointed_out(tmp_path: Path) -> None:
    rows: list[JsonObject] = [{"id": 1, "none": "x", "True": "y", "country": "x"}]
    assert surveyed(tmp_path, TARGET + PROMPT + ANY, rows).warnings == (
        'the column "none" is called like a value of templates: write case.none',
        'the column "True" is called like a value of templates: write case.True',
    )


@pytest.mark.parametrize(
    ("roles", "line", "said"),
    [
        (("user", "assistant"), 10, "prompt.messages[1]: the last message is the assistant's"),
        (("user", "system"), 10, "prompt.messages[1]: a system message after"),
        (("assistant", "developer", "user"), 10, "prompt.messages[1]: a developer message after"),
        (("system",), 8, "prompt.messages: there are instructions only"),
        (("system", "developer", "user"), 0, ""),
        (("user", "assistant", "user"), 0, ""),
        (("user",), 0, ""),
    ],
)
def test_messages_in_an_order_that_endpoints_may_refuse_are_pointed_out(
    tmp_path: Path, roles: tuple[str, ...], line: int, said: str
) -> None:
    written = [f'  {{ role = "{role}", content = "x" }},\n' for role in roles]
    found = surveyed(
        tmp_path, f"{TARGET}[prompt]\nmessages = [\n{''.join(written)}]\n{ANY}"
    ).warnings
    assert [one.startswith(f"suite.toml, line {line}: {said}") for one in found] == (
        [True] if said else []
    ), found


def test_a_recording_in_the_dataset_is_no_column_to_point_out(tmp_path: Path) -> None:
    rows: list[JsonObject] = [{"id": 1, "output": "x", "country": "x"}]
    replay = '[[targets]]\nkind = "replay"\npath = "data.jsonl"\n'
    assert surveyed(tmp_path, replay + ANY, rows).warnings == ()
    used = '[[scorers]]\nkind = "includes"\nexpected = "{{ output }}"\n'
    (warning,) = surveyed(tmp_path, replay + used, rows).warnings
    assert "case.output" in warning


@pytest.mark.parametrize(
    ("scorers", "why"),
    [("", "there are no [[scorers]]"), (ANY + "required = false\n", "no scorer is required")],
)
def test_a_suite_that_requires_nothing_is_pointed_out(
    tmp_path: Path, scorers: str, why: str
) -> None:
    assert surveyed(tmp_path, TARGET + PROMPT + scorers).warnings == (
        f"nothing is required of the outputs, so every one will pass: {why}",
    )


def test_cases_of_which_nothing_is_required_are_pointed_out(tmp_path: Path) -> None:
    own: JsonObject = {"kind": "exact", "expected": "x", "name": "own"}
    rows: list[JsonObject] = [
        *ROWS,
        {"id": "a", "country": "x", "skip": ["exact"]},
        {
            "id": "optional",
            "country": "x",
            "skip": ["exact"],
            "scorers": [own | {"required": False}],
        },
        {"id": "own", "country": "x", "skip": ["exact"], "scorers": [own]},
    ]
    assert surveyed(tmp_path, TARGET + PROMPT + ANY, rows).warnings == (
        "nothing is required of the outputs of 2 of 9 cases, so every one will pass: a, optional",
    )


def test_missing_recordings_are_counted(tmp_path: Path) -> None:
    replay = (
        '[[targets]]\nkind = "replay"\nname = "old"\npath = "data.jsonl"\noutput = "said"\n' + ANY
    )
    rows = [{**row, "said": "x"} if n < 1 else row for n, row in enumerate(ROWS)]
    assert surveyed(tmp_path, replay, rows).warnings == (
        'target "old" has no recording for 5 of 6: c1, c2, c3, …',
    )


def test_a_gate_for_a_tag_that_no_case_has_is_pointed_out(tmp_path: Path) -> None:
    text = TARGET + PROMPT + ANY + "[gate.tags.y]\npass_rate = 1\n[gate.tags.x]\npass_rate = 1\n"
    assert surveyed(tmp_path, text).warnings == (
        '[gate.tags."y"]: no case has this tag; there are x',
    )


def test_a_suite_whose_filter_leaves_nothing_is_refused(tmp_path: Path) -> None:
    text = TARGET.replace("[[targets]]", "filter = \"{{ topic == 'y' }}\"\n[[targets]]")
    assert refused(tmp_path, text) == [
        "suite.toml, line 1: dataset: no case is left; its filter leaves none"
    ]
    assert refused(tmp_path, TARGET, []) == [
        "suite.toml, line 1: dataset: no case is left; its data is empty"
    ]


def test_bad_data_is_told_as_such(tmp_path: Path) -> None:
    assert refused(tmp_path, TARGET, [{"id": 1}, {"id": 1}]) == [
        'data.jsonl, line 2: id: the id "1" is there twice, first in data.jsonl, line 1'
    ]


def test_names_can_be_compared_with_columns_without_rendering(tmp_path: Path) -> None:
    text = (
        TARGET + PROMPT + SCORER + '[[scorers]]\nkind = "includes"\nexpected = "{{ extra }}"\n'
        'when = "{{ extra is defined }}"\n'
        '[[scorers]]\nkind = "fuzzy"\nexpected = "{{ other | default(capital) }}{{ output }}"\n'
    )
    suite = loaded(tmp_path, DATA + text, data_jsonl=ROWS)
    assert unknown_names(suite, {"country", "capital"}) == ()
    assert [str(mistake) for mistake in unknown_names(suite, {"country"})] == [
        'suite.toml, line 11: scorers[0].expected: no case has "capital"; there are country',
        'suite.toml, line 18: scorers[2].expected: no case has "capital"; there are country',
    ]
