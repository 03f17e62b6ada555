"""`tui-eval agreement`: how far judges agree with people."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.named.suggest import refuse_unknown
from tui_eval.cli.options import json_option, run_argument, store_file, store_option
from tui_eval.invocation import command_name

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.reports.agreement.run_agreement import ScorerAgreement
    from tui_eval.store.rows import RunRow


@click.command()
@run_argument
@click.option("--scorer", metavar="NAME", help="Only of this scorer.")
@json_option
@store_option
def agreement(name: str, scorer: str | None, as_json: bool, store: Path | None) -> None:
    """Say how far judges agree with people who graded the same outputs.

    By scorer and target, in the shares that the judge's verdicts have in the run; between people
    where several graded the same. From 30 grades, 10 of what the judge passed and 10 of what it
    failed, the rate that people would have given stands beside the judge's.
    """
    from tui_eval.cli.named.runs import readable
    from tui_eval.reports import json_output
    from tui_eval.reports.agreement.agreement_document import agreement_document
    from tui_eval.reports.terminal.agreement_text import agreement_text
    from tui_eval.reports.terminal.tables import AnsiStyle
    from tui_eval.store.read import run_queries
    from tui_eval.store.read.report_queries import moment

    with readable(store_file(store)) as db:
        run = run_queries.run_named(db, name)
        with moment(db):
            found = _measured(db, run, scorer)
            columns = run_queries.columns(db, run.id)
    if as_json:
        streams.say(json_output.dumps(agreement_document(found, columns), indent=2))
        return
    graded = any(one.pooled.n or one.pooled.cannot_tell or one.gold for one in found)
    if not graded:
        streams.say(
            f"nobody has graded outputs of {run.name} yet: "
            f"`{command_name()} grade {run.name}` begins"
        )
        return
    ink = AnsiStyle(streams.coloured())
    streams.say(agreement_text(found, columns, width=streams.width(), ink=ink))


def _measured(
    db: "sqlite3.Connection", run: "RunRow", scorer: str | None
) -> "list[ScorerAgreement]":
    """Return what was measured: of all scorers that judges decide or people graded, or of one.

    Raises:
        CommandError: there is no such scorer.
    """
    from tui_eval.reports.agreement.run_agreement import scorer_agreement
    from tui_eval.store.read import grade_queries, report_queries
    from tui_eval.store.write.judges import measured_judges
    from tui_eval.suites.frozen_suite import readable_suite

    suite = readable_suite(db, run.id)
    golds = measured_judges.measured(db, run.id)[1]
    graded = grade_queries.graded_scorers(db, run.id)
    judged = report_queries.judged_scorers(db, run.id)
    known = list(dict.fromkeys([*report_queries.scorer_names(db, run.id), *graded]))
    if scorer is not None:
        refuse_unknown(f"scorer of run {run.name}", [scorer], known)
        wanted = [scorer]
    else:
        wanted = [one for one in known if one in judged or one in graded]
    return [scorer_agreement(db, run.id, one, suite, golds) for one in wanted]
