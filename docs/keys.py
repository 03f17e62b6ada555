"""Writes the table of actions with their keys into docs/reference/keys.md, after a change.

python docs/keys.py
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tui_eval.ui.keys.keyboard import keyboard  # noqa: E402 - found by the line above
from tui_eval.ui.keys.keymap import Action  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "keys.md"
HEAD = "| id | usual key | what it does |\n|---|---|---|\n"


def line(action: Action) -> str:
    """Give an action's line of the table."""
    keys = " ".join(f"`{key}`" for key in action.keys)
    return f"| `{action.id}` | {keys} | {action.words} |\n"


def table() -> str:
    """Give the table, without its head."""
    return "".join(map(line, keyboard().actions.values()))


def main() -> None:
    """Write the table anew; it is the last thing of the page."""
    before, _, _ = PAGE.read_text().partition(HEAD)
    PAGE.write_text(before + HEAD + table())


if __name__ == "__main__":
    main()
