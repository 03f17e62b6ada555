import os
from pathlib import Path

import pytest

from tests.suites.writing import SMALL, TARGET, loaded, told, write
from tui_eval.suites.loading import suite_file
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import discover, load
from tui_eval.suites.scorers import SCORERS
from tui_eval.suites.spec import TARGETS, ModelTargetSpec, SimulatedTargetSpec, Suite

CASES = "[[cases]]\nid = 1\n"
MODEL = '[[targets]]\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\n'
PROMPT = '[prompt]\nuser = "x"\n'


def test_a_small_suite_is_read(tmp_path: Path) -> None:
    suite = loaded(tmp_path, SMALL)
    assert suite.name == "suite"
    assert suite.prompts[0].user == "What is the capital of {{ country }}?"
    assert isinstance(suite.targets[0], SimulatedTargetSpec)
    assert suite.targets[0].name == "simulated"
    assert suite.scorers[0].name == "exact"
    assert suite.run.timeout == 300
    assert suite.gate is None
    assert suite.file == str(tmp_path / "suite.toml")


def test_what_a_run_keeps_gives_the_suite_back(tmp_path: Path) -> None:
    text = SMALL + (
        '[[scorers]]\nkind = "json_schema"\nschema_file = "s.json"\nnot = true\n'
        '[prompt.examples]\npath = "shots.jsonl"\nassistant = "{{ a }}"\nas = "text"\n'
        '[[targets]]\nkind = "simulated"\nname = "slow"\nanswers = ["a", "b"]\n'
        "latency_s = [0.1, 0.2]\nfaults = { timeout = 0.5 }\n"
        '[[targets]]\nmodel = "m"\nprovider = "openai"\ntools = "t.json"\n'
        "prices = { input = 1, output = 2 }\n"
        "[gate]\npass_rate = 0.9\n[gate.scorers.exact]\npass_rate = 1\n"
        '[gate.tags."a b"]\nmean_score = 0.5\n[gate.targets.slow]\nmax_cost_usd = 0\n'
        '[run]\nepochs = 3\nreduce = "pass^2"\n'
    )
    suite = loaded(
        tmp_path,
        text,
        s_json='{"type": "object"}',
        shots_jsonl=[{"a": "é", "country": "x"}],
        t_json='[{"type": "function"}]',
    )
    for file in tmp_path.iterdir():
        file.unlink()
    assert Suite.model_validate_json(suite.model_dump_json()) == suite


def test_a_model_is_a_target_without_saying_so_and_gives_its_name(tmp_path: Path) -> None:
    suite = loaded(tmp_path, CASES + PROMPT + MODEL)
    assert isinstance(suite.targets[0], ModelTargetSpec)
    assert suite.targets[0].name == "m"


def test_dates_become_texts(tmp_path: Path) -> None:
    text = CASES + "day = 2024-01-02\nat = 2024-01-02T03:04:05Z\n" + TARGET
    assert loaded(tmp_path, text).cases[0] == {
        "id": 1,
        "day": "2024-01-02",
        "at": "2024-01-02T03:04:05+00:00",
    }


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a = 1\nb = \n", "suite.toml, line 2: is not TOML in column 5: invalid value"),
        (
            b"a = 1\na = 2\n",
            "suite.toml, line 2: is not TOML in column 6: cannot overwrite a value",
        ),
        (b"a = '''", "suite.toml, line 1: is not TOML: expected \"'''\""),
        (b"a = 1\nb = '\xff'\n", "suite.toml, line 2: is not UTF-8 text"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, "suite.toml: nests too deeply"),
    ],
)
def test_what_is_no_toml_is_told_with_its_line(
    tmp_path: Path, content: bytes, expected: str
) -> None:
    path = tmp_path / "suite.toml"
    path.write_bytes(content)
    assert told(path) == [expected]


def test_a_suite_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert told(tmp_path / "none.toml") == ["none.toml: no such file"]
    write(tmp_path, SMALL)
    assert told(tmp_path / "suit.toml") == ['suit.toml: no such file; did you mean "suite.toml"?']
    (tmp_path / "folder").mkdir()
    assert told(tmp_path / "folder") == [
        "folder: is a folder, not a suite; name the suite's .toml file in it"
    ]


