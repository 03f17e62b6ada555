"""`tui-eval init --recipe`: what is written can be checked, and what cannot be written is told."""

import json

import pytest

from tests.cli.conftest import Command, Place
from tui_eval.suites.recipes.recipe_book import recipes

ROW = {"id": "a", "input": "1 + 1?", "target": "2", "metadata": {"rationale": "One and one."}}


@pytest.fixture
def rows(place: Place) -> None:
    (place.folder / "rows.jsonl").write_text(json.dumps(ROW) + "\n")


@pytest.mark.usefixtures("rows")
def test_the_suite_of_a_benchmark_is_written_over_a_file(place: Place, tui_eval: Command) -> None:
    done = tui_eval("init", "--recipe", "gsm8k", "--data", "rows.jsonl", "--examples", "rows.jsonl")
    assert (done.code, done.out) == (0, "gsm8k.toml\nsuite.schema.json\n"), done.err
    text = (place.folder / "gsm8k.toml").read_text()
    assert 'path = "rows.jsonl"\nn = 5' in text
    checked = tui_eval("check", "gsm8k.toml", "--json")
    assert (checked.code, json.loads(checked.out)[0]["cases"]) == (0, 1), checked.err
    again = tui_eval("init", "--recipe", "gsm8k")
    assert (again.code, "there already" in again.err) == (2, True)
    assert (place.folder / "gsm8k.toml").read_text() == text


@pytest.mark.usefixtures("rows")
def test_a_file_outside_the_folder_is_named_in_full(place: Place, tui_eval: Command) -> None:
    assert tui_eval("init", "deep/in", "--recipe", "gsm8k", "--data", "rows.jsonl").code == 0
    text = (place.folder / "deep" / "in" / "gsm8k.toml").read_text()
    assert f'path = "{place.folder / "rows.jsonl"}"' in text


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--recipe", "gsm9k"), 'no recipe is called "gsm9k"; did you mean "gsm8k"?'),
        (("--recipe", "arc", "--data", "rows.jsonl"), "arc is written for the columns answerKey"),
        (("--recipe", "gsm8k", "--data", "none.jsonl"), "none.jsonl: cannot be read: No such file"),
        (("--recipe", "gsm8k", "--data", "hf://gsm8k"), "hf://gsm8k: is no dataset of the Hub"),
        (("--recipe", "bfcl"), "give --data FILE"),
        (("--recipe", "arc", "--examples", "rows.jsonl"), "arc takes no examples"),
        (("--recipe", "gsm8k", "--examples", "rows.jsonl"), "has other columns than the data"),
        (("--data", "rows.jsonl"), "--data and --examples go with --recipe"),
        (("--json",), "--json goes with --recipes"),
    ],
)
def test_what_cannot_be_written_is_told(
    place: Place, tui_eval: Command, words: tuple[str, ...], told: str
) -> None:
    done = tui_eval("init", *words)
    assert (done.code, told in done.err) == (2, True), done.err
    assert not list(place.folder.glob("*.toml"))


def test_the_recipes_are_listed(tui_eval: Command) -> None:
    listed = tui_eval("init", "--recipes")
    assert "gpqa  Questions for graduates" in listed.out
    assert "    198 cases · licence: CC BY 4.0, behind a form\n" in listed.out
    whole = json.loads(tui_eval("init", "--recipes", "--json").out)
    assert [one["name"] for one in whole] == [*recipes()]
