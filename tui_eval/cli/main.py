"""The command line: finds a command, runs it, and turns what goes wrong into an exit code.

Commands are imported when they are called: `--help` loads nothing but click.
"""

import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval import __version__
from tui_eval.cli import streams
from tui_eval.cli.errors import explain
from tui_eval.cli.options import first_store_option, log_level_option
from tui_eval.model.exit_code import ExitCode

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where a command lives, and what the list of commands says of it."""

    module: str
    help: str
    hidden: bool = False

    def load(self, name: str) -> click.Command:
        module = importlib.import_module(f"tui_eval.cli.commands.{self.module}")
        command: click.Command = getattr(module, _FUNCTIONS.get(name, name))
        return command


_COMMANDS: dict[str, _Entry] = {
    "run": _Entry("run", "Run suites in the foreground: progress, summary, exit code."),
    "check": _Entry("suites.check", "Validate suites and say what would run."),
    "runs": _Entry("results.show", "List runs."),
    "show": _Entry("results.show", "Show a run's summary, what did not pass, or one case in full."),
    "trace": _Entry("results.trace", "Tell what happened to a case, in order of time."),
    "watch": _Entry("app", "Open the app on a run, live or finished."),
    "resume": _Entry("control", "Finish what is missing of a run."),
    "retry": _Entry("control", "Ask again: what errored, failed, or the cases named."),
    "rescore": _Entry("control", "Score a run's outputs again; no target is asked."),
    "cancel": _Entry("control", "Cancel a run, or some of its cases."),
    "undo": _Entry("control", "Undo the last cancel or rescore of a run."),
    "delete": _Entry("results.delete", "Delete runs with all that only they have."),
    "baseline": _Entry("analysis.baseline", "Pin the run that later runs are compared with."),
    "compare": _Entry("analysis.compare", "Compare two runs case by case: is B better than A?"),
    "grade": _Entry("analysis.grade", "Grade outputs yourself, to see how far a judge is right."),
    "agreement": _Entry("analysis.agreement", "Say how far judges agree with people."),
    "history": _Entry("analysis.history", "Show what became of each case over the last runs."),
    "power": _Entry("analysis.power", "Say how many cases a difference needs."),
    "sweep": _Entry("analysis.sweep", "Measure how hard an endpoint can be driven."),
    "merge": _Entry("results.merge", "Unite stores: the parts of a run, or whole runs."),
    "export": _Entry("results.export", "Write a run's trials, or a report of it."),
    "workspace": _Entry(
        "results.workspace", "Write what a program left in its workspace as a folder."
    ),
    "import": _Entry("suites.importing", "Write a suite out of another tool's file."),
    "init": _Entry("suites.first_suite", "Write a first suite, commented."),
    "schema": _Entry("suites.first_suite", "Print the suite format as JSON Schema."),
    "serve": _Entry("serve", "Serve the app to browsers."),
    "completion": _Entry("completion", "Print the script that completes words in a shell."),
    "man": _Entry("man", "Print the manual page."),
    "trust": _Entry("suites.trust", "See and say what suites are trusted with."),
    "doctor": _Entry("doctor", "Look at the store, keys, endpoints and the terminal."),
    "complete": _Entry("completion", "What could be typed next.", hidden=True),
    "tab": _Entry("hidden.tab", "The app behind a tab of a browser.", hidden=True),
    "tryout": _Entry("hidden.tryout", "Try edited scorers on a run's outputs.", hidden=True),
    "engine": _Entry("hidden.engine", "Work on a run in the background.", hidden=True),
}
_OPEN = _Entry("app", "")
_FUNCTIONS = {"import": "import_file"}
"""Functions of commands whose own names are words of Python."""


class _Commands(click.Group):
    """Commands that are loaded when called; a first word that is none is a path."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _COMMANDS.get(cmd_name)
        return None if entry is None else entry.load(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word in _COMMANDS or word.startswith("-"):
            return super().resolve_command(ctx, args)
        if Path(word).exists():
            return "open", _OPEN.load("open_app"), args
        near = difflib.get_close_matches(word, _visible(), n=1, cutoff=0.5)
        hint = f"did you mean `{near[0]}`?" if near else f"the commands are {', '.join(_visible())}"
        raise click.UsageError(f"{word!r} is neither a command nor a file or folder; {hint}", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Offer commands without loading them, options, and where a path may stand suites."""
        from click.shell_completion import CompletionItem

        words = [name for name in _visible() if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=_COMMANDS[name].help) for name in words]
        options = click.Command.shell_complete(self, ctx, incomplete)
        if (commands and not incomplete) or options:
            return [*commands, *options]
        from tui_eval.cli.completion.named_values import suites

        return [*commands, *suites(ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> object:
        try:
            code: object = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # who read our output has gone; told here, because click makes an exit code 1 of it
            streams.silence()
            return 0
        return code

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name].help) for name in _visible()])


def _visible() -> list[str]:
    return [name for name, entry in _COMMANDS.items() if not entry.hidden]


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    subcommand_metavar="[PATH… | COMMAND …]",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="RUN is a run's name, an unambiguous beginning of it, what --name said, or `last`.  "
    "Exit codes: 0 fine, 1 the gate does not hold, 2 nothing was started, 3 errors, ungraded "
    "trials or it could not go on, 130 interrupted.",
)
@click.version_option(__version__, prog_name="tui-eval", message="%(prog)s %(version)s")
@first_store_option
@log_level_option
@click.pass_context
def cli(ctx: click.Context, store: Path | None, log_level: str | None) -> int:
    """A terminal workbench for LLM evaluations.

    Without a command it opens the app on the suites and folders named (without those, on the
    current folder), then on the samples.
    """
    ctx.obj = store
    if log_level is not None:  # engines that this process starts look for it there, too
        os.environ["TUI_EVAL_LOG_LEVEL"] = log_level
    if ctx.invoked_subcommand is None:
        command = _OPEN.load("open_app")
        code: int = ctx.invoke(command, paths=(), store=None)
        return code
    return 0


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; give the exit code.

    Args:
        arguments: The words after the program's name; None: those of the process.
    """
    streams.prepare()
    try:
        code = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="tui-eval",
            standalone_mode=False,
        )
    except click.ClickException as error:
        streams.tell_usage(error)
        return ExitCode.NOT_STARTED
    except (click.Abort, KeyboardInterrupt):
        streams.tell("interrupted")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the edge of the process
        return explain(error)
    return code if isinstance(code, int) else 0