def test_an_empty_suite_misses_cases_and_targets(tmp_path: Path) -> None:
    assert told(write(tmp_path, "")) == [
        "suite.toml: targets: is missing; write [[targets]], once for each",
        "suite.toml: the suite has no cases; give [dataset] a path, or write [[cases]]",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "colour = 1",
            (
                "line 1: colour: unknown key; there are cases, dataset, description, embedding, "
                "gate, include, judge, judges, name, prompt, prompts, run, scorers, tags, "
                "target_defaults, targets, user"
            ),
        ),
        ("nam = 'x'", 'line 1: nam: unknown key; did you mean "name"?'),
        ("name = 3", "line 1: name: must be a text, not 3"),
        ("name = ''", 'line 1: name: must not be empty, not ""'),
        ("tags = [1]", "line 1: tags[0]: must be a text, not 1"),
        ("run = 3", "line 1: run: must be a table, not 3"),
        (
            "[run]\nconcurrency = 0",
            'line 2: run.concurrency: must be a whole number ≥ 1 or "auto", not 0',
        ),
        (
            "[run]\nconcurrency = 1000000000",
            "line 2: run.concurrency: must be at most 10000, not 1000000000",
        ),
        (
            "[dataset]\nlimit = 99999999999999999999",
            "line 2: dataset.limit: must be at most 1e+15, not 99999999999999999999",
        ),
        ("[run]\nepochs = 1000000000", "line 2: run.epochs: must be at most 10000, not 1000000000"),
        (
            "[run]\nconcurrency = -3",
            'line 2: run.concurrency: must be a whole number ≥ 1 or "auto", not -3',
        ),
        (
            "[run]\nconcurrency = 1.5",
            'line 2: run.concurrency: must be a whole number ≥ 1 or "auto", not 1.5',
        ),
        (
            "[run]\nconcurrency = true",
            'line 2: run.concurrency: must be a whole number ≥ 1 or "auto", not true',
        ),
        (
            '[run]\nconcurrency = "many"',
            'line 2: run.concurrency: must be a whole number ≥ 1 or "auto", not "many"',
        ),
        ("[run]\n\nepoch = 2", 'line 3: run.epoch: unknown key; did you mean "epochs"?'),
        ("[run]\ntimeout = 0", "line 2: run.timeout: must be above 0, not 0"),
        ("[run]\ntimeout = inf", "line 2: run.timeout: must be a number that ends, not inf"),
        ('[run]\ntimeout = "5"', 'line 2: run.timeout: must be a number, not "5"'),
        ("[run]\nretries = -1", "line 2: run.retries: must be at least 0, not -1"),
        ('[run]\ncache = "yes"', 'line 2: run.cache: must be true or false, not "yes"'),
        (
            '[run]\nreduce = "best"',
            (
                "line 2: run.reduce: must be mean, max, majority, at_least_2, "
                'pass@2 or pass^2 with any number for the 2; not "best"'
            ),
        ),
        (
            '[run]\nreduce = "pass@k"',
            (
                "line 2: run.reduce: must be mean, max, majority, at_least_2, "
                'pass@2 or pass^2 with any number for the 2; not "pass@k"'
            ),
        ),
        ('[run]\nreduce = "pass@3"', 'line 2: run.reduce: "pass@3" needs at least 3 epochs, not 1'),
        (
            '[run]\nepochs = 2\nreduce = ["mean", "pass^3"]',
            'line 3: run.reduce: "pass^3" needs at least 3 epochs, not 2',
        ),
        (
            '[run]\ntruncated = "fail"',
            ('line 2: run.truncated: must be one of "ungraded", "grade", not "fail"'),
        ),
        ("[gate]\npass_rate = 90", "line 2: gate.pass_rate: must be at most 1, not 90; 90% is 0.9"),
        (
            '[scorers]\nkind = "exact"\nexpected = "a"',
            "line 1: scorers: must be a list, not a table; write [[scorers]], once for each",
        ),
        (
            '[prompts]\nuser = "a"',
            (
                "line 1: prompts: must be a list, not a table; write [[prompts]], once for each, "
                "or [prompt] for the only one"
            ),
        ),
        (
            '[[prompt]]\nuser = "a"',
            (
                "line 1: prompt: must be a table, not a list; write [prompt] for the only one, or "
                "[[prompts]] with names"
            ),
        ),
        ("[[run]]\nepochs = 2", "line 1: run: must be a table, not a list; write [run]"),
        (
            "[gate.targets.x]\npass_rate = 1",
            ('line 1: gate.targets.x: no target is called "x"; there are simulated'),
        ),
        (
            '[gate.baseline]\nunclear = "fail"',
            (
                "line 1: gate.baseline: asks for nothing; write max_drop = 0.03, or never_break "
                "with tags"
            ),
        ),
        (
            "[gate.baseline]\nmax_drop = 3",
            "line 2: gate.baseline.max_drop: must be at most 1, not 3; 3% is 0.03",
        ),
        ("[gate.scorers.x]\npass_rate = 1", 'line 1: gate.scorers.x: no scorer is called "x"'),
        (
            "[gate.tags.x]\nmax_cost = 1",
            ('line 2: gate.tags.x.max_cost: unknown key; did you mean "max_cost_usd"?'),
        ),
        (
            '[[scorers]]\nkind = "exact"\nexpected = "a"\ntargets = ["simulatd"]',
            (
                'line 4: scorers[0].targets[0]: no target is called "simulatd"; did you mean '
                '"simulated"?'
            ),
        ),
        (
            '[[scorers]]\nkind = "magic"',
            (f'line 2: scorers[0].kind: unknown kind "magic"; there are {", ".join(SCORERS)}'),
        ),
        (
            '[[scorers]]\nkind = "exat"',
            (
                'line 2: scorers[0].kind: unknown kind "exat"; did you mean '
                f'"exact"? there are {", ".join(SCORERS)}'
            ),
        ),
        (
            '[[scorers]]\nkind = "command"\ncommand = ["check"]\nworkspace = true',
            (
                "line 4: scorers[0].workspace: no target leaves a workspace; it takes a target "
                "that works in a folder: a program"
            ),
        ),
        (
            '[[scorers]]\nkind = "command"\ncommand = ["check"]\nfiles = { "a/../b" = "{{ id }}" }',
            (
                "line 4: scorers[0].files: must be a path inside its folder, or one from the root, "
                'not "a/../b"'
            ),
        ),
        (
            '[[scorers]]\nkind = "command"\ncommand = ["check"]\nreply = "sderr"',
            'line 4: scorers[0].reply: must be stdout, pytest or file:PATH, not "sderr"',
        ),
        (
            "[[scorers]]\n",
            (f"line 1: scorers[0].kind: is missing; there are {', '.join(SCORERS)}"),
        ),
        ("scorers = [3]", "line 1: scorers[0]: must be a table, not 3"),
        (
            '[[scorers]]\nkind = "exact"\nexpected = "a"\nignorecase = true',
            'line 4: scorers[0].ignorecase: unknown key; did you mean "ignore_case"?',
        ),
        ('[[scorers]]\nkind = "exact"', "line 1: scorers[0].expected: is missing"),
        (
            (
                '[[scorers]]\nkind = "exact"\nexpected = "a"\n[[scorers]]\nkind = '
                '"exact"\nexpected = "b"'
            ),
            (
                'line 4: scorers[1].name: there is a scorer called "exact" already; give it '
                "another name"
            ),
        ),
        (
            '[[scorers]]\nkind = "exact"\nexpected = "a"\nname = "finish reason"',
            (
                'line 4: scorers[0].name: there is a scorer called "finish reason" already; '
                "give it another name"
            ),
        ),
        (
            '[[scorers]]\nkind = "exact"\nexpected = "{{ a"',
            (
                "line 3: scorers[0].expected: is no "
                "template: unexpected end of template, expected 'end of print statement'."
            ),
        ),
        (
            '[[scorers]]\nkind = "exact"\nexpected = "a"\nwhen = "{{ a | uper }}"',
            'line 4: scorers[0].when: unknown filter "uper"; did you mean "upper"?',
        ),
        ("[dataset]\nlimit = 0", "line 2: dataset.limit: must be at least 1, not 0"),
        (
            '[dataset]\nfilter = "{% if %}"',
            (
                "line 2: dataset.filter: is no template: Expected an "
                "expression, got 'end of statement block'"
            ),
        ),
    ],
)
def test_a_mistake_is_told_with_line_field_and_what_is_allowed(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert told(write(tmp_path, f"{text}\n{CASES}{TARGET}")) == [f"suite.toml, {expected}"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (
            'kind = "modle"',
            (
                'line 2: targets[0].kind: unknown kind "modle"; did you mean "model"? '
                f"there are {', '.join(TARGETS.names)}"
            ),
        ),
        (
            'kind = "robot"',
            f'line 2: targets[0].kind: unknown kind "robot"; there are {", ".join(TARGETS.names)}',
        ),
        ('provider = "openai"', "line 1: targets[0].model: is missing"),
        ('model = "m"', "line 1: targets[0]: give a provider or a base_url"),
        (
            'model = "m"\nprovider = "opnai"',
            'line 3: targets[0].provider: unknown provider "opnai"; did you mean "openai"?',
        ),
        (
            'model = "m"\nprovider = "openai"\napi = "chats"',
            'line 4: targets[0].api: must be one of "chat", "responses", not "chats"',
        ),
        (
            'model = "m"\nprovider = "openai"\nparams = { model = "x" }',
            'line 4: targets[0].params: "model" cannot be set here: the field `model` says it',
        ),
        (
            'model = "m"\nprovider = "openai"\nconcurrency = 0',
            'line 4: targets[0].concurrency: must be a whole number ≥ 1 or "auto", not 0',
        ),
        (
            'model = "m"\nprovider = "openai"\nprices = { input = 1 }',
            "line 4: targets[0].prices.output: is missing",
        ),
        (
            'model = "m"\nprovider = "openai"\napi_key_env = "a b"',
            (
                "line 4: targets[0].api_key_env: must be a name of letters, digits and "
                "underscores, not "
                '"a b"'
            ),
        ),
        (
            'model = "m"\nprovider = "openai"\nprompts = ["x"]',
            (
                'line 4: targets[0].prompts[0]: no prompt is called "x"; there is no '
                "[[prompts]] with a "
                "name"
            ),
        ),
        (
            'model = "m"\nprovider = "openai"\nprompts = []',
            "line 4: targets[0].prompts: names no prompt; leave it out for all of them",
        ),
        (
            'model = "m"\nbase_url = "ftp://x/v1"',
            (
                "line 3: targets[0].base_url: must be an "
                "http:// or https:// address, not 'ftp://x/v1'"
            ),
        ),
        (
            'model = "m"\nbase_url = "https://me:secret@x/v1"',
            "line 3: targets[0].base_url: must hold no password: name its variable in api_key_env",
        ),
        (
            'model = "m"\nbase_url = "https://x/v1?a=b"',
            "line 3: targets[0].base_url: goes on with ? or #; give only where the API starts",
        ),
        ('kind = "simulated"', "line 1: targets[0].answers: is missing"),
        (
            'kind = "simulated"\nanswers = []',
            "line 3: targets[0].answers: must not be empty, not an empty list",
        ),
        (
            'kind = "simulated"\nanswers = "{{ a"',
            (
                "line 3: targets[0].answers: is no template: "
                "unexpected end of template, expected 'end of print statement'."
            ),
        ),
        (
            'kind = "simulated"\nanswers = "a"\naccuracy = 2',
            "line 4: targets[0].accuracy: must be at most 1, not 2",
        ),
        (
            'kind = "simulated"\nanswers = "a"\nlatency_s = [2, 1]',
            "line 4: targets[0].latency_s: must be a number of seconds ≥ 0, or two: [least, most]",
        ),
        (
            'kind = "simulated"\nanswers = "a"\nfaults = { time_out = 0.1 }',
            'line 4: targets[0].faults.time_out: unknown key; did you mean "timeout"?',
        ),
        (
            'kind = "command"\ncommand = ["true"]\nmax_tokens = 5',
            (
                "line 4: targets[0].max_tokens: unknown key; a program is ended at tokens of its "
                "own word: limits = { tokens = … }"
            ),
        ),
        (
            'kind = "command"\ncommand = ["true"]\nparams = { temperature = 0 }',
            (
                "line 4: targets[0].params: unknown key; a program asks its model itself: hand it "
                "on in command, args, stdin or env"
            ),
        ),
        (
            'kind = "python"\ncallable = "json:dumps"\ntemperature = 0',
            (
                "line 4: targets[0].temperature: unknown key; a function asks its model itself: "
                "hand it on, args = { temperature = … }"
            ),
        ),
        (
            'kind = "http"\nurl = "http://127.0.0.1:1/"\nmax_tokens = 5',
            "line 4: targets[0].max_tokens: unknown key; write params = { max_tokens = … }",
        ),
        (
            'base_url = "http://127.0.0.1:1/v1"\nmodel = "m"\ntemperature = 0',
            "line 4: targets[0].temperature: unknown key; write params = { temperature = … }",
        ),
        (
            'kind = "simulated"\nanswers = "a"\nfaults = { timeout = 0.7, empty = 0.7 }',
            "line 4: targets[0].faults: the shares add up to 1.4, which is more than 1",
        ),
        ('kind = "replay"', "line 1: targets[0].path: is missing"),
        (
            'kind = "replay"\npath = "none.jsonl"',
            'line 3: targets[0].path: no such file "none.jsonl"',
        ),
    ],
)
def test_a_mistake_in_a_target_is_told(tmp_path: Path, target: str, expected: str) -> None:
    found = told(write(tmp_path, f"[[targets]]\n{target}\n{PROMPT}{CASES}"))
    assert found == [f"suite.toml, {expected}"]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (
            "[prompt]\nsystem = 'x'",
            [
                (
                    "line 1: prompt: asks nothing; give one of user, user_file, turns, messages, "
                    "messages_file"
                )
            ],
        ),
        (
            "[prompt]\nuser = 'x'\nmessages = [{ role = 'user', content = 'x' }]",
            ["line 3: prompt.messages: stands beside user; give one of the two"],
        ),
        (
            "[prompt]\nsystem = 'x'\nmessages = [{ role = 'user', content = 'x' }]",
            ["line 2: prompt.system: stands beside messages; make it the first of the messages"],
        ),
        (
            "[prompt]\nmessages = [{ role = 'usr', content = 'x' }]",
            [
                (
                    'line 2: prompt.messages[0].role: must be one of "system", "developer", '
                    '"user", "assistant", "tool", not "usr"'
                )
            ],
        ),
        (
            "[prompt]\nmessages = []",
            [("line 2: prompt.messages: must not be empty, not an empty list")],
        ),
        (
            "[[prompts]]\nuser = 'x'",
            [('line 1: prompts[0]: has no name; add name = "…": targets and results use it')],
        ),
        (
            "[[prompts]]\nname = 'a'\nuser = 'x'\n[[prompts]]\nname = 'a'\nuser = 'y'",
            ['line 5: prompts[1].name: there is a prompt called "a" already; give it another name'],
        ),
        (
            "[prompt]\nuser = 'x'\n[[prompts]]\nname = 'a'\nuser = 'x'",
            ["line 3: prompts: stand beside [prompt]; name all of them in [[prompts]]"],
        ),
        ("", ["line 4: targets[0]: there is no prompt to ask it with; add [prompt]"]),
        (
            "[prompt]\nuser = '{{ a'",
            [
                (
                    "line 2: prompt.user: is no template: unexpected end of "
                    "template, expected 'end of print statement'."
                )
            ],
        ),
        (
            "[prompt]\nuser = 'x'\nuser_file = 'none.md'",
            [
                "line 3: prompt.user_file: stands beside user; give one of the two",
                'line 3: prompt.user_file: no such file "none.md"',
            ],
        ),
        (
            "[prompt]\nuser = 'x'\n[prompt.examples]\nassistant = 'x'",
            ['line 3: prompt.examples: has no examples; give path = "…"'],
        ),
        (
            "[prompt]\nuser = 'x'\n[prompt.examples]\nrows = []",
            ["line 3: prompt.examples.assistant: is missing"],
        ),
        (
            "[prompt]\nuser = 'x {{ examples }}'\n[prompt.examples]\nrows = []\nassistant = 'x'",
            [
                (
                    "line 3: prompt.examples.user: is missing: the prompt's own question holds "
                    "{{ examples }}"
                )
            ],
        ),
    ],
)
def test_a_mistake_in_a_prompt_is_told(tmp_path: Path, prompt: str, expected: list[str]) -> None:
    text = f"{prompt}\n{CASES}{MODEL}"
    assert sorted(told(write(tmp_path, text))) == sorted(f"suite.toml, {one}" for one in expected)


