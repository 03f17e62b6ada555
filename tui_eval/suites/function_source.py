"""Where a function's code is, and what can be said of it without running any of it.

Code beside the suite is known by its content: the module, and whatever of the suite's folder it
imports, as far as its text says so. What is installed is known by its name alone.
"""

import ast
import hashlib
import importlib.machinery
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, Field, StrictStr

from tui_eval.suites.data.files import open_regular, read_whole, real_path
from tui_eval.suites.loading.errors import FieldMistake, did_you_mean
from tui_eval.suites.trust.permissions import Permission

_MOST_FILES: Final = 2_000
_MOST_BYTES: Final = 4_000_000
"""Of one file; what is larger is known by its content, and not looked into."""
_MAKES_NAMES: Final = frozenset(("globals", "exec", "eval", "setattr", "vars", "__getattr__"))
"""Who uses one of these may have names that stand nowhere in its text."""


_NAME: Final = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_CALLABLE: Final = re.compile(rf"{_NAME}:{_NAME}")


def names_callable(text: str) -> bool:
    """Say whether a text has the form of a function's name: `module:function`."""
    return _CALLABLE.fullmatch(text) is not None


def _callable(text: str) -> str:
    if not names_callable(text):
        raise ValueError(f'must be "module:function", as "shop:quote", not "{text[:80]}"')
    return text


CallableName: TypeAlias = Annotated[StrictStr, Field(min_length=1), AfterValidator(_callable)]
"""A function, as `module:function`."""


@dataclass(frozen=True, slots=True)
class OfferedNames:
    """Arguments by name of which a function takes those that it has."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocalCode:
    """A module or a package beside the suite."""

    name: str
    path: Path
    """The file; of a package a glob of its modules."""
    files: tuple[Path, ...]


def local_code(module: str, folder: Path) -> tuple[LocalCode, ...]:
    """Return the code beside a suite that a module is made of: its own first; empty: it is none."""
    found: dict[str, LocalCode] = {}
    waiting = [module.partition(".")[0]]
    files = 0
    while waiting and files < _MOST_FILES:
        name = waiting.pop(0)
        code = None if name in found else _code(name, folder)
        if code is not None:
            found[name] = code
            files += len(code.files)
            waiting += [one for file in code.files for one in _imports(file, folder)]
    return tuple(found.values())


def call_permissions(
    table: Mapping[str, object], folder: Path | None, verb: str, purpose: str = ""
) -> Iterator[Permission]:
    """Yield what a table asks for that names a function: the call, and the code beside the suite.

    Args:
        table: The table; its `callable` is called, by its `python`.
        folder: The suite's; None: it lies nowhere.
        verb: What the call is called where it is kept with what was allowed.
        purpose: What it is called for, in words.
    """
    wanted, python = table.get("callable"), table.get("python")
    where = "tui-eval's Python" if python is None else str(python)
    exactly = f"{verb} {wanted} with {sys.executable if python is None else python}"
    yield Permission(f"call {wanted} with {where}{purpose}", f"{exactly} in {folder}")
    if folder is None:
        return
    for code in local_code(str(wanted).partition(":")[0], folder):
        shown = code.path.relative_to(folder)
        yield Permission(f"run the code in {shown}", f"run {code.path}", code.path)


def code_digest(code: Sequence[LocalCode], folder: Path) -> str | None:
    """Return the SHA-256 over the names and contents of code; None: there is none."""
    if not code:
        return None
    whole = hashlib.sha256()
    for file in sorted({file for one in code for file in one.files}):
        try:
            with open_regular(file) as opened:
                content = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as error:
            content = f"cannot be read: {error.strerror}"
        whole.update(f"{file.relative_to(folder)}\0{content}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def callable_mistakes(
    field: str, args: object, folder: Path, *, own_interpreter: bool
) -> Iterator[FieldMistake]:
    """Yield why a function cannot be called, as far as its text says so; none of it is run.

    Args:
        field: `module:function`.
        args: What it is called with: a table by name, a list by place, None for one; or names
            that are offered.
        folder: The suite's.
        own_interpreter: Whether this very Python calls it: then what is installed is known, too.
    """
    module, _, function = field.partition(":")
    file = _module_file(module, folder)
    if file is None:
        top = module.partition(".")[0]
        if _code(top, folder) is not None:
            if not _is_namespace(folder / top):
                yield FieldMistake(("callable",), f'there is no module "{module}" in {top}')
        elif own_interpreter and not _installed(top):
            beside = did_you_mean(top, sorted(one.stem for one in folder.glob("*.py")))
            hint = beside or "it lies beside the suite, or name the `python` that has it"
            yield FieldMistake(("callable",), f'there is no module "{module}"', hint)
        return
    tree = _tree(file, folder)
    if isinstance(tree, SyntaxError):
        yield FieldMistake(
            ("callable",), f"{file.name}, line {tree.lineno}: {tree.msg}", "mend the module"
        )
    elif tree is not None:
        yield from _function_mistakes(tree, file, function, args)


def _function_mistakes(
    tree: ast.Module, file: Path, function: str, args: object
) -> Iterator[FieldMistake]:
    bound = dict(_bound(tree.body))
    first = function.partition(".")[0]
    if first not in bound:
        if not _has_unseen_names(tree):
            public = [name for name, what in bound.items() if _is_callable(what)]
            hint = did_you_mean(first, public) or (
                f"it has {', '.join(public[:10])}" if public else "it has no function"
            )
            yield FieldMistake(("callable",), f'{file.name} has no function "{first}"', hint)
        return
    what = bound[first]
    if isinstance(what, ast.Constant | ast.List | ast.Dict | ast.Tuple | ast.Set | ast.JoinedStr):
        message = f"{file.name}, line {what.lineno}: {first} is no function"
        yield FieldMistake(("callable",), message)
    elif (
        isinstance(what, ast.FunctionDef | ast.AsyncFunctionDef)
        and not what.decorator_list
        and first == function
    ):
        wrong = _not_taken(what.args, args)
        if wrong is not None:
            shown = f"{file.name}, line {what.lineno}: {function}({ast.unparse(what.args)})"
            in_args = args is not None and not isinstance(args, OfferedNames)
            yield FieldMistake(("args",) if in_args else ("callable",), f"{shown} {wrong}")


def _not_taken(takes: ast.arguments, args: object) -> str | None:
    """Say why a function does not take arguments; None: it does."""
    positional = [one.arg for one in (*takes.posonlyargs, *takes.args)]
    required = positional[: len(positional) - len(takes.defaults)]
    keyword_only = [
        one.arg
        for one, default in zip(takes.kwonlyargs, takes.kw_defaults, strict=True)
        if default is None
    ]
    by_name = {one.arg for one in (*takes.args, *takes.kwonlyargs)}
    if isinstance(args, OfferedNames):
        taken = [name for name in args.names if name in by_name or takes.kwarg is not None]
        if not taken:
            return f"takes none of {', '.join(args.names)}"
        args = dict.fromkeys(taken)
    if isinstance(args, Mapping):
        unknown = [name for name in args if name not in by_name and takes.kwarg is None]
        missing = [name for name in (*required, *keyword_only) if name not in args]
        if unknown:
            return f"takes no {', '.join(map(str, unknown))}"
        return f"also needs {', '.join(missing)}" if missing else None
    given = len(args) if isinstance(args, list | tuple) else 1
    what = "one value, the prompt or the case" if args is None else f"{given} values"
    if given > len(positional) and takes.vararg is None:
        return f"does not take {what}"
    missing = [*required[given:], *keyword_only]
    return (
        f"gets {what}, and also needs {', '.join(missing)}: name them in args" if missing else None
    )


def _bound(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names that statements bind, each with what it is bound to; the last one counts."""
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name, statement
            case ast.Import() | ast.ImportFrom():
                for alias in statement.names:
                    yield (alias.asname or alias.name).partition(".")[0], statement
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                yield from _assigned(statement)
            case _:
                for inner in ast.walk(statement):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                        yield inner.id, inner
                    elif isinstance(inner, ast.stmt) and inner is not statement:
                        for name, _ in _bound([inner]):
                            yield name, inner


