"""What could be typed next: words of the program, and names that there are."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Place
from tests.hostile import outputs
from tui_eval.cli.completion.candidates import Candidate, candidates
from tui_eval.cli.completion.scripts import SCRIPTS
from tui_eval.cli.main import cli


def found(*words: str) -> list[Candidate]:
    return candidates(cli, words[:-1], words[-1])


def words(*line: str) -> list[str]:
    return [one.word for one in found(*line)]


@pytest.fixture
def ran(place: Place, tui_eval: Command) -> str:
    """Run a suite with three cases; give the run's name."""
    place.suite(n=3)
    return str(json.loads(tui_eval("run", "s.toml", "--json", "--name", "a label").out)["run"])


def test_commands_options_and_their_values(place: Place) -> None:
    assert "show" in words("sh")
    assert "engine" not in words("")
    assert found("swe") == [
        Candidate("plain", "sweep", "Measure how hard an endpoint can be driven.")
    ]
    assert words("show", "x", "--fai") == ["--failed"]
    assert words("run", "s.toml", "--only", "f") == ["failed"]
    assert words("export", "x", "--format=jso") == ["--format=jsonl"]
    assert words("completion", "") == [*SCRIPTS]
    assert words("trust", "re") == ["remove"]
    assert found("export", "x", "-o", "a") == [Candidate("file", "a")]
    assert found("init", "a") == [Candidate("dir", "a")]


def test_runs_suites_columns_cases_tags_and_scorers(place: Place, ran: str) -> None:
    assert found("show", "")[:1] == [Candidate("plain", ran, "a label")]
    assert words("show", "la") == ["last"]
    assert words("compare", ran, "su") == [ran]
    assert words("run", "s.") == ["s.toml"]
    assert words("s.") == ["s.toml"]  # a path in place of a command
    for line in (["show", "last"], ["show", ran[:-1]], ["run", "s.toml"], ["history", "sums"]):
        assert words(*line, "--case", "case-") == ["case-0", "case-1", "case-2"], line
        assert words(*line, "--case=case-1") == ["--case=case-1"], line
    assert words("show", "last", "--target", "") == ["made-up"]
    assert words("rescore", "last", "--scorer", "e") == ["exact"]
    assert words("run", "s.toml", "--tag", "") == ["sum"]
    assert "sums" in words("baseline", "")
    (place.folder / "evals").mkdir()
    assert words("run", "e") == ["evals/"]


def test_mistakes_and_a_missing_store_offer_nothing(place: Place) -> None:
    assert words("nonsense", "x") == []
    assert words("show", "") == []
    assert words("show", "x", "--no-such", "y") == []
    place.store.write_bytes(b"no store" * 100)
    assert words("show", "") == []
    assert words("--store", str(place.folder / "none"), "show", "") == []


def test_the_first_cases_are_enough(place: Place, tui_eval: Command) -> None:
    place.suite(n=250)
    tui_eval("run", "s.toml")
    assert len(words("show", "last", "--case", "case-")) == 200
    assert words("show", "last", "--case", "case-249") == ["case-249"]


def test_no_hostile_name_reaches_the_shell_as_more_than_a_line(
    place: Place, tui_eval: Command
) -> None:
    hostile = [*dict.fromkeys(text for text in outputs() if 0 < len(text) < 500)]
    rows = "".join(json.dumps({"id": f"{at} {text}"}) + "\n" for at, text in enumerate(hostile))
    (place.folder / "c.jsonl").write_text(rows)
    suite = place.folder / place.suite(n=0, more='[dataset]\npath = "c.jsonl"\n')
    suite.write_text(suite.read_text().replace("{{ answer }}", "x").replace("{{ question }}", "x"))
    assert tui_eval("run", "s.toml").code in (0, 1, 3)
    for shell in SCRIPTS:
        line = (
            ["tui-eval show last --case ", ""]
            if shell == "bash"
            else ["show", "last", "--case", ""]
        )
        said = tui_eval("complete", shell, "--", *line).out
        assert said
        for one in said.removesuffix("\n").split("\n"):
            kind, _, told = one.split("\t")
            assert kind == "plain"
            assert told == ""
            assert one.replace("\t", "").isprintable()
    assert not (Path.cwd() / "pwned").exists()