def test_numbers_without_an_end_are_told_at_any_depth(tmp_path: Path) -> None:
    text = (
        "[[cases]]\nid = 1\nx = nan\n"
        + TARGET
        + '[[scorers]]\nkind = "json"\nexpected = { a = [inf] }\n[run]\ntimeout = -inf\n'
    )
    assert told(write(tmp_path, text)) == [
        "suite.toml, line 3: cases[0].x: must be a number that ends, not nan",
        "suite.toml, line 9: scorers[0].expected.a[0]: must be a number that ends, not inf",
        "suite.toml, line 11: run.timeout: must be a number that ends, not -inf",
    ]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_lines(tmp_path: Path) -> None:
    text = """nam = "x"
[dataset]
path = "none.jsonl"
[prompt]
user = "{{ a | uper }}"
[[targets]]
modle = "gpt"
[[scorers]]
kind = "exact"
[[scorers]]
kind = "exact"
expected = "a"
[run]
concurrency = 0
epochs = "many"
"""
    assert told(write(tmp_path, text)) == [
        'suite.toml, line 1: nam: unknown key; did you mean "name"?',
        'suite.toml, line 3: dataset.path: no such file "none.jsonl"',
        'suite.toml, line 5: prompt.user: unknown filter "uper"; did you mean "upper"?',
        "suite.toml, line 6: targets[0].model: is missing",
        "suite.toml, line 6: targets[0]: give a provider or a base_url",
        'suite.toml, line 7: targets[0].modle: unknown key; did you mean "model"?',
        "suite.toml, line 8: scorers[0].expected: is missing",
        (
            'suite.toml, line 10: scorers[1].name: there is a scorer called "exact" already; '
            "give it "
            "another name"
        ),
        'suite.toml, line 14: run.concurrency: must be a whole number ≥ 1 or "auto", not 0',
        'suite.toml, line 15: run.epochs: must be a whole number, not "many"',
    ]


