"""List the benchmarks: `python -m benchmarks`."""

import ast
from pathlib import Path

NAMES = (
    "engine",
    "peers",
    "pace",
    "auto",
    "programs",
    "resume",
    "start",
    "store",
    "large",
    "memory",
    "screen",
    "compare",
    "transport",
    "profile",
)
"""The benchmarks there are; each is a command of its own."""


def told(name: str) -> str:
    """Give what a benchmark measures, out of its docstring; nothing of it is imported."""
    folder = Path(__file__).parent
    file = folder / name / "comparison.py" if (folder / name).is_dir() else folder / f"{name}.py"
    doc = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return " ".join(doc.split("\n\n", 1)[0].split())


def main() -> None:
    """Print a line for each."""
    print("Each is a command: python -m benchmarks.NAME, with --help and --json.\n")
    for name in NAMES:
        print(f"  {name:<10} {told(name)}")


if __name__ == "__main__":
    main()
