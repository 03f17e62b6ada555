"""From a TOML file to a `Suite`, with all its mistakes at once."""

import os
import re
import tomllib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path as FilePath
from typing import Any, Final

from pydantic import ValidationError

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites import judge_choice
from tui_eval.suites.data.dataset import inline_mistakes
from tui_eval.suites.data.files import real_path
from tui_eval.suites.loading import inlining, overrides, references, sources
from tui_eval.suites.loading.errors import Mistake, SuiteError, did_you_mean
from tui_eval.suites.loading.overrides import Sets
from tui_eval.suites.loading.source_map import SourceLocation, SourceMap, tables
from tui_eval.suites.loading.validation import validated
from tui_eval.suites.plugins import plugin_tables
from tui_eval.suites.program_fields import digest_of
from tui_eval.suites.scorers import scorer_of
from tui_eval.suites.scorers.scorer import EMBEDDING
from tui_eval.suites.spec import JUDGES, TARGETS, UNNAMED, Suite, SuiteFile, UserSpec
from tui_eval.suites.trust.capabilities import Folder, permissions_of, suite_permissions
from tui_eval.suites.trust.needs_trust import NeedsTrust
from tui_eval.suites.trust.permissions import Permission, PermissionRequest, PermissionState
from tui_eval.suites.trust.trust_store import Grants


@dataclass(frozen=True, slots=True)
class LoadedSuite:
    """A suite, as far as it may be read without permission, and the permissions it asks for."""

    suite: Suite | None
    """None: some of it lies outside its folder, and that is not trusted."""
    asks: tuple[PermissionRequest, ...]
    """All it wants that needs trust, as far as that can be known."""

    @property
    def refused(self) -> tuple[PermissionRequest, ...]:
        """What it wants and is not trusted with."""
        return tuple(ask for ask in self.asks if ask.standing is not PermissionState.TRUSTED)


def load(
    path: FilePath,
    *,
    sets: Sets = (),
    trusted: bool = False,
    given: Mapping[str, object] | None = None,
) -> Suite:
    """Return a suite merged with what it includes, validated, with its files inlined.

    Args:
        path: The TOML file.
        sets: Fields to set before anything is checked, as `--set PATH=VALUE` has them.
        trusted: Whether it may read outside its folder and send keys to other hosts, whatever
            it was trusted with before.
        given: What the file would hold, where a program gives that; `path` is its name then, and
            its folder the suite's.

    Raises:
        NeedsTrust: when it wants more than that and is not trusted; nothing outside was read.
        SuiteError: with every mistake that was found.
    """
    found = look(path, sets=sets, trusted=trusted, given=given)
    if found.suite is None or found.refused:
        raise NeedsTrust(str(path), found.refused, found.suite)
    return found.suite


def look(
    path: FilePath,
    *,
    sets: Sets = (),
    trusted: bool = False,
    allowed: Iterable[Permission] = (),
    given: Mapping[str, object] | None = None,
) -> LoadedSuite:
    """Read a suite as far as it may be without permission, and list the permissions it asks for.

    Args:
        path: The TOML file.
        sets: As with `load`.
        trusted: As with `load`.
        allowed: What it may do this once, beside what it was trusted with before.
        given: As with `load`.

    Raises:
        SuiteError: with every mistake that was found.
    """
    grants = Grants(path, allowed)
    folder = Folder(path.absolute().parent, trusted, grants)
    source = (
        sources.read(path, folder) if given is None else sources.of_mapping(given, path, folder)
    )
    data, places = source.data, source.places
    if folder.refused:  # what is included is not known: nothing can be judged yet
        _with_defaults(data, places)
        plugin_tables.resolve(data, places, lambda _: False)
        inlining.inline(data, places, folder)
        return LoadedSuite(
            None, (*folder.asks, *_judged(_written_permissions(data, folder.path), grants, trusted))
        )
    mistakes = [*source.mistakes, *overrides.apply(data, places, sets)]
    mistakes += _with_defaults(data, places)
    mistakes += plugin_tables.resolve(data, places, partial(_is_allowed, grants, trusted))
    # what files hold is put in place before anything is checked, so that it is checked too
    mistakes += inlining.inline(data, places, folder)
    mistakes += _mistakes_in_fields(data, places)
    mistakes += _not_following(references.check(data, places), mistakes)
    if mistakes:
        raise SuiteError(_in_order(mistakes))
    suite = _suite(data, path, folder)
    asks = (*folder.asks, *_judged(suite_permissions(suite), grants, trusted))
    if folder.refused:
        return LoadedSuite(None, asks)
    wrong = inline_mistakes(suite, lambda index: _place_of_case(places, index))
    if wrong:
        raise SuiteError(wrong)
    return LoadedSuite(suite, asks)


_SCORING: Final = frozenset(("judge", "judges", EMBEDDING, "scorers"))
"""What of a run's suite can be set when its outputs are scored again."""


