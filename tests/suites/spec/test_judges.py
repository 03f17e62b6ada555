"""Judges and the scorers that ask them, as suites write them."""

from pathlib import Path

import pytest

from tests.suites.writing import TARGET, loaded, told, write
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.judge_choice import asked_judges, kinships
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.scorers import JudgeScorer
from tui_eval.suites.spec import (
    AskedSpec,
    ModelEndpointSpec,
    ModelJudgeSpec,
    ModelTargetSpec,
    SimulatedJudgeSpec,
    Suite,
)
from tui_eval.suites.survey.template_check import survey
from tui_eval.suites.trust.needs_trust import NeedsTrust

CASES = "[[cases]]\nid = 1\n"
JUDGE = '[judge]\nprovider = "ollama"\nmodel = "m"\n'
SCORER = '[[scorers]]\nkind = "judge"\nrubric = "Is it clear?"\nscale = [1, 5]\n'
BASE = CASES + TARGET


def judge_of(suite: Suite, name: str = "judge") -> list[str] | None:
    (scorer,) = (one for one in suite.scorers if one.name == name)
    assert isinstance(scorer, JudgeScorer)
    return scorer.judge


def test_a_judge_has_the_documented_defaults(tmp_path: Path) -> None:
    (judge,) = loaded(tmp_path, BASE + JUDGE).judges
    assert isinstance(judge, ModelJudgeSpec)
    assert (judge.name, judge.kind, judge.concurrency) == ("judge", "model", 4)
    assert (judge.batch_size, judge.repeats, judge.audit) == (5, 1, 0.0)
    assert (judge.max_excess_flips, judge.linger, judge.token_budget) == (0.05, 60.0, 8000)
    assert (judge.timeout, judge.retries, judge.api) == (300.0, 5, "chat")
    assert (judge.instructions, judge.gold, judge.min_agreement) == (None, None, None)


def test_an_embedded_judges_batches_fit_into_a_slot_unless_the_suite_says_otherwise(
    tmp_path: Path,
) -> None:
    local = BASE + '[judge]\nprovider = "local"\nmodel = "smollm2"\n'
    assert loaded(tmp_path, local).judges[0].token_budget == 800
    assert loaded(tmp_path, local + "token_budget = 1500\n").judges[0].token_budget == 1500


def test_a_simulated_judge_asks_nobody(tmp_path: Path) -> None:
    text = (
        BASE + '[judge]\nkind = "simulated"\nlatency_s = [0.1, 0.2]\nfaults = { missing = 0.1 }\n'
    )
    (judge,) = loaded(tmp_path, text).judges
    assert isinstance(judge, SimulatedJudgeSpec)
    assert judge.latency_s == (0.1, 0.2)
    assert judge.faults == {"missing": 0.1}


