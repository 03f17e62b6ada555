"""A stand-in for a coding agent: a script that knows some repairs by heart, and asks no model.

It works in the folder that it is started in, and prints what it does as chat messages, a JSON line
each. It is wrong here and there, and never done with one
task: see what that looks like.
"""

import json
import os
import sys
import time
from pathlib import Path

STEP_S = float(os.environ.get("STEP_SECONDS", "0.05"))
"""Seconds that it rests before each step, so that it can be watched."""

LONGEST = '''return text.split()


def longest(text: str) -> str:
    """Return the longest word of a text, the first of several; empty: it has none."""
    return max(words(text), key=len, default="")
'''
REPAIRS = {
    "pages.py": [("items // per_page", "-(-items // per_page)")],
    # centuries are beyond it: this is wrong for the year 2000
    "years.py": [("year % 4 == 0", "year % 4 == 0 and year % 100 != 0")],
    "words.py": [
        ("return text.split()\n", LONGEST),
    ],
    "cart.py": [
        ("cart: list[str] = []", "cart: list[str] | None = None"),
        ("cart.append(item)\n    return cart", "return [*(cart or []), item]"),
    ],
    "ranking.py": [("points[name])", "points[name], reverse=True)")],
    "report.py": [("to_metres", "metres")],
    "units.py": [("to_metres", "metres")],
    # nothing is wrong there, and it cannot leave it alone
    "median.py": [("half = len(ordered) // 2", "half = int(len(ordered) / 2)")],
}
"""What it replaces by what, by the name of the file."""


def say(role: str, content: str, **more: object) -> None:
    """Print a message."""
    print(json.dumps({"role": role, "content": content, **more}), flush=True)


def step(number: int, content: str, tool: str, result: str, **arguments: str) -> None:
    """Tell of a call of a tool, and of what it gave."""
    time.sleep(STEP_S)
    call = {
        "id": f"call-{number}",
        "type": "function",
        "function": {"name": tool, "arguments": json.dumps(arguments)},
    }
    usage = {"input": len(content.split()), "output": len(json.dumps(arguments).split())}
    say("assistant", content, tool_calls=[call], usage=usage, cost_usd=0.0)
    time.sleep(STEP_S)
    say("tool", result, tool_call_id=f"call-{number}")


def repair(path: Path, number: int) -> int:
    """Read a file and change what it is known for; return the number of the next step."""
    text = path.read_text(encoding="utf-8")
    step(number, f"I read {path.name}.", "read", text, path=path.name)
    for old, new in REPAIRS.get(path.name, []):
        text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
        number += 1
        step(number, "That is to be changed.", "edit", "done", path=path.name, old=old, new=new)
    return number + 1


def main() -> None:
    """Do the task."""
    sys.stdin.read()  # it knows what to do by the files that are there
    say("assistant", "I am a script and no model: I know some repairs by heart.")
    number = 1
    for path in sorted(Path().glob("*.py")):
        number = repair(path, number)
        while path.name not in REPAIRS:
            step(number, "I do not know that one. I look again.", "read", "…", path=path.name)
            number += 1
    say("assistant", "It is done.", cost_usd=0.0)


if __name__ == "__main__":
    main()