def _assigned(
    statement: ast.Assign | ast.AnnAssign | ast.AugAssign,
) -> Iterator[tuple[str, ast.AST]]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        for inner in ast.walk(target):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                alone = inner is target and not isinstance(statement, ast.AugAssign)
                yield inner.id, (statement.value or inner) if alone else inner


def _is_callable(what: ast.AST) -> bool:
    return isinstance(what, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _has_unseen_names(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.alias) and node.name == "*":
            return True
        if isinstance(node, ast.Name) and node.id in _MAKES_NAMES:
            return True
        if isinstance(node, ast.FunctionDef) and node.name in _MAKES_NAMES:
            return True
    return False


def _code(name: str, folder: Path) -> LocalCode | None:
    if not name.isidentifier():
        return None
    package, file = folder / name, folder / f"{name}.py"
    if package.is_dir():
        files = sorted(one for one in package.glob("**/*.py") if one.is_file())[:_MOST_FILES]
        if files:
            return LocalCode(name, package / "**" / "*.py", tuple(files))
    return LocalCode(name, file, (file,)) if file.is_file() else None


def _module_file(module: str, folder: Path) -> Path | None:
    path = folder.joinpath(*module.split("."))
    for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
        if file.is_file():
            return file
    return None


def _is_namespace(package: Path) -> bool:
    """Whether parts of a package may lie elsewhere, too."""
    return package.is_dir() and not (package / "__init__.py").is_file()


def _installed(top: str) -> bool:
    if top in sys.builtin_module_names or top in sys.stdlib_module_names:
        return True
    try:
        return importlib.machinery.PathFinder.find_spec(top) is not None
    except (ImportError, ValueError):
        return True  # nobody knows: the launch will tell


def _imports(file: Path, folder: Path) -> tuple[str, ...]:
    tree = _tree(file, folder)
    if not isinstance(tree, ast.Module):
        return ()
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(dict.fromkeys(alias.name.partition(".")[0] for alias in node.names))
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found[node.module.partition(".")[0]] = None
    return tuple(found)


def _tree(file: Path, folder: Path) -> ast.Module | SyntaxError | None:
    """Parse a module; None: it cannot be read, or it is a link that leads out of the folder."""
    try:
        if not real_path(file).is_relative_to(real_path(folder)):
            return None
        known = file.stat()
        return _parsed(file, known.st_mtime_ns, known.st_size)
    except OSError:
        return None


@lru_cache(maxsize=64)
def _parsed(file: Path, _changed: int, _size: int) -> ast.Module | SyntaxError | None:
    try:
        with open_regular(file) as opened:
            return ast.parse(read_whole(opened, _MOST_BYTES))
    except SyntaxError as error:
        return error
    except (OSError, ValueError, RecursionError, MemoryError):
        return None
