"""What a suite may say of tools that answer, and of the simulated user."""

from pathlib import Path

import pytest

from tests.suites.writing import told, write
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load, look
from tui_eval.suites.survey.template_check import survey

CASES = '[[cases]]\nid = 1\ncity = "Paris"\n'
PROMPT = '[prompt]\nuser = "x"\n'
MODEL = '[[targets]]\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\n'
USER = '[user]\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "u"\ninstructions = "You."\n'


def with_answers(answers: str, more: str = "") -> str:
    tool = '{ type = "function", function = { name = "f" }, answers = ' + answers + " }"
    return f"{CASES}{PROMPT}{MODEL}tools = [{tool}]\n{more}"


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("3", "targets[0].tools[0].answers: must be a list of tables"),
        ('["x"]', "targets[0].tools[0].answers[0]: must be a table"),
        ("[{ }]", "targets[0].tools[0].answers[0].answer: is missing"),
        (
            '[{ answer = "x", whem = "y" }]',
            "targets[0].tools[0].answers[0].whem: unknown key; there are when, answer",
        ),
        ('[{ answer = "x", when = 3 }]', "targets[0].tools[0].answers[0].when: must be a template"),
        ('[{ answer = "{{ x" }]', "targets[0].tools[0].answers[0].answer: "),
    ],
)
def test_a_mistake_in_answers_is_told_with_its_place(
    tmp_path: Path, answers: str, expected: str
) -> None:
    (mistake,) = told(write(tmp_path, with_answers(answers)))
    assert expected in mistake
    assert mistake.startswith("suite.toml, line 9: ")


def test_answers_know_arguments_and_columns_and_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path, with_answers('[{ when = "{{ arguments.x == city }}", answer = "a" }]'))
    assert not survey(load(path)).troubles
    path = write(tmp_path, with_answers('[{ when = "{{ argument.x }}", answer = "a" }]'))
    with pytest.raises(SuiteError, match='no case has "argument"'):
        survey(load(path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CASES + PROMPT + MODEL + 'tools_by = ["x"]\n', "targets[0].tools_by: answers no tools"),
        (CASES + PROMPT + MODEL + USER + "max_tokens = 5\n", "user.max_tokens: unknown key"),
        (CASES + PROMPT + MODEL + USER.replace("instructions", "#"), "user.instructions: is missi"),
        (CASES + PROMPT + MODEL + USER + "params = { tools = [] }\n", '"tools" cannot be set here'),
        (
            CASES + PROMPT + '[[targets]]\nkind = "simulated"\nanswers = ["x"]\n' + USER,
            "user: speaks with no target",
        ),
    ],
)
def test_a_mistake_of_the_user_and_of_the_program_is_told(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert any(expected in mistake for mistake in told(write(tmp_path, text)))


def test_a_user_may_begin_where_the_prompt_asks_nothing(tmp_path: Path) -> None:
    system = '[prompt]\nsystem = "You help."\n'
    assert load(write(tmp_path, CASES + system + MODEL + USER)).user is not None
    assert told(write(tmp_path, CASES + system + MODEL))


def test_keys_of_the_user_and_the_program_of_tools_want_trust(tmp_path: Path) -> None:
    (tmp_path / "seats.py").write_text("pass")
    suite = with_answers(
        '[{ answer = "x" }]',
        'tools_by = ["python3", "seats.py"]\n'
        + USER.replace("http://127.0.0.1:1", "https://example.com")
        + 'api_key_env = "OPENAI_API_KEY"\n',
    )
    wanted = [ask.permission.does for ask in look(write(tmp_path, suite)).refused]
    assert "send OPENAI_API_KEY to host example.com" in wanted
    assert "run python3 seats.py" in wanted
    assert "run what seats.py holds" in wanted


@pytest.mark.parametrize(
    ("app", "takes"),
    [
        ('body = { said = "{{ messages }}" }\n', True),
        ('body = { said = "{{ messages | tojson }}", n = "{{ city }}" }\n', True),
        ('body = { question = "{{ prompt }}" }\n', False),
        ('body = { said = "{{ messages }}" }\nmessages = "$.all"\n', False),
        ('body = { note = "messages", q = "{{ prompt }}" }\n', False),
    ],
)
def test_an_app_takes_turns_where_it_is_sent_the_conversation(
    tmp_path: Path, app: str, takes: bool
) -> None:
    target = f'[[targets]]\nkind = "http"\nurl = "http://127.0.0.1:1/x"\noutput = "$.a"\n{app}'
    path = write(tmp_path, CASES + '[prompt]\nturns = ["a", "b"]\n' + target)
    if takes:
        assert load(path).targets[0].kind == "http"
    else:
        assert any("is asked once" in mistake for mistake in told(path))


def test_a_check_says_that_more_calls_come_than_are_foreseen(tmp_path: Path) -> None:
    def said(text: str) -> bool:
        return any("several calls" in one for one in survey(load(write(tmp_path, text))).warnings)

    assert not said(CASES + PROMPT + MODEL)
    assert said(CASES + PROMPT + MODEL + USER)
    assert said(CASES + '[prompt]\nturns = ["a", "b"]\n' + MODEL)
    assert said(with_answers('[{ answer = "x" }]'))
