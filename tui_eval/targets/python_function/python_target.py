"""A Python function as a target."""

import json
import shlex
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.providers import keys
from tui_eval.providers.errors import UnavailableError
from tui_eval.suites.function_source import code_digest, local_code
from tui_eval.suites.spec import PythonTargetSpec
from tui_eval.targets.base import NothingToSendError
from tui_eval.targets.build_context import BuildContext
from tui_eval.targets.python_function import interpreters
from tui_eval.targets.python_function.call_arguments import CallArguments
from tui_eval.targets.python_function.function_pool import (
    CallRefusal,
)
from tui_eval.targets.python_function.worker_process import CalledFunction
from tui_eval.targets.python_function.worker_target import WorkerTarget

_TOLD_AFTER_S: Final = 1.0
"""Seconds a call takes before it is told that it runs."""


_SHOWN: Final = 16
"""Digits of the code's digest by which people, and a run that goes on, know it."""


class PythonTarget(WorkerTarget):
    """Calls a function that the suite names."""

    def __init__(self, spec: PythonTargetSpec, context: BuildContext) -> None:
        """Make the target; nothing is started, and nothing of the function's code is run."""
        super().__init__(spec, context, spec.callable)
        self._spec = spec
        self._folder = context.folder
        self._arguments = CallArguments(_as_json(spec), spec.name)

    def problem(self) -> str | None:
        """Say that the interpreter is not there, or that a key is not set."""
        try:
            self._interpreter()
            self._environment()
        except UnavailableError as error:
            return str(error)
        return None

    def identity(self) -> JsonObject:
        """Return the function, the code beside the suite that it is made of, the interpreter."""
        known: JsonObject = {
            "kind": self.kind,
            "callable": self._spec.callable,
            "code": self._code,
            "python": interpreters.known_as(self._spec.python),
            "env": dict(self._spec.env),
            "keys": [*sorted(self._spec.key_names)],
        }
        if self._spec.version is not None:
            known["version"] = self._spec.version
        return known

    @property
    def version(self) -> str | None:
        """What its code beside the suite is; None: there is none."""
        return None if self._code is None else f"code {self._code[:_SHOWN]}"

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Return what the function is called with, by place or by name."""
        return self._arguments.request(self._renderer, column, case)

    def own_files(self) -> Sequence[Path]:
        """Return the files of the code beside the suite that its function is made of."""
        module = self._spec.callable.partition(":")[0]
        return [file for code in local_code(module, self._folder) for file in code.files]

    def as_command(self, column: Column, case: Case) -> str:
        """Return a command that makes the same call and prints what comes of it.

        Raises:
            NothingToSendError: what it is called with cannot be rendered.
        """
        request = self.request(column, case)
        if isinstance(request, Failure):
            raise NothingToSendError(request.message)
        module, _, function = self._spec.callable.partition(":")
        code = (
            "import sys, json, inspect, asyncio, importlib; "
            f"sys.path.insert(0, '.'); f = importlib.import_module('{module}').{function}; "
            "a = json.loads(sys.argv[1]); r = f(*a['args'], **a['kwargs']); "
            "exec('async def wait(): return await r'); "
            "print(asyncio.run(wait()) if inspect.isawaitable(r) else r)"
        )
        words = [self._spec.python or "python", "-c", code, json.dumps(request)]
        return f"cd {shlex.quote(str(self._folder))} && {shlex.join(words)}"

    @cached_property
    def _code(self) -> str | None:
        """What its code was when this was made."""
        return self._present_code()

    def _present_code(self) -> str | None:
        module = self._spec.callable.partition(":")[0]
        return code_digest(local_code(module, self._folder), self._folder)

    def _changed(self) -> bool:
        return self._present_code() != self._code

    def _function(self) -> CalledFunction:
        module, _, function = self._spec.callable.partition(":")
        return CalledFunction(
            module=module,
            function=function,
            folder=self._folder,
            interpreter=self._interpreter(),
            env=self._environment(),
            positional=self._arguments.positional,
            keywords=self._arguments.keywords,
            limits=self._limits(),
        )

    def _interpreter(self) -> str:
        wanted = self._spec.python
        found = interpreters.interpreter(wanted, self._folder)
        if found is None:
            raise UnavailableError(
                f"target {self.name!r}: there is no interpreter {wanted}: mend `python`, or leave "
                "it out for tui-eval's own"
            )
        return found

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), **self._spec.env}

    def _refusal(self, refused: CallRefusal) -> str:
        field = {"args": "args", "python": "python"}.get(refused.what, "callable")
        return f"target {self.name!r}: {field}: {keys.redact(refused.message)}"


def _as_json(spec: PythonTargetSpec) -> Json:
    args: Json = spec.model_dump(mode="json", include={"args"})["args"]
    return args
