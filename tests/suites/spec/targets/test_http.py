"""What is wrong with an app's table is told with line and field; its key is asked for by host."""

from pathlib import Path

import pytest

from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.survey.template_check import survey
from tui_eval.suites.trust.needs_trust import NeedsTrust

GOOD = 'url = "http://127.0.0.1:8765/ask"'


def written(folder: Path, *lines: str, scorer: str = "") -> Path:
    path = folder / "suite.toml"
    head = '[[cases]]\nq = "one"\n[[targets]]\nkind = "http"\n'
    path.write_text(head + "".join(f"{line}\n" for line in lines) + scorer, encoding="utf-8")
    return path


def refused(path: Path) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        load(path, trusted=True)
    return [str(mistake).partition("suite.toml, ")[2] for mistake in caught.value.mistakes]


LITERAL = (
    "url: a template stands before the path; write scheme, host and port out: only so is it known "
    "where requests, and keys, go"
)
UNTIL = 'until = "{{ response.ok }}"'


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['url = "{{ q }}"'], LITERAL),
        (['url = "http://{{ q }}/x"'], LITERAL),
        (['url = "http://a.example:{{ q }}/"'], LITERAL),
        (['url = "http://a.example{{ q }}"'], LITERAL),
        (['url = "ftp://a/"'], "url: must be an http:// or https:// address, not 'ftp://a'"),
        (
            ['url = "https://me:pw@a.example/"'],
            "url: must hold no password: name its variable in `api_key_env`",
        ),
        (
            ['url = "http://a.example/#x"'],
            "url: has a part behind #, which is never sent; leave it out",
        ),
        (
            ['url = "http://a.example/{% if q %}x{% endif %}"'],
            "url: holds more than {{ expressions }}; put conditions inside them",
        ),
        (
            [GOOD, 'headers = { Authorization = "Bearer x" }'],
            (
                "headers.Authorization: would put a key into the suite; "
                "name the variable that holds the key in api_key_env"
            ),
        ),
        ([GOOD, 'headers = { "X A" = "1" }'], 'headers."X A": is no name of a header'),
        ([GOOD, 'headers = { Host = "b" }'], "headers.Host: cannot be set; `url` says it"),
        (
            [GOOD, 'headers = { a = "1", A = "2" }'],
            "headers.A: is there twice; upper and lower case make no difference",
        ),
        (
            [GOOD, 'headers = { X-K = "1" }', 'api_key_env = "K"', 'api_key_header = "x-k"'],
            "headers.X-K: is the header that the key goes in; leave it out",
        ),
        (
            [GOOD, 'api_key_header = "Host"'],
            "api_key_header: is no header that a key can go in",
        ),
        (
            [GOOD, 'method = "GET"', 'body = "x"'],
            (
                "body: stands beside method GET, which has none; "
                "name another method, or put it into the url"
            ),
        ),
        (
            [GOOD, 'messages = "$.m"', 'tool_calls = "$.c"'],
            "tool_calls: stands beside messages; the messages hold their tool calls: leave it out",
        ),
        (
            [GOOD, 'stream = "sse"', f'poll = {{ url = "/x", {UNTIL} }}'],
            "poll: stands beside stream; an answer is streamed or asked for again, not both",
        ),
        (
            [GOOD, f'poll = {{ url = "https://b.example/x", {UNTIL} }}'],
            (
                "poll.url: leads to another host; the target's url is at http://127.0.0.1:8765, "
                "and its key goes nowhere else"
            ),
        ),
        ([GOOD, 'stream = "xml"'], 'stream: must be one of "sse", "ndjson", not "xml"'),
        (
            [GOOD, 'usage = { inputs = "$.n" }'],
            'usage.inputs: unknown key; did you mean "input"?',
        ),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_way_out(
    tmp_path: Path, lines: list[str], said: str
) -> None:
    path = written(tmp_path, *lines)
    field = said.partition(":")[0].split(".")[0]
    (at,) = [
        number
        for number, text in enumerate(path.read_text("utf-8").splitlines(), 1)
        if text.startswith(f"{field} =")
    ]
    assert refused(path) == [f"line {at}: targets[0].{said}"]