def test_a_suite_has_a_path_or_cases_but_not_both(tmp_path: Path) -> None:
    text = '[dataset]\npath = "d.jsonl"\n' + CASES + TARGET
    assert told(write(tmp_path, text, d_jsonl=[{}])) == [
        "suite.toml, line 3: cases: stand beside a dataset's path; give one of the two"
    ]


def test_defaults_are_merged_key_by_key_under_every_target(tmp_path: Path) -> None:
    text = (
        "[target_defaults]\nparams = { temperature = 0, max_tokens = 64 }\nconcurrency = 3\n"
        + CASES + PROMPT + MODEL + "params = { temperature = 1 }\n" + TARGET
    )  # fmt: skip
    model, simulated = loaded(tmp_path, text).targets
    assert isinstance(model, ModelTargetSpec)
    assert isinstance(simulated, SimulatedTargetSpec)
    assert model.params == {"temperature": 1, "max_tokens": 64}
    assert (model.concurrency, simulated.concurrency) == (3, 3)


def test_defaults_have_the_names_that_fields_have_in_a_suite(tmp_path: Path) -> None:
    text = '[target_defaults]\nkind = "command"\ncommand = ["true"]\nkeys = ["A_KEY"]\n' + CASES
    path = write(tmp_path, text + '[[targets]]\nname = "own"\nkeys = ["B_KEY"]\n[[targets]]\n')
    assert [one.as_written()["keys"] for one in load(path, trusted=True).targets] == [
        ["B_KEY"],
        ["A_KEY"],
    ]


