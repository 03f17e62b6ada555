"""Style sheets are parsed once for a theme, not whenever another is read."""

from pathlib import Path

import pytest
import textual.css.parse
import textual.css.stylesheet
from textual.css.errors import StylesheetError

from tui_eval.ui.theme.stylesheet import ParsedOnce


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are parsed, in order."""
    found: list[str] = []
    parse = textual.css.parse.parse

    def told(scope: str, css: str, *args: object, **more: object) -> object:
        found.append(css)
        return parse(scope, css, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(textual.css.stylesheet, "parse", told)
    return found


def test_only_what_is_new_is_parsed(tmp_path: Path, parsed: list[str]) -> None:
    styles = ParsedOnce(variables={"tint": "red"})
    texts = [f"Kind{n} {{ color: $tint; }}" for n in range(200)]  # more than Textual keeps
    for n, text in enumerate(texts):
        (tmp_path / f"{n}.tcss").write_text(text)
        styles.read(tmp_path / f"{n}.tcss")
        styles.reparse()
    assert parsed == texts
    assert len(styles.rules) == len(texts)


def test_other_colours_are_parsed_anew(parsed: list[str]) -> None:
    styles = ParsedOnce(variables={"tint": "red"})
    styles.add_source("Kind { color: $tint; }")
    styles.reparse()
    red = styles.css
    styles.set_variables({"tint": "blue"})
    styles.reparse()
    assert len(parsed) == 2
    assert styles.css != red


def test_rules_stay_where_a_sheet_is_wrong() -> None:
    styles = ParsedOnce()
    styles.add_source("Kind { color: red; }")
    styles.reparse()
    styles.add_source("Kind { colour: red; }", read_from=("wrong.tcss", ""))
    with pytest.raises(StylesheetError):
        styles.reparse()
    assert len(styles._rules) == 1