def test_every_path_and_template_is_read_beforehand(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        GOOD,
        'output = "answer["',
        'fields = { docs = "$.docs[?" }',
        'body = { q = "{{ q" }',
        'poll = { url = "/x", until = "{{ response." }',
    )
    found = refused(path)
    assert found[0].startswith("line 6: targets[0].output: 'answer[' is not a JSON path")
    assert found[1].startswith("line 7: targets[0].fields.docs: '$.docs[?' is not a JSON path")
    assert found[2].startswith("line 8: targets[0].body: is no template")
    assert found[3].startswith("line 9: targets[0].poll: is no template")


def test_names_that_nothing_brings_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD, 'body = { q = "{{ prompt }}", r = "{{ response }}" }')
    with pytest.raises(SuiteError) as caught:
        survey(load(path))
    said = [str(mistake).partition("suite.toml, ")[2] for mistake in caught.value.mistakes]
    assert said[0] == 'line 6: targets[0].body: no case has "prompt"; there is no [prompt]'
    assert said[1].startswith('line 6: targets[0].body: no case has "response"')
    poll = 'poll = { url = "/x/{{ response.id }}", until = "{{ response.ok or q }}" }'
    survey(load(written(tmp_path, GOOD, poll)))


def test_scorers_may_look_at_its_fields_and_turns(tmp_path: Path) -> None:
    def scorer(of: str) -> str:
        return f'[[scorers]]\nkind = "exact"\nof = "{of}"\nexpected = "x"\n'

    (wrong,) = refused(written(tmp_path, GOOD, scorer=scorer("field:docs")))
    assert "no target gives fields" in wrong
    load(written(tmp_path, GOOD, 'fields = { docs = "$.d" }', scorer=scorer("field:docs")))
    (wrong,) = refused(written(tmp_path, GOOD, scorer=scorer("turn:2")))
    assert "no target gives more than one reply" in wrong
    load(written(tmp_path, GOOD, 'messages = "$.m"', scorer=scorer("turn:2")))
    calls = '[[scorers]]\nkind = "tool_calls"\nexpected = ["f"]\n'
    (wrong,) = refused(written(tmp_path, GOOD, scorer=calls))
    assert "scorers[0].kind: no target tells which tools it calls; give a transcript" in wrong
    for told in ('messages = "$.m"', 'tool_calls = "$.calls[*]"'):
        load(written(tmp_path, GOOD, told, scorer=calls))


@pytest.mark.parametrize(
    ("lines", "wants"),
    [
        (['url = "https://a.example/{{ q }}"', 'api_key_env = "K"'], ["send K to host a.example"]),
        (
            ['url = "http://a.example:81/"', 'api_key_env = "K"'],
            ["send K unencrypted to host a.example"],
        ),
        (['url = "https://a.example/"', 'api_key_env = "OPENAI_API_KEY"'],
         ["send OPENAI_API_KEY to host a.example"]),
        ([GOOD, 'api_key_env = "OPENAI_API_KEY"'], ["send OPENAI_API_KEY to host 127.0.0.1"]),
    ],
)  # fmt: skip
def test_trust_is_asked_for_the_key_and_its_host(
    tmp_path: Path, lines: list[str], wants: list[str]
) -> None:
    with pytest.raises(NeedsTrust) as caught:
        load(written(tmp_path, *lines))
    assert [*caught.value.permissions] == wants


@pytest.mark.parametrize(
    "lines", [[GOOD, 'api_key_env = "K"'], ['url = "https://a.example/"'], [GOOD]]
)
def test_nothing_is_asked_for_where_no_key_leaves(tmp_path: Path, lines: list[str]) -> None:
    load(written(tmp_path, *lines))
