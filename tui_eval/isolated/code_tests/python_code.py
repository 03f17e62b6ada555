"""Which Python a reply holds: in fences, amid prose, or going on with what the model was given."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from typing import Iterator, List, NamedTuple, Sequence, Set, Tuple

from tui_eval.isolated.code_tests.fences import fenced

_TAGS = ("python", "py", "python3", "py3", "ipython", "pycon", "")
_BEGINS = re.compile(r"(?:def|class|async def|import|from|@)\b|@")
_MOST_ENDS = 200
"""Places at which a text is tried to end as code."""


class ChosenCode(NamedTuple):
    """What is run of a reply."""

    before: str
    """What the model was given, as far as it is code: it runs first; may be empty."""
    code: str


class NoCodeError(Exception):
    """A reply holds no code that can be run."""


def chosen(reply: str, given: str, wanted: Sequence[str]) -> ChosenCode:
    """Choose the code of a reply.

    Of several blocks it is the last of those that define most of what is wanted; blocks before it
    with nothing but definitions are run first. Where no block defines any, the reply, or a block,
    may go on with what was given.

    Args:
        reply: What the model said.
        given: What it was to go on with; empty: nothing, or nothing known.
        wanted: The names that the tests use; empty: not known.

    Raises:
        NoCodeError: there is none; the message says why.
    """
    given = given_code(given)
    blocks = list(fenced(reply, _TAGS))
    sources = blocks or [reply]
    found = [one for source in sources for one in [_whole(source)] if one is not None]
    best = max((_defines(code, wanted) for code in found), default=0)
    if found and (best > 0 or not wanted):
        last = max(at for at, code in enumerate(found) if _defines(code, wanted) == best)
        helpers = [code for code in found[:last] if _only_defines(code)]
        return ChosenCode(given if _parses(given) else "", "\n\n".join((*helpers, found[last])))
    for source in reversed(sources):
        code = _continued(given, source, wanted)
        if code is not None:
            return ChosenCode("", code)
    if not blocks:
        code = _amid_prose(reply, wanted)
        if code is not None:
            return ChosenCode(given if _parses(given) else "", code)
    if found:
        return ChosenCode(given if _parses(given) else "", found[-1])
    raise NoCodeError(_why_none(sources[-1]))


def given_code(given: str) -> str:
    """Return the code of what a model was given: of its last block, or all of it."""
    blocks = [block for block in fenced(given, _TAGS) if block.strip()]
    return blocks[-1] if blocks else given


def defined(code: str) -> Set[str]:
    """Return the names that a code defines at its top; none where it is no code."""
    tree = _tree(code)
    return set() if tree is None else set(_bound(tree.body))


def _bound(body: List[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            for part in ("body", "orelse", "finalbody"):
                yield from _bound(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from _bound(handler.body)
        else:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    yield inner.id


def _tree(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
            compile(tree, "reply", "exec")  # which also finds a `return` outside a function
            return tree
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _parses(code: str) -> bool:
    return bool(code.strip()) and _tree(code) is not None


def _defines(code: str, wanted: Sequence[str]) -> int:
    return len(defined(code).intersection(wanted))


def _only_defines(code: str) -> bool:
    tree = _tree(code)
    kinds = (
        *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
        *(ast.Assign, ast.AnnAssign),
    )
    return tree is not None and all(isinstance(node, kinds) for node in tree.body)


def _whole(source: str) -> str | None:
    """Return a text that is code as a whole, its common indentation taken away."""
    for code in (source, textwrap.dedent(source)):
        if _parses(code):
            return code
    return None


def _continued(given: str, source: str, wanted: Sequence[str]) -> str | None:
    """Return the code that a text and what was given before it are together."""
    if not given.strip():
        return None
    body = source.strip("\n")
    forms = (body, "    " + body.lstrip(), textwrap.indent(textwrap.dedent(body), "    "))
    before = given.rstrip(" \t") + ("" if given.endswith("\n") else "\n")
    for end in (*forms, *(end for form in forms for end in _ends(form))):
        code = before + end
        if _parses(code) and (not wanted or _defines(code, wanted)) and _adds(given, code):
            return code
    return None


def _adds(given: str, code: str) -> bool:
    """Return whether a code does more than what it goes on with."""
    before, after = _tree(given), _tree(code)
    assert after is not None
    return before is None or ast.dump(before) != ast.dump(after)


def _ends(text: str) -> Iterator[str]:
    """Yield a text, and then less and less of it: up to each line that is not indented."""
    yield text
    lines = text.split("\n")
    places = [at for at, line in enumerate(lines) if line[:1].strip() and at > 0]
    for at in places[: -_MOST_ENDS - 1 : -1]:
        yield "\n".join(lines[:at])


def _amid_prose(reply: str, wanted: Sequence[str]) -> str | None:
    """Return the longest code that begins with one of the first lines that look like code."""
    lines = reply.split("\n")
    best: Tuple[int, int, str] | None = None
    places = [at for at, line in enumerate(lines) if _BEGINS.match(line)]
    for at in places[:20]:
        for end in _ends("\n".join(lines[at:])):
            if _parses(end):
                rank = (_defines(end, wanted), len(end), end)
                best = rank if best is None or rank[:2] > best[:2] else best
                break
    return None if best is None or (wanted and best[0] == 0) else best[2]


def _why_none(source: str) -> str:
    if not source.strip():
        return "the reply holds no code"
    try:
        compile(textwrap.dedent(source), "reply", "exec")
    except SyntaxError as error:
        line = (error.text or "").strip()
        shown = f": {line[:80]}" if line else ""
        return f"SyntaxError: {error.msg}, line {error.lineno}{shown}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    return "the reply holds no code"
