"""What a command that decides is allowed with."""

from pathlib import Path

from tui_eval.suites.scorers.programs.command_scorer import CommandScorer


def test_what_cases_choose_of_a_folder_is_trusted_by_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.py").write_text("print(1)")
    (tmp_path / "a.py").write_text("print(1)")

    def held() -> list[str | None]:
        words = [
            "own/{{ id }}.py",
            "{{ id }}.py",
            "gone/{{ id }}",
            "../{{ id }}",
            f"{tmp_path}/{{{{",
        ]
        words += ["x" * 300 + "/{{ id }}", "x" * 300]
        table = {"command": ["python3", *words], "network": "none"}
        wanted = CommandScorer.permissions(table, tmp_path)
        return [one.content() for one in wanted if one.path is not None]

    before = held()
    assert len(before) == 1
    (tmp_path / "own" / "a.py").write_text("print(0)")
    assert held() != before