def test_judges_and_targets_say_the_same_of_their_endpoints() -> None:
    shared = set(ModelEndpointSpec.model_fields) - set(AskedSpec.model_fields)
    assert {"provider", "base_url", "api_key_env", "model", "api", "params", "rpm", "tpm"} < shared
    for model in (ModelTargetSpec, ModelJudgeSpec):
        for name in shared:
            assert (
                model.model_fields[name].description
                == ModelEndpointSpec.model_fields[name].description
            )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[judge]\nprovider = "ollama"', "line 1: judge.model: is missing"),
        ('[judge]\nmodel = "m"', "line 1: judge: give a provider or a base_url"),
        (
            '[judge]\nprovider = "olama"\nmodel = "m"',
            'line 2: judge.provider: unknown provider "olama"; did you mean "ollama"?',
        ),
        (JUDGE + "batch_size = 0", "line 4: judge.batch_size: must be at least 1, not 0"),
        (
            JUDGE + "batchsize = 2",
            'line 4: judge.batchsize: unknown key; did you mean "batch_size"?',
        ),
        (
            JUDGE + "concurrency = 0",
            'line 4: judge.concurrency: must be a whole number ≥ 1 or "auto", not 0',
        ),
        (JUDGE + "repeats = 1.5", "line 4: judge.repeats: must be a whole number, not 1.5"),
        (JUDGE + "audit = 2", "line 4: judge.audit: must be at most 1, not 2"),
        (JUDGE + "linger = -1", "line 4: judge.linger: must be at least 0, not -1"),
        (
            JUDGE + "min_agreement = 0.8",
            "line 1: judge: min_agreement needs gold: outputs that a person has graded",
        ),
        (
            JUDGE + "min_spearman = 0.8",
            "line 1: judge: min_spearman needs gold: outputs that a person has graded",
        ),
        (
            JUDGE + "min_spearman = -0.5",
            "line 4: judge.min_spearman: must be at least 0, not -0.5",
        ),
        (
            JUDGE + "params = { messages = 1 }",
            'line 4: judge.params: "messages" cannot be set here: the rubric says it',
        ),
        (
            JUDGE + "params = { response_format = {} }",
            ('line 4: judge.params: "response_format" cannot be set here: '
            "the form of grades is asked for by itself"),
        ),
        (
            '[judge]\nkind = "simulated"\nmodel = "m"\n',
            ("line 3: judge.model: unknown key; there are audit, batch_size, concurrency, faults, "
            "gold, instructions, kind, latency_s, linger, max_excess_flips, min_agreement, "
            "min_spearman, name, repeats, retries, seed, timeout, token_budget"),
        ),
        (
            '[judge]\nkind = "simulated"\nfaults = { garbge = 0.1 }',
            'line 3: judge.faults.garbge: unknown key; did you mean "garbage"?',
        ),
        (
            '[judge]\nkind = "simulated"\nfaults = { garbage = 0.6, missing = 0.6 }',
            "line 3: judge.faults: the shares add up to 1.2, which is more than 1",
        ),
        (
            '[judge]\nkind = "simulate"',
            ('line 2: judge.kind: unknown kind "simulate"; did you mean "simulated"? '
            "there are model, simulated"),
        ),
        ("judge = 3", "line 1: judge: must be a table, not 3"),
        ('[[judges]]\nname = ""\nprovider = "ollama"\nmodel = "m"',
         'line 2: judges[0].name: must not be empty, not ""'),
    ],
)  # fmt: skip
def test_a_mistake_in_a_judge_is_told(tmp_path: Path, text: str, expected: str) -> None:
    assert told(write(tmp_path, f"{text}\n{BASE}")) == [f"suite.toml, {expected}"]


def test_mistakes_of_judges_and_their_scorers_are_told_all_at_once(tmp_path: Path) -> None:
    text = (
        '[judge]\nprovider = "olama"\nmodel = "m"\nbatch_size = "5"\n'
        + BASE
        + '[[scorers]]\nkind = "judge"\nname = "a"\nrubric = "x"\n'
        + '[[scorers]]\nkind = "judge"\nname = "b"\nrubrik = "x"\njudge = "jugde"\n'
    )
    assert told(write(tmp_path, text)) == [
        'suite.toml, line 2: judge.provider: unknown provider "olama"; did you mean "ollama"?',
        'suite.toml, line 4: judge.batch_size: must be a whole number, not "5"',
        (
            "suite.toml, line 10: scorers[0]: rubric needs a scale, as in scale = [1, 5], "
            'or "pass-fail"'
        ),
        'suite.toml, line 17: scorers[1].rubrik: unknown key; did you mean "rubric"?',
        (
            'suite.toml, line 18: scorers[1].judge: no judge is called "jugde"; '
            'did you mean "judge"? there is judge'
        ),
    ]


TWO = (
    '[[judges]]\nname = "strict"\nprovider = "ollama"\nmodel = "m"\n'
    '[[judges]]\nname = "kind"\nprovider = "ollama"\nmodel = "n"\n'
)


def test_a_scorer_asks_the_only_judge_there_is_or_the_one_called_judge(tmp_path: Path) -> None:
    assert judge_of(loaded(tmp_path, BASE + JUDGE + SCORER)) == ["judge"]
    named = '[[judges]]\nname = "strict"\nprovider = "ollama"\nmodel = "m"\n'
    assert judge_of(loaded(tmp_path, BASE + named + SCORER)) == ["strict"]
    third = TWO + '[[judges]]\nname = "judge"\nprovider = "ollama"\nmodel = "o"\n'
    assert judge_of(loaded(tmp_path, BASE + third + SCORER)) == ["judge"]


