"""What `import tui_eval as te` has, and what type checkers are told of it."""

import ast
from pathlib import Path

import tui_eval

STUB = Path(tui_eval.__file__).with_suffix(".pyi")


def test_type_checkers_are_told_of_the_names_there_are_and_where_each_is_from() -> None:
    tree = ast.parse(STUB.read_text("utf-8"))
    told = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    (names,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    assert names == tui_eval.__all__
    inside = vars(tui_eval)  # not what type checkers are told
    homes, names_there = inside["_HOMES"], inside["_NAMES"]
    assert told == {
        name: (f"tui_eval.api.{home}", names_there.get(name, name)) for name, home in homes.items()
    }
    assert {*told} == {*tui_eval.__all__}
    assert all(getattr(tui_eval, name) is not None for name in tui_eval.__all__)
