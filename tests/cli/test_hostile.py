"""Every hostile text through the command line: loaded, run, shown, told as it goes, exported."""

import csv
import io
import itertools
import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, Done, Place
from tests.hostile import Hostile, corpus, more
from tests.sampling import some
from tests.support import about, joined
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.trust.needs_trust import NeedsTrust

ALL = [*some(3, corpus(most=4_200_000)), *more()]
SHORT = [*corpus(most=20_000), *more()]
GROUPS = {one.category: [each for each in SHORT if each.category == one.category] for one in SHORT}
"""Texts of a kind: a test takes one such group, and what it finds names the text."""
FORMULA = re.compile("[\\s\"';,|]*[=+\\-@＝＋－＠]|[\t\r\n]")
_ACTED_ON = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

SUITE = """\
name = "h\\u001b[2J/../x"
[dataset]
path = "data.jsonl"
[prompt]
system = "{{ n }}"
user = "{{ text }}"
[[targets]]
kind = "replay"
name = "=recorded\\u001b]0;owned\\u0007[b]"
path = "data.jsonl"
output = "text"
[[scorers]]
kind = "exact"
expected = "{{ text }}"
[[scorers]]
kind = "includes"
name = "@never[b]"
expected = ["zzz-never", "{{ text }}"]
[[scorers]]
kind = "regex"
name = "bait"
expected = "(a+)+$"
required = false
[[scorers]]
kind = "numeric"
expected = 1
required = false
[[scorers]]
kind = "json"
extract = true
required = false
[[scorers]]
kind = "choice"
expected = "A"
choices = ["yes", "no"]
required = false
"""


def safe(text: str) -> str:
    """Check that a terminal acts on nothing in a text, and that it is valid UTF-8."""
    found = _ACTED_ON.search(text)
    assert found is None, f"{found!r} in {text[max(0, found.start() - 80) :][:160]!r}"
    text.encode()
    return text


@dataclass(frozen=True)
class Ran:
    """A finished run of all hostile texts."""

    place: Place
    rows: dict[str, Hostile]
    """By the id of their case."""


def by_id(hostile: list[Hostile]) -> dict[str, Hostile]:
    """Give each text an id; those that mean to be one are."""
    rows: dict[str, Hostile] = {}
    for one in hostile:
        case_id = joined(one.text) if one.where == "case_id" else one.id
        rows.setdefault(case_id, one)
    rows.pop("", None)
    return rows


