from pathlib import Path

import pytest

from tests.suites.writing import TARGET, loaded, told, write
from tui_eval.suites.data.files import formats
from tui_eval.suites.spec import ModelTargetSpec, ReplayTargetSpec

CASES = "[[cases]]\nid = 1\n"
MODEL = '[[targets]]\nmodel = "m"\nprovider = "openai"\n'


def test_prompt_files_become_texts(tmp_path: Path) -> None:
    text = CASES + TARGET + '[prompt]\nsystem_file = "a.md"\nuser_file = "b.md"\n'
    suite = loaded(tmp_path, text, a_md=b"\xef\xbb\xbfBe brief.", b_md="Why {{ id }}?\n")
    prompt = suite.prompts[0]
    assert (prompt.system, prompt.user) == ("Be brief.", "Why {{ id }}?\n")
    assert (prompt.system_file, prompt.user_file) == (None, None)


def test_a_mistake_in_a_prompt_file_is_told_where_the_file_is_named(tmp_path: Path) -> None:
    text = CASES + TARGET + '[prompt]\nuser_file = "b.md"\n'
    assert told(write(tmp_path, text, b_md="\n{{ id | uper }}")) == [
        'suite.toml, line 7: prompt.user_file: unknown filter "uper"; did you mean "upper"?'
    ]
    assert told(write(tmp_path, text, b_md=b"\xff")) == [
        'suite.toml, line 7: prompt.user_file: "b.md" is not UTF-8 text'
    ]


def test_examples_become_rows(tmp_path: Path) -> None:
    text = (
        CASES
        + TARGET
        + ('[prompt]\nuser = "x"\n[prompt.examples]\npath = "shots.csv"\nassistant = "{{ a }}"\n')
    )
    examples = loaded(tmp_path, text, shots_csv="a,b\n1,2\n").prompts[0].examples
    assert examples is not None
    assert examples.rows == ({"a": "1", "b": "2"},)
    assert examples.path is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"a": 1}\nx\n', "shots.jsonl, line 2: is not JSON in column 1: expecting value"),
        (
            '{"a": "\\ud800"}\n',
            (
                "suite.toml, line 9: prompt.examples.path: holds half a character (a lone "
                "surrogate), no text"
            ),
        ),
    ],
)
def test_bad_examples_are_told(tmp_path: Path, content: str, expected: str) -> None:
    text = (
        CASES
        + TARGET
        + ('[prompt]\nuser = "x"\n[prompt.examples]\npath = "shots.jsonl"\nassistant = "{{ a }}"\n')
    )
    assert told(write(tmp_path, text, shots_jsonl=content)) == [expected]


def test_tools_become_a_list(tmp_path: Path) -> None:
    text = CASES + '[prompt]\nuser = "x"\n' + MODEL + 'tools = "t.json"\n'
    target = loaded(tmp_path, text, t_json='[{"type": "function"}]').targets[0]
    assert isinstance(target, ModelTargetSpec)
    assert target.tools == ({"type": "function"},)
    assert told(write(tmp_path, text, t_json="{}")) == [
        'suite.toml, line 8: targets[0].tools: "t.json" must hold a list of tools: [{…}, …]'
    ]
    assert told(write(tmp_path, text, t_json="[")) == [
        (
            'suite.toml, line 8: targets[0].tools: "t.json" is not JSON in line 1, column 2: '
            "expecting value"
        )
    ]


def test_a_schema_file_becomes_the_schema(tmp_path: Path) -> None:
    text = CASES + TARGET + '[[scorers]]\nkind = "json_schema"\nschema_file = "s.json"\n'
    scorer = loaded(tmp_path, text, s_json='{"type": "object"}').scorers[0]
    assert scorer.kind == "json_schema"
    assert (scorer.json_schema, scorer.schema_file) == ({"type": "object"}, None)
    assert told(write(tmp_path, text, s_json='{"type": "objekt"}')) == [
        (
            'suite.toml, line 8: scorers[0].schema_file: "s.json": no JSON Schema: at $.type: '
            "'objekt' is not valid under any of the given schemas"
        )
    ]
    assert told(write(tmp_path, text, s_json="[]")) == [
        'suite.toml, line 8: scorers[0].schema_file: "s.json" must hold a JSON Schema'
    ]


def test_paths_of_data_become_absolute(tmp_path: Path) -> None:
    text = '[dataset]\npath = "./x/../d.jsonl"\n[[targets]]\nkind = "replay"\npath = "d.jsonl"\n'
    (tmp_path / "x").mkdir()
    suite = loaded(tmp_path, text, d_jsonl=[{"id": 1, "output": "a"}])
    assert suite.dataset.path == str(tmp_path / "d.jsonl")
    assert isinstance(suite.targets[0], ReplayTargetSpec)
    assert suite.targets[0].path == suite.dataset.path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("none.jsonl", 'no such file "none.jsonl"'),
        ("*.csv", 'no file matches "*.csv"'),
        ("sub", '"sub" is a folder; write sub/*.jsonl for all its files'),
        (
            "d.xlsx",
            f'"d.xlsx" has an unknown format; use {formats()}',
        ),
    ],
)
def test_a_path_that_leads_to_no_data_is_told(tmp_path: Path, path: str, expected: str) -> None:
    (tmp_path / "sub").mkdir()
    found = told(write(tmp_path, f'[dataset]\npath = "{path}"\n{TARGET}', d_xlsx="x"))
    assert found == [f"suite.toml, line 2: dataset.path: {expected}"]