def test_a_mistake_in_the_defaults_is_told_once_where_it_stands(tmp_path: Path) -> None:
    text = (
        "[target_defaults]\nconcurrency = 0\nmodle = 1\n"
        + CASES + PROMPT + MODEL + MODEL.replace('"m"', '"n"')
    )  # fmt: skip
    assert told(write(tmp_path, text)) == [
        (
            "suite.toml, line 2: target_defaults.concurrency: must be a whole number ≥ 1 or "
            '"auto", not 0'
        ),
        'suite.toml, line 3: target_defaults.modle: unknown key; did you mean "model"?',
    ]


def test_two_targets_of_one_model_need_names(tmp_path: Path) -> None:
    assert told(write(tmp_path, CASES + PROMPT + MODEL + MODEL)) == [
        (
            'suite.toml, line 8: targets[1].name: there is a target called "m" already; give it '
            "another name"
        )
    ]


@pytest.mark.parametrize("chosen", ["", 'prompts = ["c"]\n', 'prompts = "c"\n'])
def test_two_targets_with_their_prompts_must_not_come_out_under_one_name(
    tmp_path: Path, chosen: str
) -> None:
    prompts = "".join(f'[[prompts]]\nname = "{name}"\nuser = "x"\n' for name in ("b/c", "c"))
    first, second = (MODEL.replace('"m"', f'"{name}"') for name in ("a", "a/b"))
    assert told(write(tmp_path, CASES + prompts + first + second + chosen)) == [
        (
            'suite.toml, line 12: targets[1].name: with prompt "c" it is "a/b/c", as target "a" '
            "is; give it another name"
        )
    ]
    apart = second + 'prompts = ["b/c"]\n'
    assert told(write(tmp_path, CASES + prompts + first + apart)) == []


