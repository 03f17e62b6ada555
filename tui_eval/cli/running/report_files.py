"""Reports that `run` writes as it ends, for people and for CI servers."""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import click

from tui_eval.cli import streams

if TYPE_CHECKING:
    from tui_eval.store.rows import RunRow

_FILE: Final = click.Path(dir_okay=False, path_type=Path)
_EACH: Final = "{suite}"
"""Stands for the suite's name in the name of a file."""
_ON_GITHUB, _ON_GITLAB = "GITHUB_ACTIONS", "GITLAB_CI"
_OF_GITLAB: Final = Path("junit.xml")
_EACH_OF_GITLAB: Final = Path(f"junit-{_EACH}.xml")


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What is written of a run as it ends, whatever its exit code, unless nothing was started."""

    junit: Annotated[
        Path | None,
        click.option("--junit", type=_FILE, metavar="FILE", help="Write JUnit's XML at the end."),
    ]
    ctrf: Annotated[
        Path | None,
        click.option("--ctrf", type=_FILE, metavar="FILE", help="Write a CTRF report at the end."),
    ]
    markdown: Annotated[
        Path | None,
        click.option("--markdown", type=_FILE, metavar="FILE", help="Write a comment at the end."),
    ]
    html: Annotated[
        Path | None,
        click.option("--html", type=_FILE, metavar="FILE", help="Write a page at the end."),
    ]
    ci: Annotated[
        bool,
        click.option(
            "--ci",
            is_flag=True,
            help="Report as the CI server understands: annotations and the job's summary on "
            "GitHub, junit.xml on GitLab (of several suites junit-SUITE.xml).",
        ),
    ]

    def check(self, *, together: bool, text: bool, stays: bool) -> None:
        """Refuse what cannot be written, before anything is spent.

        Args:
            together: Whether there may be several suites.
            text: Whether stdout gets text for people.
            stays: Whether this command sees the run to its end.

        Raises:
            UsageError: with what is wrong.
        """
        files = dict(self._files())
        if (files or self.ci) and not stays:
            raise click.UsageError(
                "--detach and --watch do not wait for the end: `tui-eval export`"
            )
        if self.ci and not text:
            raise click.UsageError("--ci prints on stdout: not with --json or --events")
        for option, file in files.items():
            if together and _EACH not in file.name:
                raise click.UsageError(
                    f"--{option}: several suites need {_EACH} in the file's name"
                )
            if not file.absolute().parent.is_dir():
                raise click.UsageError(f"--{option}: there is no folder {file.absolute().parent}")

    def write(self, store: Path, run: "RunRow", *, together: bool) -> bool:
        """Write all of them; return whether that could be done. What could not is told.

        Args:
            store: The store's file.
            run: What is told of.
            together: Whether there may be other suites, whose files are others.
        """
        from tui_eval.cli.named.runs import readable
        from tui_eval.reports.exports.ci.github import SummaryError
        from tui_eval.reports.exports.export_choice import ExportChoice
        from tui_eval.reports.exports.formats import FORMATS
        from tui_eval.reports.exports.whole_file import to_file, to_stream

        wanted = dict(self._files())
        if self.ci and os.environ.get(_ON_GITLAB):
            wanted.setdefault("junit", _EACH_OF_GITLAB if together else _OF_GITLAB)
        whole = True
        with readable(store) as db:
            for name, file in wanted.items():
                place = file.with_name(file.name.replace(_EACH, _as_name(run.suite)))
                try:
                    to_file(place, FORMATS[name](db, run, ExportChoice()))
                except OSError as error:
                    streams.tell(f"error: --{name}: {error.filename}: {error.strerror}")
                    whole = False
            if self.ci and os.environ.get(_ON_GITHUB):
                try:
                    to_stream(sys.stdout, FORMATS["github"](db, run, ExportChoice()))
                except SummaryError as error:
                    streams.tell(f"error: --ci: {error.filename}: {error.strerror}")
                    whole = False
        if self.ci and not (os.environ.get(_ON_GITHUB) or os.environ.get(_ON_GITLAB)):
            streams.tell(
                f"--ci: neither {_ON_GITHUB} nor {_ON_GITLAB} is set: nothing to report to"
            )
        return whole

    def _files(self) -> Iterator[tuple[str, Path]]:
        for name in ("junit", "ctrf", "markdown", "html"):
            file: Path | None = getattr(self, name)
            if file is not None:
                yield name, file


def _as_name(suite: str) -> str:
    """Return a suite's name as part of a file's."""
    return re.sub(r"[^\w.-]+", "-", suite).strip("-.") or "suite"
