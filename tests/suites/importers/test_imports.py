"""What the files of other tools come to: a suite that checks, and a list of what is not in it."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tui_eval.engine.preflight.import_comparison import import_suite
from tui_eval.suites.importers import reading
from tui_eval.suites.importers.catalogue import FORMATS
from tui_eval.suites.importers.formats import guess, read
from tui_eval.suites.importers.tables import TableChoices
from tui_eval.suites.importers.writing import WrittenSuite, write
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.templates.template import Template

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

DATA = Path(__file__).parents[2] / "data" / "imports"
PROMPTFOO = DATA / "promptfoo" / "promptfooconfig.yaml"
SUMS = DATA / "some__model" / "samples_sums_2025-01-01T10-00-00.000000.jsonl"
LIKELY = DATA / "some__model" / "samples_likely_2025-01-01T10-00-00.000000.jsonl"


def brought_in(
    format_name: str, file: Path, folder: Path, wanted: TableChoices | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]], WrittenSuite]:
    """Import a file; give the suite and its cases as they stand on disk."""
    written = write(read(format_name, file, wanted), folder / "suite.toml", file)
    suite = tomllib.loads(written.suite.read_text())
    lines = written.dataset.read_text().splitlines()
    assert len(lines) == written.cases
    return suite, [json.loads(line) for line in lines], written


def told(written: WrittenSuite) -> str:
    return "\n".join(str(one) for one in written.lost)


@pytest.mark.parametrize(
    ("file", "format_name"),
    [
        (PROMPTFOO, "promptfoo"),
        (DATA / "promptfoo-results.json", "promptfoo"),
        (DATA / "inspect.json", "inspect"),
        (SUMS, "lm-eval"),
        (DATA / "chat.jsonl", "openai-evals"),
        (DATA / "choices.jsonl", "jsonl"),
        (DATA / "legs.csv", "csv"),
    ],
)
def test_a_format_is_known_by_the_file(file: Path, format_name: str) -> None:
    assert guess(file) == format_name
    assert format_name in FORMATS


# --- tables


def test_columns_are_guessed_by_their_names_and_said(tmp_path: Path) -> None:
    suite, cases, written = brought_in("csv", DATA / "legs.csv", tmp_path)
    assert suite["prompt"]["user"] == "{{ Question }}"
    assert suite["scorers"] == [{"kind": "numeric", "expected": "{{ Answer }}"}]
    assert cases[0]["Question;with"] == "x"
    assert 'the question is the column "Question", by its name' in told(written)


def test_a_choice_counted_from_nought_and_a_column_that_would_mean_something(
    tmp_path: Path,
) -> None:
    suite, cases, written = brought_in("jsonl", DATA / "choices.jsonl", tmp_path)
    assert suite["scorers"][0]["expected"] == "{{ (options | list)[answer | int] }}"
    assert [case["its_weight"] for case in cases] == ["heavy", "light"]
    assert 'the column "weight" means something here' in told(written)


def test_what_the_person_says_wins_and_rows_without_an_answer_are_told(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"a": "x?", "b": "y"}\n{"a": "z?", "b": null}\n{"a": "", "b": "n"}\n')
    wanted = TableChoices(input="a", expected="b", scorer="includes")
    suite, cases, written = brought_in("jsonl", table, tmp_path, wanted)
    assert suite["scorers"][0]["kind"] == "includes"
    assert "b is not none" in suite["scorers"][0]["when"]
    assert len(cases) == 2
    assert "1 of 2 cases have no right answer" in told(written)
    assert "line 3: has no question: it was left out" in told(written)


def test_a_table_without_a_question_says_which_columns_there_are(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    with pytest.raises(SuiteError, match="there are a, b; name it with --input COLUMN"):
        read("csv", table)


def test_a_table_whose_options_lie_in_a_table_runs_with_them(tmp_path: Path) -> None:
    rows = [
        {"id": f"m-{n}", "input": f"{n}?", "target": "AB"[n % 2], "metadata": {"choices": [n, 1]}}
        for n in range(2, 5)
    ]
    table = tmp_path / "t.jsonl"
    table.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    suite, cases, written = brought_in("jsonl", table, tmp_path)
    assert [case["options"] for case in cases] == [{"A": n, "B": 1} for n in (2, 3, 4)]
    assert suite["scorers"] == [
        {"kind": "choice", "expected": "{{ target }}", "choices": "{{ options }}"}
    ]
    assert 'the options are in "metadata.choices", and asked with their letters' in told(written)
    assert not written.troubles


def test_columns_are_named_by_dotted_paths(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"doc": {"q": "1 + 1?", "odd name": [{"a": "2"}]}, "id": "x"}\n')
    wanted = TableChoices(input="doc.q", expected="doc.odd name.0.a")
    suite, cases, _ = brought_in("jsonl", table, tmp_path, wanted)
    assert suite["prompt"]["user"] == "{{ doc.q }}"
    (scorer,) = suite["scorers"]
    assert scorer["kind"] == "numeric"
    names = {**cases[0], "case": cases[0]}
    assert Template(scorer["expected"], "expected").value(names) == "2"
    with pytest.raises(SuiteError, match=r'no column is called "doc\.z"'):
        read("jsonl", table, TableChoices(input="doc.z"))


def test_what_a_model_said_is_replayed_where_the_right_answer_is_another_column(
    tmp_path: Path,
) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"input": "1 + 1?", "output": "so 3", "target": "2"}\n')
    suite, _, written = brought_in("jsonl", table, tmp_path)
    assert suite["targets"] == [
        {"name": "recorded", "kind": "replay", "output": "output", "path": "suite.cases.jsonl"}
    ]
    assert 'the column "output" holds what a model said, and is replayed' in told(written)
    table.write_text('{"instruction": "1 + 1?", "output": "2"}\n')
    other = tmp_path / "other"
    suite, _, _ = brought_in("jsonl", table, other)
    assert suite["targets"][0]["kind"] == "simulated"
    assert suite["scorers"][0]["expected"] == '{{ case["output"] }}'


def test_checks_that_only_a_program_makes_are_told(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"prompt": "def f():", "target": "x", "metadata": {"entry_point": "f"}}\n')
    _, _, written = brought_in("jsonl", table, tmp_path)
    assert 'checked by a program there (see "metadata.entry_point")' in told(written)


def test_a_table_of_messages_names_the_format_that_reads_it(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"messages": [{"role": "user", "content": "Hi"}]}\n')
    with pytest.raises(SuiteError, match="--input COLUMN, or import it as openai-evals"):
        read("jsonl", table)


def test_ids_that_stand_twice_are_told_apart(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"id": 1, "input": "a"}\n{"id": "1", "input": "b"}\n')
    _, cases, written = brought_in("jsonl", table, tmp_path)
    assert [case["id"] for case in cases] == [1, "1 (2)"]
    assert "line 2: an id stood there before" in told(written)


def test_lines_of_chat_keep_their_roles(tmp_path: Path) -> None:
    suite, cases, _ = brought_in("openai-evals", DATA / "chat.jsonl", tmp_path)
    assert suite["prompt"] == {"messages": "{{ chat }}"}
    assert [one["role"] for one in cases[0]["chat"]] == ["system", "user"]
    assert cases[1]["expected"] == ["six", "half a dozen"]
    assert suite["scorers"][0] == {
        "kind": "exact", "expected": "{{ expected }}", "ignore_case": True
    }  # fmt: skip


def test_the_right_answer_of_a_chat_may_lie_in_a_table(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    row = {"messages": [{"role": "user", "content": "1 + 1?"}], "metadata": {"reference": "2"}}
    table.write_text(json.dumps(row))
    _, cases, _ = brought_in(
        "openai-evals", table, tmp_path, TableChoices(expected="metadata.reference")
    )
    assert cases[0]["expected"] == "2"


# --- promptfoo


def test_a_promptfoo_configuration(tmp_path: Path) -> None:
    suite, cases, _ = brought_in("promptfoo", PROMPTFOO, tmp_path)
    small, own = suite["targets"]
    assert small == {
        "name": "small", "provider": "openai", "model": "gpt-5-mini", "api": "responses",
        "params": {"temperature": 0},
    }  # fmt: skip
    assert own["base_url"] == "http://127.0.0.1:9/v1"
    assert own["prompts"] == ["chat"]
    assert [one["name"] for one in suite["prompts"]][1:] == ["chat"]
    assert suite["prompts"][0]["user"].endswith("{{ hint | tojson }}{% endif %}")
    assert suite["scorers"] == [{"kind": "latency", "max": 2.5, "name": "latency"}]
    assert suite["judges"] == [{"name": "gpt-5", "provider": "openai", "model": "gpt-5"}]
    assert [case["river"] for case in cases] == ["Rhine", "Loire", "Rhône", "Nile", "Volta"]
    assert [case["its_weight"] for case in cases[1:3]] == [3, 3]
    assert suite["dataset"]["tags"] == ["promptfoo.metadata.continent"]


def test_asserts_of_promptfoo_become_scorers_of_their_cases(tmp_path: Path) -> None:
    _, cases, _ = brought_in("promptfoo", PROMPTFOO, tmp_path)
    rhine, loire, _, nile, volta = ([*case["scorers"]] for case in cases)
    assert rhine[0] == {
        "kind": "includes", "ignore_case": True, "expected": "switzerland", "name": "icontains"
    }  # fmt: skip
    assert rhine[1]["not"] is True
    assert rhine[2]["schema"]["properties"]["a"]["enum"] == [None, 1]
    assert loire[0]["name"] == "names it"
    assert loire[0]["expected"] == ["France", "{{river}}"]
    assert loire[0]["weight"] == 2
    assert (loire[1]["scale"], loire[1]["threshold"]) == ([0, 1], 0.6)
    assert nile[1]["max"] == 0.9
    assert nile[1]["name"] == "latency 2", "the suite has one called so"
    assert volta[0] == {
        "kind": "exact", "strip": False, "expected": "Burkina Faso", "name": "equals"
    }  # fmt: skip


def test_what_promptfoo_has_and_a_suite_has_not_is_listed_with_its_line(tmp_path: Path) -> None:
    _, _, written = brought_in("promptfoo", PROMPTFOO, tmp_path)
    for line in (
        "line 7, prompts[2]: a prompt made by a program is not carried over: no code is run",
        "line 8, prompts[3]: ../outside.txt lies outside the file's folder and was not read",
        "line 10, providers[0]: config.unheard is not carried over",
        "line 17, providers[3]: provider python:mine.py cannot be asked from here",
        "tests[0].assert[2]: assert javascript was left out: no code is run",
        'line 3, env: the field "env" is not carried over',
        'the field "extensions" is not carried over',
        'has no var "hint", which is asked for: it is empty here',
    ):
        assert line in told(written)
    assert "# - line 7, prompts[2]: a prompt made by" in written.suite.read_text()


def test_no_key_of_a_configuration_is_copied(tmp_path: Path) -> None:
    _, _, written = brought_in("promptfoo", PROMPTFOO, tmp_path)
    for file in (written.suite, written.dataset):
        assert "do-not-copy" not in file.read_text()
    assert "a key may stand in apiKey: it is not copied" in told(written)


def test_a_null_that_toml_cannot_hold_stands_in_the_cases(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(
        "prompts: [hi]\n"
        "defaultTest: {assert: [{type: is-json, value: {enum: [null, 1]}}, {type: is-json}]}\n"
    )
    suite, cases, _ = brought_in("promptfoo", config, tmp_path)
    assert [one["kind"] for one in suite["scorers"]] == ["json"]
    assert cases[0]["scorers"][0]["schema"] == {"enum": [None, 1]}


def test_results_of_promptfoo_are_replayed(tmp_path: Path) -> None:
    suite, cases, written = brought_in("promptfoo", DATA / "promptfoo-results.json", tmp_path)
    assert [(one["name"], one["kind"]) for one in suite["targets"]] == [
        ("one", "replay"), ("two", "replay")
    ]  # fmt: skip
    assert cases[0]["recorded"]["r1"] == {
        "output": "4", "latency_s": 1.5, "scores": {"success": True, "score": 1},
        "verdict": "pass",
    }  # fmt: skip
    assert "r2" not in cases[1]["recorded"]
    assert "test 2: ended with an error: the case has no recorded output there" in told(written)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &a [x, x]\nb: &b [*a, *a]\nprompts: [*b, *b]", "more than 10 values"),
        (f"prompts: {'[' * 70}x{']' * 70}", "line 1: nests more than 64 deep"),
        ("prompts: &a [*a]", "holds an alias of itself"),
        ("prompts: !!python/object/apply:os.getcwd []", "tags are not followed"),
        ("prompts: a\nprompts: b", 'line 2: has the key "prompts" twice'),
        ("prompts: [a\ntests: b", "line 2: is not YAML"),
        ("just: this", "has neither prompts, providers nor tests"),
        ("prompts: ['{{ a | nofilter }}']", "no prompt can be carried over: line 1, prompts"),
    ],
)
def test_bad_and_hostile_configurations(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "10 values" in message:
        monkeypatch.setattr(reading, "_MOST_NODES", 10)
    file = tmp_path / "c.yaml"
    file.write_text(text)
    with pytest.raises(SuiteError) as error:
        read("promptfoo", file)
    assert message in str(error.value)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret {{ a }}")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "p.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "c.yaml").write_text("prompts: [file://p.txt, hello]\n")
    suite, _, written = brought_in("promptfoo", folder / "c.yaml", tmp_path / "out")
    assert suite["prompt"] == {"user": "hello"}
    assert "p.txt lies outside the file's folder and was not read" in told(written)


# --- Inspect


def _as_archive(file: Path, method: int) -> Path:
    log = json.loads((DATA / "inspect.json").read_text())
    samples = log.pop("samples")
    with zipfile.ZipFile(file, "w", method) as out:
        for sample in samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            out.writestr(name, json.dumps(sample))
        out.writestr("header.json", json.dumps(log))
    return file


def _log(kind: str, folder: Path) -> Path:
    match kind:
        case "json":
            return DATA / "inspect.json"
        case "deflated":
            return _as_archive(folder / "log.eval", zipfile.ZIP_DEFLATED)
    return _as_archive(folder / "log.eval", zipfile.ZIP_ZSTANDARD)


@pytest.mark.parametrize("kind", ["json", "deflated", "zstandard"])
def test_a_log_of_inspect(kind: str, tmp_path: Path) -> None:
    suite, found, written = brought_in("inspect", _log(kind, tmp_path), tmp_path)
    cases = {case["id"]: case for case in found}
    if kind != "json":
        assert list(cases) == ["fr", 2], "in the order of the dataset"
    assert suite["name"] == "capitals"
    assert [one["name"] for one in suite["targets"]] == ["some/model"]
    assert suite["run"] == {"epochs": 2, "truncated": "grade"}
    assert cases[2]["chat"][0] == {"role": "system", "content": "One word."}
    peru, france = cases[2]["recorded"], cases["fr"]["recorded"]
    assert [one["output"] for one in peru["r1"]] == ["Lima", "Quito"]
    assert peru["r1"][0]["scores"] == {"match": "C", "home_made": 0.5}
    assert france["r1"][0]["finish_reason"] == "length"
    assert len(france["r1"]) == 1
    assert "sample fr: ended with an error" in told(written)
    assert [one["name"] for one in suite["scorers"]] == ["match"]
    assert "scorer home_made: there is none like it here" in told(written)


@pytest.mark.parametrize(("target", "kind"), [("4", "numeric"), ("four", "includes")])
def test_numbers_are_compared_where_every_target_is_one(
    target: str, kind: str, tmp_path: Path
) -> None:
    log = json.loads((DATA / "inspect.json").read_text())
    log["eval"]["scorers"] = [{"name": "match", "options": {"numeric": True}}]
    log["samples"] = [{**one, "target": ["4", target]} for one in log["samples"]]
    file = tmp_path / "log.json"
    file.write_text(json.dumps(log))
    suite, _, written = brought_in("inspect", file, tmp_path)
    assert suite["scorers"][0]["kind"] == kind
    assert ("not every target is a number" in told(written)) == (kind == "includes")


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tui_eval.suites.importers.inspect import log

    monkeypatch.setattr(log, "_MOST_MEMBER", 500)
    file = _as_archive(tmp_path / "log.eval", zipfile.ZIP_DEFLATED)
    with pytest.raises(SuiteError, match="unpacks to more than"):
        brought_in("inspect", file, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["log.eval"], "nothing was left behind"


# --- lm-eval


def test_samples_of_lm_eval_with_what_their_filters_left(tmp_path: Path) -> None:
    suite, cases, _ = brought_in("lm-eval", SUMS, tmp_path)
    assert suite["name"] == "sums"
    names = [one["name"] for one in suite["targets"]]
    assert names == ["some/model", "some/model strict", "some/model flexible"]
    outputs = [one["output"] for one in cases[0]["recorded"].values()]
    assert outputs == ["The answer is 4.", "[invalid]", "4"]
    assert cases[0]["recorded"]["r3"]["scores"] == {"exact_match": 1.0}
    assert suite["scorers"] == [{"kind": "numeric", "expected": "{{ target }}"}]


def test_of_options_the_likeliest_is_what_was_said(tmp_path: Path) -> None:
    _, cases, written = brought_in("lm-eval", LIKELY, tmp_path)
    assert [(case["target"], case["recorded"]["r1"]["output"]) for case in cases] == [
        ("yes", "yes"), ("no", "yes")
    ]  # fmt: skip
    assert "the option the model found likeliest" in told(written)


# --- writing


def test_nothing_is_replaced_unasked_and_the_source_never(tmp_path: Path) -> None:
    table = tmp_path / "s.cases.jsonl"
    table.write_text('{"input": "a"}\n')
    with pytest.raises(SuiteError, match="would replace the file that is imported"):
        write(read("jsonl", table), tmp_path / "s.toml", table, replacing=True)
    (tmp_path / "t.toml").write_text("mine")
    with pytest.raises(SuiteError, match=r"t\.toml: is there already"):
        write(read("jsonl", table), tmp_path / "t.toml", table)
    assert (tmp_path / "t.toml").read_text() == "mine"


def test_bad_rows_write_nothing(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"input": "a"}\n{"input": \n')
    with pytest.raises(SuiteError, match="line 2"):
        write(read("jsonl", table), tmp_path / "s.toml", table)
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_texts_of_any_kind_survive(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"input": "\\ud800 \\u0000 \\r\\n é", "answer": "\\udfff"}\n')
    _, cases, _ = brought_in("jsonl", table, tmp_path)
    assert cases[0]["input"] == "\ud800 \x00 \r\n é"


@pytest.mark.parametrize("deep", [300, 900])
def test_what_can_be_read_but_nests_too_deeply_to_be_written_is_refused_or_written(
    tmp_path: Path, deep: int
) -> None:
    file = tmp_path / "table.jsonl"
    file.write_text('{"question": "q", "answer": "a", "deep": ' + "[" * deep + "]" * deep + "}\n")
    if deep == 300:
        assert brought_in("jsonl", file, tmp_path)[2].cases == 1
        return
    with pytest.raises(SuiteError, match="nests too deeply"):
        brought_in("jsonl", file, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


# --- verdicts of the other tool


def _result(test: int, prompt: int, output: str, passed: bool, **more: Any) -> dict[str, Any]:
    case = {"vars": {"a": "x"}, "assert": [{"type": "contains", "value": "x"}], **more}
    return {
        "testIdx": test,
        "promptIdx": prompt,
        "promptId": f"p{prompt}",
        "prompt": {"raw": f"say x {prompt}", "label": f"say {prompt}"},
        "provider": {"id": "echo", "label": ""},
        "vars": {"a": "x"},
        "testCase": case,
        "response": {"output": output},
        "success": passed,
        "score": float(passed),
    }


def _results(folder: Path, rows: list[dict[str, Any]], repeat: int = 1) -> Path:
    file = folder / "results.json"
    file.write_text(json.dumps({
        "results": {"results": rows}, "config": {}, "runtimeOptions": {"repeat": repeat}
    }))  # fmt: skip
    return file


def test_a_provider_is_one_target_whatever_its_prompts_and_repeats_are_epochs(
    tmp_path: Path,
) -> None:
    rows = [_result(test, prompt, f"x {test} {prompt}", True)
            for test in range(4) for prompt in range(3)]  # fmt: skip
    file = _results(tmp_path, rows[::-1], repeat=2)
    suite, cases, _ = brought_in("promptfoo", file, tmp_path)
    (target,) = suite["targets"]
    assert target["record"] == {f"say {n}": f"recorded.r1.p{n + 1}" for n in range(3)}
    assert suite["run"]["epochs"] == 2
    said = [[one["output"] for one in case["recorded"]["r1"]["p2"]] for case in cases]
    assert said == [["x 0 1", "x 1 1"], ["x 2 1", "x 3 1"]], "equal tests are told apart"


def test_two_providers_of_one_name_stay_two(tmp_path: Path) -> None:
    rows = [_result(0, 0, "x a", True), {**_result(0, 1, "x b", True), "promptId": "p0"}]
    suite, cases, _ = brought_in("promptfoo", _results(tmp_path, rows), tmp_path)
    assert [one["name"] for one in suite["targets"]] == ["echo", "echo 2"]
    assert [one["output"] for one in cases[0]["recorded"].values()] == ["x a", "x b"]


def test_what_a_test_of_results_has_beside_its_asserts_is_listed(tmp_path: Path) -> None:
    rows = [_result(0, 0, "x", True, threshold=0.5, assertScoringFunction="file://a.js",
                    options={"rubricPrompt": "p", "transform": "t"})]  # fmt: skip
    _, _, written = brought_in("promptfoo", _results(tmp_path, rows), tmp_path)
    assert "test 1: a test's threshold has no like here" in told(written)
    assert "test 1: assertScoringFunction of a test is not carried over" in told(written)
    assert "test 1: options.rubricPrompt of a test is not carried over" in told(written)
    assert "transform" not in told(written), "the outputs show what it did"


def test_an_assert_set_tells_what_of_it_is_lost(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(
        "prompts: [hi]\ntests: [{assert: [{type: assert-set, weight: 2, metric: m, threshold: 0.5, "
        "assert: [{type: equals, value: a, config: {b: 1}}]}]}]\n"
    )
    _, _, written = brought_in("promptfoo", config, tmp_path)
    for what in ("metric of an assert-set", "weight of an assert-set", "passes from a share on",
                 "config of an assert"):  # fmt: skip
        assert what in told(written)


def compared_with(format_name: str, file: Path, folder: Path) -> WrittenSuite:
    return import_suite(format_name, file, folder / "suite.toml", replacing=False)


def test_verdicts_of_promptfoo_are_compared_result_by_result(tmp_path: Path) -> None:
    rows = [_result(0, 0, "x", True), _result(1, 0, "y", True, threshold=0.1),
            _result(2, 0, "z", False)]  # fmt: skip
    written = compared_with("promptfoo", _results(tmp_path, rows), tmp_path)
    verdicts = written.verdicts
    assert (verdicts.alike, verdicts.uncompared) == (2, 0)
    (one,) = verdicts.differing
    assert (one.case, one.column, one.there, one.here) == ("2", "echo", "pass", "fail")
    head = written.suite.read_text()
    assert "# - of 3 verdicts that the file holds the suite comes to the same in 2" in head
    assert "# - case 2, echo: pass there, fail here (contains:" in head


def _sample(n: int, target: Any, output: str, scores: dict[str, Any], epoch: int = 1) -> Any:
    return {
        "id": n,
        "epoch": epoch,
        "input": "q",
        "target": target,
        "output": {"choices": [{"message": {"content": output}, "stop_reason": "stop"}]},
        "scores": {name: {"value": value} for name, value in scores.items()},
    }


def _inspect(folder: Path, scorers: list[Any], samples: list[Any], **config: Any) -> Path:
    file = folder / "log.json"
    told = {"task": "t", "model": "some/model", "scorers": scorers, "config": config}
    file.write_text(json.dumps({"status": "success", "eval": told, "samples": samples}))
    return file


def test_a_pattern_of_inspect_finds_what_comes_first(tmp_path: Path) -> None:
    scorers = [
        {"name": "pattern", "options": {"pattern": pattern}}
        for pattern in (r"(?i)is (\d)", r"\d", r"^never (\w+)")
    ]
    samples = [_sample(1, "4", "It IS 4, or is 5.", {"pattern": "C", "pattern1": "C",
                                                    "pattern2": "I"}),
               _sample(2, "5", "it is 4, or is 5.", {"pattern": "I", "pattern1": "I",
                                                    "pattern2": "I"})]  # fmt: skip
    written = compared_with("inspect", _inspect(tmp_path, scorers, samples), tmp_path)
    assert (written.verdicts.alike, written.verdicts.differing) == (6, [])


def test_an_answer_of_inspect_is_the_last_and_none_where_that_cannot_be_read(
    tmp_path: Path,
) -> None:
    scorers = [
        {"name": "answer", "options": {"pattern": one}} for one in ("letter", "word", "line")
    ]
    samples = [
        _sample(1, "B", "ANSWER: A\nANSWER: B", {"answer": "C", "answer1": "C", "answer2": "C"}),
        _sample(2, "yes", "ANSWER: yes.", {"answer": "I", "answer1": "C", "answer2": "I"}),
        _sample(3, "A", "ANSWER: A\nANSWER: AB", {"answer": "I", "answer1": "I", "answer2": "I"}),
    ]
    written = compared_with("inspect", _inspect(tmp_path, scorers, samples), tmp_path)
    assert (written.verdicts.alike, written.verdicts.differing) == (9, [])


def test_options_that_are_letters_are_not_taken_for_their_labels(tmp_path: Path) -> None:
    sample = {**_sample(1, "A", "ANSWER: A", {"choice": "C"}), "choices": ["x", "y", "z"]}
    file = _inspect(tmp_path, [{"name": "choice", "options": {}}], [sample])
    assert compared_with("inspect", file, tmp_path).verdicts.alike == 1


def test_epochs_of_inspect_are_reduced_as_there(tmp_path: Path) -> None:
    samples = [_sample(1, "4", "4", {"includes": "C"}), _sample(1, "4", "5", {"includes": "I"}, 2)]
    file = _inspect(tmp_path, [{"name": "includes", "options": {}}], samples, epochs=2,
                    epochs_reducer=["at_least_2", "mean", "median"])  # fmt: skip
    suite, _, written = brought_in("inspect", file, tmp_path)
    assert suite["run"] == {"epochs": 2, "reduce": ["at_least_2", "mean"]}
    assert "epochs_reducer median has no like here" in told(written)


def test_repeats_of_lm_eval_are_epochs(tmp_path: Path) -> None:
    file = tmp_path / "samples_t.jsonl"
    row = {"doc_id": 0, "doc": {}, "target": "4", "arguments": [["2+2?", {}]],
           "resps": [["4", "5"]], "filtered_resps": ["4"], "filter": "none",
           "metrics": ["exact_match"], "exact_match": 1.0}  # fmt: skip
    file.write_text(json.dumps(row) + "\n")
    suite, cases, _ = brought_in("lm-eval", file, tmp_path)
    assert suite["run"] == {"epochs": 2}
    assert [one["output"] for one in cases[0]["recorded"]["r1"]] == ["4", "5"]


def test_options_that_differ_in_what_stands_before_them_are_not_made_up(tmp_path: Path) -> None:
    file = tmp_path / "samples_t.jsonl"
    row = {"doc_id": 0, "doc": {}, "target": "big", "arguments": [["it was", " big"],
           ["he was", " big"]], "resps": [[["-1.0", "False"]], [["-2.0", "False"]]]}  # fmt: skip
    file.write_text(json.dumps(row) + "\n")
    imported = read("lm-eval", file)
    with pytest.raises(SuiteError, match="holds no outputs"):
        write(imported, tmp_path / "s.toml", file)
    assert "differ in what stands before them" in str(imported.losses.listed()[0])


@pytest.mark.parametrize(
    ("name", "text", "options", "right"),
    [
        ("a.csv", "question,A,B,C,D,answer\nq?,3,4,5,,B\n", {"A": "3", "B": "4", "C": "5"}, "B"),
        ("b.csv", "question,opa,opb,cop\nq?,p,q,1\nr?,p,q,2\n", {"A": "p", "B": "q"}, "A"),
        ("c.csv", "question,choice1,choice2,label\nq?,p,q,0\n", {"A": "p", "B": "q"}, "A"),
        ("d.jsonl", '{"question": "q?", "choices": ["x", "y", "z"], "answer": 1}',
         {"A": "x", "B": "y", "C": "z"}, "B"),
        ("e.jsonl", ('{"question": "q?", "choices": {"text": ["p", "q"], "label": ["1", "2"]}, '
                     '"answerKey": "2"}'), {"1": "p", "2": "q"}, "2"),
        ("f.jsonl", '{"question": "q?", "options": {"A": "p", "B": "q"}, "answer": "q"}',
         {"A": "p", "B": "q"}, "q"),
        ("g.jsonl", '{"input": "q?", "target": "C", "metadata": {"choices": ["p", "q", "r"]}}',
         {"A": "p", "B": "q", "C": "r"}, "C"),
        ("h.jsonl", '{"input": "q?", "metadata": {"of": {"options": ["p", "q"], "answer": 1}}}',
         {"A": "p", "B": "q"}, "B"),
        ("i.jsonl", '{"input": "q?", "target": "B", "odd name": {"A": "p", "B": "q", "C": "r"}}',
         {"A": "p", "B": "q", "C": "r"}, "B"),
    ],
)  # fmt: skip
def test_a_table_asks_with_its_options(
    name: str, text: str, options: dict[str, str], right: str, tmp_path: Path
) -> None:
    table = tmp_path / name
    table.write_text(text)
    suite, cases, _ = brought_in(table.suffix[1:], table, tmp_path)
    column = "options 2" if name == "f.jsonl" else "options"
    assert cases[0][column] == options
    (scorer,) = suite["scorers"]
    assert scorer["kind"] == "choice"
    names = {**cases[0], "case": cases[0]}
    assert Template(scorer["expected"], "expected").value(names) == right
    asked = Template(suite["prompt"]["user"], "user").text(names)
    for label, option in options.items():
        assert f"{label}) {option}\n" in asked
