from pathlib import Path

from tui_eval.suites.loading.starter import starter
from tui_eval.suites.loading.suite_file import discover, load
from tui_eval.suites.survey.template_check import survey
from tui_eval.suites.trust.capabilities import wanted_permissions


def test_the_first_suite_is_right_and_runs_without_a_key(tmp_path: Path) -> None:
    for name, text in starter().items():
        (tmp_path / name).write_text(text)
    assert discover([tmp_path]) == [tmp_path / "suite.toml"]
    suite = load(tmp_path / "suite.toml")
    assert {target.kind for target in suite.targets} == {"simulated"}
    assert wanted_permissions(suite) == ()
    found = survey(suite)
    assert (found.cases, found.trials, found.troubles, found.warnings) == (10, 10, (), ())


COMMENTED = ("# [[", "# provider", "# model", "# base_url", "# params")


def test_its_commented_targets_are_right_too(tmp_path: Path) -> None:
    for name, text in starter().items():
        lines = [
            line.removeprefix("# ") if line.startswith(COMMENTED) else line
            for line in text.splitlines()
        ]
        (tmp_path / name).write_text("\n".join(lines))
    assert len(load(tmp_path / "suite.toml").targets) == 4