def look_again(frozen: Suite, sets: Sets, *, trusted: bool = False) -> LoadedSuite:
    """Set fields of a run's frozen suite that decide how it is scored, and validate them.

    Args:
        frozen: The suite as the run keeps it.
        sets: As with `load`; judges and scorers alone.
        trusted: As with `load`.

    Raises:
        SuiteError: with every mistake that was found.
    """
    data: dict[str, Any] = frozen.model_dump(
        mode="json", by_alias=True, exclude={"file", "outside", "scorer_code"}
    )
    path = FilePath(frozen.file or f"{frozen.name}.toml")
    places = SourceMap(SourceLocation(str(path), None, path.parent, ()))
    # the one of its kind as a file has it
    judges = {judge["name"]: judge for judge in data.pop("judges")}
    if EMBEDDING in judges:
        data[EMBEDDING] = judges.pop(EMBEDDING)
    if [*judges] == [UNNAMED]:
        data["judge"] = judges[UNNAMED]
    elif judges:
        data["judges"] = [*judges.values()]
    if [prompt.name for prompt in frozen.prompts] == [None]:
        (data["prompt"],) = data.pop("prompts")
    mistakes = overrides.apply(data, places, sets, only=_SCORING)
    mistakes += _mistakes_in_fields(data, places)
    mistakes += [
        places.mistake((*at, "gold"), "a file cannot be read here", "edit the suite, use --suite")
        for at, judge in judge_choice.judge_tables(data)
        if isinstance(judge.get("gold"), str)
    ]
    mistakes += _not_following(references.check(data, places), mistakes)
    if mistakes:
        raise SuiteError(_in_order(mistakes))
    folder = Folder(path.absolute().parent, trusted, Grants(path))
    suite = _suite(data, path, folder)
    return LoadedSuite(suite, tuple(_judged(suite_permissions(suite), Grants(path), trusted)))


def _is_allowed(grants: Grants, trusted: bool, permission: Permission) -> bool:
    return trusted or grants.judge(permission).standing is PermissionState.TRUSTED


def _judged(
    permissions: Iterable[Permission], grants: Grants, trusted: bool
) -> Iterator[PermissionRequest]:
    for permission in dict.fromkeys(permissions):
        yield (
            PermissionRequest(permission, PermissionState.TRUSTED)
            if trusted
            else grants.judge(permission)
        )


def _written_permissions(data: JsonObject, folder: FilePath) -> Iterator[Permission]:
    """Yield the permissions that targets, judges and scorers ask for, before they are validated."""
    for _, target in tables(data, "targets"):
        yield from permissions_of(TARGETS.of(target), target, folder)
    for _, judge in judge_choice.judge_tables(data):
        yield from permissions_of(JUDGES.of(judge), judge, folder)
    for _, scorer in tables(data, "scorers"):
        yield from scorer_of(scorer).permissions(scorer, folder)
    for _, user in tables(data, "user"):
        yield from permissions_of(UserSpec, user, folder)


def _with_defaults(data: JsonObject, places: SourceMap) -> list[Mistake]:
    """Merge [target_defaults] under every target, as far as its kind has such a field."""
    defaults = data.pop("target_defaults", None)
    if defaults is None:
        return []
    if not isinstance(defaults, dict):
        return [places.mistake(("target_defaults",), "must be a table")]
    known = {
        kind: {field.alias or name for name, field in model.model_fields.items()} - {"name"}
        for kind, model in TARGETS.models.items()
    }
    fields = set().union(*known.values())
    mistakes = [
        places.mistake(("target_defaults", key), "unknown key", did_you_mean(key, sorted(fields)))
        for key in defaults
        if key not in fields
    ]
    for path, target in tables(data, "targets"):
        kind = target.get("kind", defaults.get("kind", "model"))
        usable = known.get(str(kind), set())
        for key, value in defaults.items():
            if key in usable:
                _merge_default(target, key, value, places, ("target_defaults", key), (*path, key))
    return mistakes


def _merge_default(
    table: JsonObject,
    key: str,
    value: Json,
    places: SourceMap,
    source: tuple[str | int, ...],
    target: tuple[str | int, ...],
) -> None:
    own = table.get(key)
    if own is None:
        table[key] = _copied(value)
        places.copy(source, target)
    elif isinstance(own, dict) and isinstance(value, dict):
        for inner, item in value.items():
            _merge_default(own, inner, item, places, (*source, inner), (*target, inner))


