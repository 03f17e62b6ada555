"""A plugin as a target."""

import sys
from dataclasses import replace
from typing import Any

from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.plugins.lookup import PluginError, PluginSort, find_plugin, worker_path
from tui_eval.providers import keys
from tui_eval.providers.errors import UnavailableError
from tui_eval.suites.plugins.description import CALLS, FUNCTIONS
from tui_eval.suites.plugins.plugin_fields import why_unusable
from tui_eval.suites.spec import PluginTargetSpec
from tui_eval.suites.templates.template import NestedTemplate, TemplateError
from tui_eval.targets.build_context import BuildContext
from tui_eval.targets.python_function.function_pool import CallReply
from tui_eval.targets.python_function.worker_process import CalledFunction
from tui_eval.targets.python_function.worker_target import WorkerTarget

_MOST_WAIT_S = 3600.0
"""Seconds to wait that are believed."""


class PluginTarget(WorkerTarget):
    """Calls the plugin that the suite names."""

    def __init__(self, spec: PluginTargetSpec, context: BuildContext) -> None:
        """Make the target; nothing is started, and none of its code is run."""
        super().__init__(spec, context, f"plugin {spec.plugin}")
        self._spec = spec
        args: Json = spec.model_dump(mode="json", include={"args"})["args"]
        self._args = NestedTemplate(args, f"targets.{spec.name}.args")

    def problem(self) -> str | None:
        """Say that it is not there, is another one by now, or that a key is not set."""
        why = why_unusable(PluginSort.TARGET, self._spec.plugin, self._spec.distribution)
        if why is not None:
            return f"target {self.name!r}: {why}"
        try:
            self._environment()
        except UnavailableError as error:
            return str(error)
        return None

    def identity(self) -> JsonObject:
        """Return the plugin, its distribution and version, and its settings."""
        return {
            "kind": self.kind,
            "plugin": self._spec.plugin,
            "distribution": self._spec.distribution,
            "version": self._spec.version,
            "settings": dict(self._spec.settings),
            "keys": [*sorted(self._spec.key_names)],
        }

    @property
    def version(self) -> str | None:
        """Return which it is, by its distribution and its own version."""
        return f"{self._spec.distribution}, plugin version {self._spec.version}"

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Return `prompt`, `messages`, `args`, and without a prompt the `case`."""
        try:
            names = self._renderer.target_names(column, case)
            messages = self._renderer.messages(column, case)
            args = self._args.value(names) if self._spec.args is not None else {}
        except TemplateError as error:
            return Failure("template", str(error))
        asked: JsonObject = {"messages": [*messages], "args": args}
        if messages:
            return {**asked, "prompt": names["prompt"]}
        return {**asked, "prompt": None, "case": case.fields}

    def _function(self) -> CalledFunction:
        return CalledFunction(
            module=CALLS,
            function=FUNCTIONS[PluginSort.TARGET],
            folder=self._context.folder,
            interpreter=sys.executable,
            env=self._environment(),
            positional=0,
            keywords=("module", "settings", "request", "timeout_s"),
            limits=self._limits(),
            path=tuple(worker_path()),
        )

    def _changed(self) -> bool:
        why = why_unusable(PluginSort.TARGET, self._spec.plugin, self._spec.distribution)
        return why is not None

    def _arguments_of(self, request: JsonObject, seconds: float) -> tuple[list[Any], JsonObject]:
        try:
            found = find_plugin(PluginSort.TARGET, self._spec.plugin)
        except PluginError as error:
            raise UnavailableError(f"target {self.name!r}: {error}") from None
        return [], {
            "module": found.module,
            "settings": dict(self._spec.settings),
            "request": request,
            "timeout_s": seconds,
        }

    def _read(self, came: CallReply) -> Output | Failure:
        returned = came.reply.get("returned")
        if not isinstance(returned, dict):
            return super()._read(came)  # it raised, or gave what is no JSON
        failure = returned.get("failure")
        inner: JsonObject = {**came.reply, "returned": returned.get("output")}
        if not isinstance(failure, dict):
            return super()._read(replace(came, reply=inner))
        wait = failure.get("retry_after_s")
        return Failure(
            keys.redact(str(failure.get("kind"))),
            keys.redact(str(failure.get("message"))),
            retryable=failure.get("retryable") is True,
            fatal=failure.get("fatal") is True,
            retry_after_s=min(float(wait), _MOST_WAIT_S) if isinstance(wait, int | float) else None,
        )