def test_a_gate_is_not_blamed_for_a_scorer_that_is_wrong(tmp_path: Path) -> None:
    more = '[[scorers]]\nkind = "exakt"\nexpected = "x"\n[gate.scorers.exact]\npass_rate = 1\n'
    (only,) = told(write(tmp_path, more + SMALL))
    assert 'scorers[0].kind: unknown kind "exakt"' in only


def test_a_gate_may_name_targets_with_their_prompts(tmp_path: Path) -> None:
    prompts = "".join(f'[[prompts]]\nname = "{name}"\nuser = "x"\n' for name in ("a", "b"))
    text = CASES + prompts + MODEL + '[gate.targets."m/b"]\npass_rate = 1\n'
    suite = loaded(tmp_path, text)
    assert suite.gate is not None
    assert suite.gate.targets["m/b"].pass_rate == 1


def make(folder: Path, *names: str, text: str = SMALL) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_suites_are_found_in_folders_and_what_is_none_is_left_out(tmp_path: Path) -> None:
    make(tmp_path, "b.toml", "a.toml", "sub/c.toml", ".hidden/x.toml", "node_modules/x.toml")
    make(tmp_path, "pyproject.toml", text='[project]\nname = "x"\n[tool.x]\ncases = 1\n')
    make(tmp_path, "part.toml", text='[[scorers]]\nkind = "exact"\n')
    make(tmp_path, "env/pyvenv.cfg", "env/x.toml")
    found = discover([tmp_path])
    assert [str(path.relative_to(tmp_path)) for path in found] == ["a.toml", "b.toml", "sub/c.toml"]