def write(folder: Path, rows: dict[str, Hostile]) -> None:
    (folder / "s.toml").write_text(SUITE)
    with (folder / "data.jsonl").open("w") as file:
        for n, (case_id, one) in enumerate(rows.items()):
            row = {
                "id": case_id,
                "text": one.text,
                "n": n,
                one.text[:30] or "empty": [one.text[:99]],
            }
            row["tags"] = [one.text[:30] or "none"]
            file.write(json.dumps(row) + "\n")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    import os

    folder = tmp_path_factory.mktemp("hostile")
    given = {
        "TUI_EVAL_STORE": str(folder / "store.sqlite3"),
        "TUI_EVAL_CONFIG": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    place = Place(folder, {**os.environ, **given})
    rows = by_id(ALL)
    write(folder, rows)
    done = place.program("run", "s.toml", "--json")
    assert done.code in (0, 1, 3), done.err
    safe(done.err)
    document = json.loads(safe(done.out))
    assert document["counts"]["total"] == len(rows)
    yield Ran(place, rows)


@pytest.fixture
def there(ran: Ran, tui_eval: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Give the command line, in this process, where that run is."""
    monkeypatch.chdir(ran.place.folder)
    monkeypatch.setenv("TUI_EVAL_STORE", str(ran.place.store))
    return tui_eval


def test_every_text_is_kept_as_it_came_and_graded(ran: Ran, there: Command) -> None:
    with sqlite3.connect(ran.place.store) as db:
        states = dict(db.execute("SELECT state, count(*) FROM trials GROUP BY state"))
    exported = there("export", "last", "--format", "jsonl")
    lines = [json.loads(line) for line in safe(exported.out).splitlines() if line]
    assert len(lines) == len(ran.rows)
    for line in lines:
        text = joined(ran.rows[line["case_id"]].text)
        if line["state"] == "done":
            assert line["output"] == text
            scores = {score["scorer"]: score for score in line["scores"]}
            assert scores["exact"]["verdict"] == "pass", ascii(text[:100])
        else:
            assert not text.strip() or line["error"], ascii(text[:100])
    assert set(states) <= {"done", "error"}


def test_the_table_defuses_formulas_and_keeps_its_shape(ran: Ran, there: Command) -> None:
    exported = there("export", "last", "--format", "csv", "-o", "x.csv")
    assert exported == Done(0, "", "")
    raw = (ran.place.folder / "x.csv").read_bytes().decode()
    assert _ACTED_ON.sub("", raw.replace("\r\n", "\n").replace("\r", "")) == re.sub("\r", "", raw)
    csv.field_size_limit(1 << 30)
    header, *records = csv.reader(io.StringIO(raw, newline=""), strict=True)
    assert len(records) == len(ran.rows)
    assert {len(record) for record in records} == {len(header)}
    numbers = [
        at for at, name in enumerate(header) if name.endswith(("score", " value", "_s", "_usd"))
    ]
    for record in [header, *records]:
        for at, text in enumerate(record):
            if at not in numbers:
                assert text.startswith("'") or not FORMULA.match(text), ascii(text[:80])


@pytest.mark.parametrize(
    "words",
    [
        ["show", "last"],
        ["show", "last", "--failed"],
        ["show", "last", "--json", "--failed"],
        ["runs"],
        ["runs", "--json"],
        ["check", "s.toml"],
        ["check", "s.toml", "--json"],
        pytest.param(["run", "s.toml"], marks=pytest.mark.whole),
        ["run", "s.toml", "--events"],
        ["export", "last", "--format", "csv"],
    ],
    ids=" ".join,
)
def test_a_terminal_acts_on_nothing(ran: Ran, there: Command, words: list[str]) -> None:
    done = there(*words)
    assert done.code in (0, 1, 3), done.err
    safe(done.err)
    safe(done.out.replace("\r", ""))
    if "--json" in words:
        json.loads(done.out)
    if "--events" in words:
        events = [json.loads(line) for line in done.out.splitlines()]
        told = [event["case_id"] for event in events if event["event"] == "trial"]
        assert sorted(told) == sorted(ran.rows)


def test_each_case_is_shown_in_full(ran: Ran, there: Command) -> None:
    for case_id in some(3, [*ran.rows]):
        done = there("show", "last", "--case", case_id)
        assert done.code == 0, ascii(case_id)
        safe(done.out + done.err)
    missing = there("show", "last", "--case", "\x1b[2J\ud800no")
    assert missing.code == 2
    safe(missing.err)


def test_no_id_becomes_a_file_name(ran: Ran) -> None:
    names = {str(path.relative_to(ran.place.folder)) for path in ran.place.folder.rglob("*")}
    expected = {"s.toml", "data.jsonl", "x.csv", "store.sqlite3", "config", "config/trust.json"}
    assert {name for name in names if not name.startswith("store.sqlite3")} <= expected
    outside = ran.place.folder.parent
    assert not [path for path in outside.iterdir() if path.name.startswith("x")]


def test_ids_are_told_apart_to_the_letter(ran: Ran, there: Command) -> None:
    alike = [("é", "e\u0301"), ("A", "a"), ("1", "01"), ("1", "1.0"), ("a ", " a")]
    whole = [pair for pair in alike if ran.rows.keys() >= {*pair}]
    assert ("é", "e\u0301") in whole
    for case_id in itertools.chain(*whole):
        done = there("show", "last", "--case", case_id, "--json")
        (trial,) = json.loads(done.out)["trials"]
        assert trial["case_id"] == case_id


# --- what is read


@pytest.mark.parametrize("group", GROUPS)
def test_any_text_as_a_suite_is_one_or_is_told(tmp_path: Path, group: str) -> None:
    file = tmp_path / "s.toml"
    for one in GROUPS[group]:
        with about(one.id):
            file.write_bytes(one.text.encode("utf-8", "surrogatepass"))
            with pytest.raises(SuiteError) as caught:
                load(file)
            for mistake in caught.value.mistakes:
                assert str(mistake).startswith(str(file))
                safe(str(mistake).replace("\n", " "))
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "tsv"])
@pytest.mark.parametrize("group", GROUPS)
def test_any_text_as_data_gives_rows_or_mistakes(tmp_path: Path, group: str, suffix: str) -> None:
    (tmp_path / "s.toml").write_text(
        f'[dataset]\npath = "d.{suffix}"\n[[targets]]\nkind = "simulated"\nanswers = "x"\n'
    )
    for one in GROUPS[group]:
        with about(one.id):
            (tmp_path / f"d.{suffix}").write_bytes(one.text.encode("utf-8", "surrogatepass"))
            suite = load(tmp_path / "s.toml")
            try:
                found = list(cases(suite))
            except SuiteError as error:
                assert all(f"d.{suffix}" in str(mistake) for mistake in error.mistakes)
                continue
            assert len({case.id for case in found}) == len(found)


_CASE = "[[cases]]\nid = 1\n"
_ASKED = f"{_CASE}[prompt]\nuser = 'x'\n"
_FIELDS = {
    "dataset": "[dataset]\npath = {}\n",
    "include": f"include = {{}}\n{_CASE}",
    "user_file": f"{_CASE}[prompt]\nuser_file = {{}}\n",
    "system_file": f"{_ASKED}system_file = {{}}\n",
    "examples": f"{_ASKED}[prompt.examples]\npath = {{}}\nassistant = 'x'\n",
    "tools": f"{_ASKED}[[targets]]\nmodel = 'm'\nprovider = 'ollama'\ntools = {{}}\n",
    "schema_file": f"{_CASE}[[scorers]]\nkind = 'json_schema'\nschema_file = {{}}\n",
    "replay": f"{_CASE}[[targets]]\nkind = 'replay'\npath = {{}}\n",
}
_PATHS = [one for one in SHORT if one.where == "path" and one.text.isascii()]


@pytest.mark.parametrize("field", _FIELDS)
def test_no_path_leads_out_of_the_folder(tmp_path: Path, field: str) -> None:
    own = tmp_path / "a" / "own"
    own.mkdir(parents=True)
    (tmp_path / "x").write_text("secret")
    for one in _PATHS:
        with about(one.id):
            text = _FIELDS[field].format(json.dumps(one.text))
            (own / "s.toml").write_text(text + '[[targets]]\nkind = "simulated"\nanswers = "x"\n')
            with pytest.raises(SuiteError) as caught:
                load(own / "s.toml")
            if isinstance(caught.value, NeedsTrust):
                assert all(
                    "outside the suite's folder" in permission
                    for permission in caught.value.permissions
                )
            for mistake in caught.value.mistakes:
                assert "secret" not in str(mistake)
                safe(str(mistake))
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "a", own, own / "s.toml", tmp_path / "x"]


def test_an_empty_id_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"id": "a"}\n{"id": ""}\n')
    (tmp_path / "s.toml").write_text(
        '[dataset]\npath = "d.jsonl"\n[[targets]]\nkind = "simulated"\nanswers = "x"\n'
    )
    with pytest.raises(SuiteError, match=r"d\.jsonl, line 2: id: the id in column"):
        list(cases(load(tmp_path / "s.toml")))


def _in_toml(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@pytest.mark.parametrize("group", GROUPS)
def test_any_text_in_a_field_is_a_value_and_no_more(
    place: Place, tui_eval: Command, group: str
) -> None:
    import tomli_w

    for one in [one for one in GROUPS[group] if _in_toml(one.text)]:
        with about(one.id):
            text = one.text[:5000]
            suite: dict[str, Any] = {
                "name": text or "x",
                "description": text,
                "tags": [text or "x"],
                "cases": [{"id": text or "x", "text": text}],
                "prompt": {"user": "{{ text }}"},
                "targets": [{"kind": "simulated", "name": text or "x", "answers": ["{{ text }}"]}],
                "scorers": [
                    {"kind": "includes", "name": text or "x", "expected": "{{ case.text }}"}
                ],
                "gate": {"targets": {text or "x": {"pass_rate": 0.5}}},
            }
            (place.folder / "s.toml").write_text(tomli_w.dumps(suite))
            done = tui_eval("check", "s.toml")
            assert done.code in (0, 2)
            assert "something broke" not in done.err
            safe(done.out + done.err)
