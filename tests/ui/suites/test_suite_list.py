"""Suites found, read and noticed when they change."""

import os
from pathlib import Path

import pytest

from tests.ui.suites.making import GOOD, words, write
from tui_eval.ui.suites import suite_list


@pytest.mark.usefixtures("samples")
def test_what_is_named_comes_first_and_the_samples_last(tmp_path: Path) -> None:
    named = write(tmp_path / "far", "zebra.toml")
    write(tmp_path / "near", "apple.toml")
    places = list(suite_list.found([named, tmp_path / "near", tmp_path / "gone"]))
    assert [path.name for path, _ in places[:2]] == ["zebra.toml", "apple.toml"]
    assert [sample for _, sample in places[:2]] == [False, False]
    assert len(places) > 3
    assert all(sample for _, sample in places[2:])


def test_without_a_path_it_is_the_current_folder(tmp_path: Path) -> None:
    write(tmp_path, "here.toml")
    assert next(iter(suite_list.found([])))[0].name == "here.toml"


def test_a_suite_is_read_with_its_cases_counted(tmp_path: Path) -> None:
    entry = suite_list.read(write(tmp_path, "good.toml"), False)
    assert entry.suite is not None
    assert (entry.name, entry.cases, entry.mistakes, entry.unready) == ("good", 2, (), ())
    assert entry.usable
    assert entry.where() == (entry.path, None)


def test_a_suite_that_wants_trust_says_how_to_run_it(tmp_path: Path) -> None:
    text = GOOD.replace("http://127.0.0.1:9/v1", "https://example.org/v1").replace(
        'model = "some-model"', 'model = "m"\napi_key_env = "OPENAI_API_KEY"'
    )
    entry = suite_list.read(write(tmp_path, "keen.toml", text), False)
    assert entry.wants_trust
    assert "OPENAI_API_KEY" in words(entry)
    assert f"tui-eval run {entry.path} --trust" in words(entry)


def test_a_missing_key_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    text = GOOD.replace('base_url = "http://127.0.0.1:9/v1"', 'provider = "openai"')
    entry = suite_list.read(write(tmp_path, "keyed.toml", text), False)
    assert entry.suite is not None
    assert "OPENAI_API_KEY" in entry.unready[0]
    assert "OPENAI_API_KEY" in words(entry)


def test_a_change_beside_or_below_the_suite_is_noticed(tmp_path: Path) -> None:
    file = write(tmp_path, "good.toml")
    below = write(tmp_path / "parts", "prompt.md", "hello")
    for path in (file, below):
        os.utime(path, (1000, 1000))
    entry = suite_list.read(file, False)
    assert suite_list.changed([entry]) == []
    os.utime(below, (2000, 2000))
    assert suite_list.changed([entry]) == [entry]


def test_a_file_that_is_removed_or_replaced_by_an_older_one_has_changed(tmp_path: Path) -> None:
    suite, data = tmp_path / "a.toml", tmp_path / "data.jsonl"
    suite.write_text('name = "a"\n')
    data.write_text("")
    entry = suite_list.read(suite, sample=False)
    assert suite_list.changed([entry]) == []
    (tmp_path / "round").symlink_to("round")
    assert suite_list.changed([entry]) == []
    older = tmp_path / "older"
    older.write_text('name = "b"\n')
    os.utime(older, (1, 1))
    older.replace(suite)
    assert suite_list.changed([entry]) == [entry]
    entry = suite_list.read(suite, sample=False)
    suite.unlink()
    assert suite_list.changed([entry]) == [entry]