def test_a_broken_suite_is_still_offered(tmp_path: Path) -> None:
    make(tmp_path, "a.toml", text='[dataset]\npath = \n[[targets]]\nmodel = "m"\n')
    make(tmp_path, "b.toml", text="[prompt\n")
    make(tmp_path, "c.toml", text="[tool\nx = 1\n")
    assert discover([tmp_path]) == [tmp_path / "a.toml", tmp_path / "b.toml"]


def test_a_file_that_is_named_is_taken_as_it_is_and_once(tmp_path: Path) -> None:
    make(tmp_path, "a.toml", text="")
    make(tmp_path, "b.toml")
    found = discover([tmp_path / "a.toml", tmp_path, tmp_path / "b.toml"])
    assert found == [tmp_path / "a.toml", tmp_path / "b.toml"]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "out/a.toml", "in/b.toml")
    (tmp_path / "in" / "file.toml").symlink_to(tmp_path / "out" / "a.toml")
    (tmp_path / "in" / "folder").symlink_to(tmp_path / "out")
    assert discover([tmp_path / "in"]) == [tmp_path / "in" / "b.toml"]


def test_what_lies_near_is_found_in_a_tree_without_end(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suite_file, "_MOST_FOLDERS", 3)
        make(tmp_path, "a/x.toml", "a/b/c/d/e/x.toml", "z/x.toml")
        found = discover([tmp_path])
    assert [str(path.relative_to(tmp_path)) for path in found] == ["a/x.toml", "z/x.toml"]


def test_a_path_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="none: no such file or folder"):
        discover([tmp_path / "none", tmp_path])


def test_paths_are_relative_to_the_suite_not_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, '[dataset]\npath = "d.jsonl"\n' + TARGET, d_jsonl=[{"id": 1}])
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    suite = load(Path(os.pardir) / "suite.toml")
    assert suite.dataset.path == str(tmp_path / "d.jsonl")


def test_messages_name_the_file_as_the_person_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "x = 1\n" + CASES + TARGET)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SuiteError) as caught:
        load(Path("suite.toml"))
    assert caught.value.mistakes[0].file == "suite.toml"
    assert caught.value.mistakes[0].line == 1
