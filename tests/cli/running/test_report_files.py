"""What `run` writes as it ends, for people and for CI."""

import json
from pathlib import Path

import junitparser
import pytest

from tests.cli.conftest import Command, Place


def test_every_report_is_written_whatever_the_exit_code(
    place: Place, tui_eval: Command, tmp_path: Path
) -> None:
    suite = place.suite(more="[gate]\npass_rate = 1.0", target="accuracy = 0.0")
    files = {one: tmp_path / f"out.{one}" for one in ("junit", "ctrf", "markdown", "html")}
    options = [word for one, file in files.items() for word in (f"--{one}", str(file))]
    done = tui_eval("run", suite, *options)
    assert done.code == 1
    (of_junit,) = junitparser.JUnitXml.fromfile(str(files["junit"]))
    assert (of_junit.tests, of_junit.failures) == (4, 4)
    assert json.loads(files["ctrf"].read_text("utf-8"))["results"]["summary"]["failed"] == 4
    assert "the gate does not hold" in files["markdown"].read_text("utf-8")
    assert "the gate does not hold" in files["html"].read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--junit", "none/out.xml"), "--junit: there is no folder"),
        (("--html", "x.html", "--detach"), "do not wait for the end"),
        (("--ci", "--json"), "--ci prints on stdout"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_begins(
    place: Place, tui_eval: Command, options: tuple[str, ...], why: str
) -> None:
    done = tui_eval("run", place.suite(), *options)
    assert done.code == 2
    assert why in done.err
    assert "no runs yet" in tui_eval("runs").err + tui_eval("runs").out


def test_several_suites_need_a_file_each(place: Place, tui_eval: Command, tmp_path: Path) -> None:
    place.suite(name="one.toml")
    place.suite(name="two.toml")
    second = place.folder / "two.toml"
    second.write_text(second.read_text("utf-8").replace('name = "', 'name = "second-', 1), "utf-8")
    folder = "."
    refused = tui_eval("run", folder, "--junit", str(tmp_path / "one.xml"))
    assert (refused.code, "several suites need {suite}" in refused.err) == (2, True)
    tui_eval("run", folder, "--junit", str(tmp_path / "of-{suite}.xml"))
    assert len([*tmp_path.glob("of-*.xml")]) == 2


def test_ci_reports_as_the_server_understands(
    place: Place, tui_eval: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = place.suite(more="[gate]\npass_rate = 1.0", target="accuracy = 0.0")
    for name in ("GITHUB_ACTIONS", "GITLAB_CI", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    assert "nothing to report to" in tui_eval("run", suite, "--ci").err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert "\n::error title=" in tui_eval("run", suite, "--ci").out
    assert (tmp_path / "summary.md").exists()
    monkeypatch.delenv("GITHUB_ACTIONS")
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.chdir(tmp_path)
    tui_eval("run", suite, "--ci")
    assert (tmp_path / "junit.xml").exists()


def test_a_summary_that_cannot_be_written_is_told_after_the_annotations(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = place.suite(more="[gate]\npass_rate = 0.0")
    monkeypatch.delenv("GITLAB_CI", raising=False)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "/dev/full")
    done = tui_eval("run", suite, "--ci")
    assert done.code == 3
    assert "error: --ci: GITHUB_STEP_SUMMARY=/dev/full: No space left on device" in done.err
    failing = place.suite(more="[gate]\npass_rate = 1.0", target="accuracy = 0.0")
    missed = tui_eval("run", failing, "--ci")
    assert (missed.code, "::error title=" in missed.out) == (1, True)
    alone = tui_eval("export", "last", "--format", "github")
    assert (alone.code, "::error title=" in alone.out) == (2, True)
    assert "GITHUB_STEP_SUMMARY=/dev/full" in alone.err