def _copied(value: Json) -> Json:
    """Copy a value, so that no two targets share a table."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value


def _not_following(found: list[Mistake], before: list[Mistake]) -> list[Mistake]:
    """Return mistakes without those that a gate has only because scorers are invalid."""
    if not any(mistake.field.startswith("scorers[") for mistake in before):
        return found
    return [mistake for mistake in found if not mistake.field.startswith("gate.scorers.")]


def _mistakes_in_fields(data: JsonObject, places: SourceMap) -> list[Mistake]:
    return [
        places.mistake(found.path, found.message, found.hint)
        for found in validated(SuiteFile, data)
    ]


def _in_order(mistakes: list[Mistake]) -> list[Mistake]:
    """Return the mistakes by file, in order of reading, and line, without repetitions."""
    files = list(dict.fromkeys(mistake.file for mistake in mistakes))
    return sorted(
        dict.fromkeys(mistakes),
        key=lambda mistake: (files.index(mistake.file), mistake.line or 0),
    )


def _suite(data: JsonObject, path: FilePath, folder: Folder) -> Suite:
    kept: dict[str, Any] = dict(data)
    prompt = kept.pop("prompt", None)
    if prompt is not None:
        kept["prompts"] = [prompt]
    judge = kept.pop("judge", None)
    if judge is not None:
        kept["judges"] = [judge]
    embedding = kept.pop(EMBEDDING, None)
    if embedding is not None:
        kept["judges"] = [*kept.get("judges", []), {"kind": EMBEDDING, **embedding}]
    names = judge_choice.judge_names(kept)
    for _, scorer in tables(kept, "scorers"):
        judge_choice.name_judge(scorer, names)
    kept.setdefault("name", path.stem)
    kept["file"] = str(path.absolute())
    kept["outside"] = list[Json](sorted(str(path) for path in folder.outside))
    kept["scorer_code"] = _scorer_code(kept, folder)
    try:
        return Suite.model_validate(kept)
    except ValidationError as error:
        # the fields were checked before: this is a difference between SuiteFile and Suite
        raise AssertionError(f"{path} was found right and is not: {error}") from error


def name_of(path: FilePath) -> str:
    """Return what a suite calls itself; its file's name where it does not.

    Raises:
        SuiteError: the file cannot be read, or is not TOML.
    """
    name = sources.read(path, Folder(path.parent)).data.get("name")
    return name if isinstance(name, str) else path.stem


def _scorer_code(data: JsonObject, folder: Folder) -> JsonObject:
    """Return what the files hold that scorers' programs are made of, see `Suite.scorer_code`."""
    found: JsonObject = {}
    for _, scorer in tables(data, "scorers"):
        paths = [*scorer_of(scorer).code(scorer, folder.path)]
        known = {
            os.path.relpath(path, folder.path): digest_of(path)
            for path in paths
            if folder.may_read(path)
        }
        if known:
            held: JsonObject = {name: digest for name, digest in known.items() if digest}
            found[str(scorer.get("name", scorer.get("kind")))] = held
    return found


def _place_of_case(places: SourceMap, index: int) -> tuple[str, int | None]:
    place = places.of(("cases", index))
    return place.file, place.line


_DATA: Final = re.compile(r"^\s*(\[dataset\b|\[\[\s*cases\s*\]\]|dataset\s*[.=]|cases\s*=)", re.M)
_ASKED: Final = re.compile(
    r"^\s*(\[\[\s*(targets|scorers)\s*\]\]|(targets|scorers|include)\s*=)", re.M
)
_OF_A_SUITE: Final = re.compile(
    r"^\s*(\[\[\s*(targets|scorers|cases|prompts)\b|\[\s*(prompt|dataset|gate|judge)\b)", re.M
)
_SKIPPED: Final = frozenset(("node_modules", "__pycache__", "site-packages", "build", "dist"))
_MOST_FOLDERS: Final = 2_000
"""Folders that are looked into: somebody may start in a home directory."""
_ENOUGH: Final = 4_000_000
"""Bytes of a file that are looked at to see whether it is a suite."""


def discover(paths: Sequence[FilePath]) -> list[FilePath]:
    """Return the suites among files and in folders, sorted by path.

    A file that is named is taken as it is. In folders, and the folders in them, TOML files count
    that have cases and something to do with them; hidden folders are left out, and so are
    symbolic links that lead out of the folder. No more than 2,000 folders are looked into.

    Raises:
        SuiteError: for paths that lead nowhere.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise SuiteError(Mistake(str(path), None, "", "no such file or folder") for path in missing)
    found: dict[FilePath, FilePath] = {}
    for path in paths:
        for file in sorted(_in_folder(path)) if path.is_dir() else [path]:
            found.setdefault(real_path(file), file)
    return sorted(found.values())


def _in_folder(folder: FilePath) -> Iterator[FilePath]:
    """Yield the suites in a folder and those below it, breadth first."""
    root = real_path(folder)
    waiting = deque([folder])
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            return
        for entry in _entries(waiting.popleft()):
            path = FilePath(entry.path)
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED and not (path / "pyvenv.cfg").exists():
                    waiting.append(path)
            elif entry.name.endswith(".toml"):
                real = real_path(path)
                if real.is_relative_to(root) and real.is_file() and looks_like_a_suite(real):
                    yield path


def _entries(folder: FilePath) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []  # what cannot be looked into holds nothing that can be run


def looks_like_a_suite(file: FilePath) -> bool:
    """Return whether a TOML file has cases and something to do with them, by its first part.

    One that has a suite's tables and cannot be read is one with a mistake: it is told, not passed
    over.
    """
    try:
        with file.open("rb") as opened:
            text = opened.read(_ENOUGH).decode("utf-8", "replace")
    except OSError:
        return False  # what cannot be read cannot be offered
    if _DATA.search(text) and _ASKED.search(text):
        return True
    whole = len(text) < _ENOUGH
    return whole and bool(_OF_A_SUITE.search(text)) and not _is_toml(text)


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