def test_a_scorer_names_one_judge_or_a_jury(tmp_path: Path) -> None:
    assert judge_of(loaded(tmp_path, BASE + TWO + SCORER + 'judge = "kind"\n')) == ["kind"]
    jury = loaded(tmp_path, BASE + TWO + SCORER + 'judge = ["kind", "strict"]\n')
    assert judge_of(jury) == ["kind", "strict"]
    assert asked_judges(jury) == {"kind", "strict"}
    twice = write(tmp_path, BASE + TWO + SCORER + 'judge = ["kind", "kind"]\n')
    assert told(twice) == ["suite.toml, line 18: scorers[0].judge: names a judge twice"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            SCORER,
            "line 6: scorers[0]: asks a judge, and the suite has none; add [judge] with a model",
        ),
        (
            TWO + SCORER,
            (
                "line 14: scorers[0].judge: is missing: there are several judges; "
                "there are strict, kind"
            ),
        ),
        (
            TWO + SCORER + 'judge = ["kind", "strct"]\n',
            (
                'line 18: scorers[0].judge[1]: no judge is called "strct"; '
                'did you mean "strict"? there are strict, kind'
            ),
        ),
        (JUDGE + TWO, "line 9: judges: stand beside [judge]; name all of them in [[judges]]"),
        (
            TWO + TWO[: TWO.index("[[judges]]", 1)],
            (
                'line 15: judges[2].name: there is a judge called "strict" already; '
                "give it another name"
            ),
        ),
        (
            TWO + '[[judges]]\nprovider = "ollama"\nmodel = "m"\n',
            'line 14: judges[2]: has no name; add name = "…": scorers and results use it',
        ),
    ],
)
def test_what_goes_wrong_between_judges_and_scorers_is_told(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert told(write(tmp_path, BASE + text)) == [f"suite.toml, {expected}"]


def test_a_judge_comes_from_an_included_file_and_is_set_from_the_command_line(
    tmp_path: Path,
) -> None:
    (tmp_path / "judge.toml").write_text(JUDGE + "batch_size = 7\nrepeats = 2\n")
    text = 'include = ["judge.toml"]\n' + BASE + SCORER + "[judge]\nrepeats = 3\n"
    (judge,) = load(write(tmp_path, text), sets={"judge.linger": "0.5"}).judges
    assert (judge.batch_size, judge.repeats, judge.linger) == (7, 3, 0.5)
    (tmp_path / "judge.toml").write_text(TWO)
    path = write(tmp_path, 'include = ["judge.toml"]\n' + BASE)
    sets = {"judges.1.batch_size": "1", "judges.strict.repeats": "4"}
    strict, kind = load(path, sets=sets).judges
    assert (strict.repeats, kind.batch_size) == (4, 1)
    assert told(path, sets={"judges.0.batch_size": "0"}) == [
        "--set judges.0.batch_size=0: judges[0].batch_size: must be at least 1, not 0"
    ]


def test_a_mistake_in_an_included_judge_names_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "judge.toml").write_text(JUDGE + "\nbatch_size = 0\n")
    assert told(write(tmp_path, 'include = ["judge.toml"]\n' + BASE)) == [
        "judge.toml, line 5: judge.batch_size: must be at least 1, not 0"
    ]


def test_a_frozen_suite_gives_its_judges_back(tmp_path: Path) -> None:
    suite = loaded(tmp_path, BASE + TWO + SCORER + 'judge = ["kind", "strict"]\n')
    assert Suite.model_validate_json(suite.model_dump_json()) == suite


def test_a_case_may_bring_a_scorer_that_asks_a_judge_or_leave_one_out(tmp_path: Path) -> None:
    own = '{ kind = "judge", name = "own", requirements = ["Is short"] }'
    text = f'[[cases]]\nid = 1\nscorers = [{own}]\nskip = ["judge"]\n' + TARGET
    (case,) = cases(loaded(tmp_path, text + JUDGE + SCORER))
    assert case.skip == ("judge",)
    assert [(one["name"], one["judge"]) for one in case.scorers] == [("own", ["judge"])]
    assert told(write(tmp_path, text.replace('skip = ["judge"]\n', ""))) == [
        (
            "suite.toml, line 1: cases[0].scorers[0]: asks a judge, and the suite has none; "
            "add [judge] with a model"
        )
    ]
    wrong = text.replace('"Is short"]', '"Is short"], judge = "x"') + JUDGE + SCORER
    assert told(write(tmp_path, wrong)) == [
        'suite.toml, line 1: cases[0].scorers[0].judge: no judge is called "x"; there is judge'
    ]


def test_judges_nobody_asks_may_wait_for_scorers_of_cases(tmp_path: Path) -> None:
    assert asked_judges(loaded(tmp_path, BASE + TWO)) == {"strict", "kind"}
    assert asked_judges(loaded(tmp_path, BASE + TWO + SCORER + 'judge = "kind"\n')) == {"kind"}


AWAY = '[judge]\nbase_url = "https://example.org/v1"\napi_key_env = "OPENAI_API_KEY"\nmodel = "m"\n'


