"""Settings of all tests."""

import gc
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from tests import sampling
from tests.containers import Podman, working_podman
from tests.prepared import prepared_starts
from tui_eval.cli import logs
from tui_eval.providers import keys

_GARBAGE = (10_000, 20, 50)
"""How much is made before each generation of garbage is looked for."""


def pytest_sessionstart(session: pytest.Session) -> None:
    """Import the modules of tests, each worker from another one on.

    Pytest compiles a module of tests when it is first imported, ten seconds for all: in each worker
    where they import them in one order, and once where each begins elsewhere.
    """
    if settings.get_current_profile_name() != sampling.WHOLE:
        _draw_nothing_from_source()
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    given = [Path(arg.partition("::")[0]) for arg in session.config.args]
    files = [file for path in given for file in (sorted(path.rglob("test_*.py")) or [path])]
    first = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in files[first:] + files[:first]:
        name = ".".join(file.resolve().relative_to(session.config.rootpath).with_suffix("").parts)
        try:
            import_module(name)
        except Exception:  # noqa: BLE001  # it is told when the module is collected
            return


def _draw_nothing_from_source() -> None:
    """Let properties draw nothing that stands in the package's modules.

    Each worker would look through them all, two seconds the first time, and which there are hangs
    on what was imported by then.
    """
    providers._get_local_constants = lambda: providers._local_constants  # there is no setting


def pytest_configure() -> None:
    """Let nobody look for garbage while thousands of tests are made, which stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let garbage be looked for seldom, and not among thousands of tests, which stay.

    As the interpreter begins it would take a tenth of the CPU of tests that open the app.
    """
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _no_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep every test away from the user's own configuration and what the user trusts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TUI_EVAL_CONFIG", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _prepared_starts() -> Iterator[None]:
    """Let processes of the package that tests start begin with its modules imported."""
    with prepared_starts():
        yield


@pytest.fixture(scope="session")
def _own_podman() -> Iterator[Podman]:
    with working_podman() as made:
        yield made


@pytest.fixture
def podman(_own_podman: Podman, monkeypatch: pytest.MonkeyPatch) -> Podman:
    """Give a podman that this process and what it starts use too; skip where none works."""
    for name, value in _own_podman.environment.items():
        monkeypatch.setenv(name, value)
    return _own_podman


@pytest.fixture
def one_processor() -> Iterator[None]:
    """Let this thread, and what it starts, use one processor.

    The embedded model computes with a thread for each it may use. They wait for one another by
    going round: where others work too, that is most of what it takes.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture(autouse=True)
def _no_secrets_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test redact what an earlier one registered."""
    monkeypatch.setattr(keys, "_stand_ins", {})


@pytest.fixture(autouse=True)
def _no_log_level_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what a command line says of the level, which the process keeps, end with its test."""
    monkeypatch.setenv(logs.VARIABLE, "")
    monkeypatch.delenv(logs.VARIABLE)  # as it is put back, so it is here


# no deadlines: a busy machine is no mistake
settings.register_profile("whole", deadline=None)  # `make faults`
settings.register_profile("usual", deadline=None, max_examples=40)
settings.register_profile("fast", deadline=None, max_examples=15)  # `make fast`
settings.load_profile("usual")