def test_a_judge_that_sends_a_key_to_a_foreign_host_needs_trust(tmp_path: Path) -> None:
    path = write(tmp_path, BASE + SCORER + AWAY)
    with pytest.raises(NeedsTrust) as caught:
        load(path)
    assert caught.value.permissions == ("send OPENAI_API_KEY to host example.org",)
    assert load(path, trusted=True).judges


def test_a_judge_is_looked_at_before_it_is_known_whether_the_rest_may_be_read(
    tmp_path: Path,
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "more.toml").write_text("[run]\nepochs = 2\n")
    path = write(own, 'include = ["../more.toml"]\n' + BASE + SCORER + AWAY)
    with pytest.raises(NeedsTrust) as caught:
        load(path)
    assert caught.value.permissions == (
        "read ../more.toml outside the suite's folder",
        "send OPENAI_API_KEY to host example.org",
    )


@pytest.mark.parametrize("what", ['gold = "../gold.jsonl"', 'model = "../m.gguf"'])
def test_a_judges_files_outside_the_folder_need_trust(tmp_path: Path, what: str) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "gold.jsonl").write_text('{"input": "a", "output": "b", "grade": 3}\n')
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    model = "" if what.startswith("model") else 'model = "m"\n'
    path = write(own, BASE + SCORER + f'[judge]\nprovider = "local"\n{model}{what}\n')
    name = what.split('"')[1]
    with pytest.raises(NeedsTrust) as caught:
        load(path)
    assert caught.value.permissions == (f"read {name} outside the suite's folder",)
    assert load(path, trusted=True).judges


def scorer_told(tmp_path: Path, fields: str) -> list[str]:
    text = BASE + JUDGE + '[[scorers]]\nkind = "judge"\n' + fields
    return [line.split(": ", 1)[1] for line in told(write(tmp_path, text))]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("", "scorers[0]: give one of rubric, requirements and criteria"),
        (
            'rubric = "x"\nscale = [1, 5]\nrequirements = ["a"]',
            ("scorers[0]: give one of rubric, requirements and criteria, "
            "not rubric and requirements"),
        ),
        ('rubric = ""\nscale = [1, 5]', 'scorers[0].rubric: must not be empty, not ""'),
        (
            'rubric = "x"',
            'scorers[0]: rubric needs a scale, as in scale = [1, 5], or "pass-fail"',
        ),
        (
            'criteria = [{ name = "a", text = "b" }]',
            "scorers[0]: criteria needs a scale, as in scale = [1, 5]",
        ),
        (
            'criteria = [{ name = "a", text = "b" }]\nscale = "pass-fail"',
            ('scorers[0]: criteria are graded on a scale such as [1, 5], not "pass-fail": '
            "requirements are met or not"),
        ),
        (
            'requirements = ["a"]\nscale = [1, 5]',
            "scorers[0]: requirements are met or not: they take no scale (criteria do)",
        ),
        (
            'requirements = ["a"]\npass_at = 3',
            "scorers[0]: requirements have no scale for pass_at: give the share as threshold",
        ),
        (
            'rubric = "x"\nscale = [5, 1]',
            "scorers[0].scale: goes from 5 to 1: the lowest grade stands first",
        ),
        (
            'rubric = "x"\nscale = [1, 1]',
            "scorers[0].scale: goes from 1 to 1: the lowest grade stands first",
        ),
        (
            'rubric = "x"\nscale = "1-5"',
            ("scorers[0].scale: must be the lowest and the highest grade, as in [1, 5], "
            'or "pass-fail"'),
        ),
        (
            'rubric = "x"\nscale = [1, true]',
            ("scorers[0].scale: must be the lowest and the highest grade, as in [1, 5], "
            'or "pass-fail"'),
        ),
        (
            'rubric = "x"\nscale = [1, 5]\npass_at = 6',
            "scorers[0]: pass_at = 6 is not within 1 to 5",
        ),
        (
            'rubric = "x"\nscale = [1, 5]\npass_at = 3\nthreshold = 0.5',
            "scorers[0]: give pass_at, in units of the scale, or threshold, not both",
        ),
        (
            'rubric = "x"\nscale = "pass-fail"\npass_at = 1',
            'scorers[0]: scale = "pass-fail" takes neither pass_at nor threshold',
        ),
        (
            'rubric = "x"\nscale = "pass-fail"\nthreshold = 0.5',
            'scorers[0]: scale = "pass-fail" takes neither pass_at nor threshold',
        ),
        (
            'rubric = "x"\nscale = [1, 5]\nper_requirement = true',
            "scorers[0]: per_requirement goes with requirements only",
        ),
        (
            "requirements = []",
            "scorers[0].requirements: must be a list of texts, or a template that gives one",
        ),
        (
            'requirements = "Is short"',
            "scorers[0].requirements: must be a list of texts, or a template that gives one",
        ),
        (
            'criteria = [{ name = "a" }]\nscale = [1, 5]',
            "scorers[0].criteria: criterion 1 needs a text, a text that is not empty",
        ),
        (
            'criteria = [{ name = "a", text = "b", wieght = 2 }]\nscale = [1, 5]',
            ('scorers[0].criteria: criterion 1 has the unknown key "wieght"; '
            "there are name, text, weight"),
        ),
        (
            'criteria = [{ name = "a", text = "b", weight = 0 }]\nscale = [1, 5]',
            "scorers[0].criteria: criterion 1 needs a weight above 0",
        ),
        (
            'criteria = [{ name = "a", text = "b" }, { name = "a", text = "c" }]\nscale = [1, 5]',
            'scorers[0].criteria: criterion 2 is called "a", as an earlier one is',
        ),
        ("criteria = [3]\nscale = [1, 5]",
         "scorers[0].criteria: criterion 1 must be a table { name, text, weight }"),
        ('rubric = "x"\nscale = [1, 5]\nvote = "most"',
         'scorers[0].vote: must be one of "majority", "mean", not "most"'),
        ('rubric = "x"\nscale = [1, 5]\njudge = []',
         "scorers[0].judge: must be the name of a judge, or a list of names"),
        ('rubric = "{{ x"\nscale = [1, 5]',
         ("scorers[0].rubric: is no template: unexpected end of template, expected 'end of print "
         "statement'.")),
    ],
)  # fmt: skip
def test_a_mistake_in_a_judge_scorer_is_told(tmp_path: Path, fields: str, expected: str) -> None:
    assert scorer_told(tmp_path, fields + "\n") == [expected]


@pytest.mark.parametrize(
    "fields",
    [
        'rubric = "x"\nscale = [-1.5, 1]\npass_at = 0',
        'rubric = "x"\nscale = "pass-fail"',
        'rubric = "{{ id }}"\nscale = [1, 5]\nthreshold = 0.75\nreference = { a = ["{{ id }}"] }',
        'requirements = ["a", "{{ id }}"]\nper_requirement = true\nthreshold = 0.5',
        'requirements = "{{ [id] }}"\nshow = { context = "{{ id }}" }',
        'criteria = "{{ [id] }}"\nscale = [0, 10]\nvote = "mean"\nnot = true\nof = "last_line"',
        'criteria = [{ name = "a", text = "b", weight = 2 }]\nscale = [0, 10]\npass_at = 7',
    ],
)
def test_a_right_judge_scorer_is_taken(tmp_path: Path, fields: str) -> None:
    assert scorer_told(tmp_path, fields + "\n") == []


@pytest.mark.parametrize(
    ("target", "judge", "expected"),
    [
        ("gpt-5", "GPT-5", ['judge "judge" is the model it grades: target "t"']),
        ("org/llama3.2", "llama3.2", ['judge "judge" is the model it grades: target "t"']),
        (
            "gpt-5-mini",
            "gpt-5",
            ['judge "judge" is of one family with the model it grades: target "t"'],
        ),
        ("gpt-5-mini", "claude-x", []),
        ("o3", "o4-mini", []),
    ],
)
def test_a_judge_of_its_own_kind_is_pointed_out(
    tmp_path: Path, target: str, judge: str, expected: list[str]
) -> None:
    text = (
        CASES
        + '[prompt]\nuser = "x"\n'
        + f'[[targets]]\nname = "t"\nprovider = "ollama"\nmodel = "{target}"\n'
        + JUDGE.replace('"m"', f'"{judge}"')
    )
    assert list(kinships(loaded(tmp_path, text + SCORER))) == expected


def test_a_null_for_a_judge_is_told_by_check(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"id": 1, "why": null}\n{"id": 2, "why": "x"}\n')
    text = '[dataset]\npath = "data.jsonl"\n' + TARGET + JUDGE + SCORER
    (trouble,) = survey(loaded(tmp_path, text + 'reference = "{{ why }}"\n')).troubles
    assert str(trouble) == "scorers[0].reference: is null (1 case: 1)"


def test_a_wrong_suite_with_a_wrong_judge_is_a_suite_error(tmp_path: Path) -> None:
    with pytest.raises(SuiteError):
        load(write(tmp_path, BASE + "[judge]\n"))
