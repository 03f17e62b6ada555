"""Results of another tool compared with a run: `tui-eval import FILE --compare RUN`."""

from collections.abc import Sequence
from pathlib import Path

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.named.runs import readable
from tui_eval.cli.named.sides import pairs_of_names, side_named
from tui_eval.engine.preflight.import_comparison import recorded_results
from tui_eval.reports.comparison.baseline.baseline_file import BaselineFileError
from tui_eval.reports.comparison.comparison import ComparisonChoice, compare
from tui_eval.reports.comparison.comparison_document import comparison_pieces
from tui_eval.reports.comparison.imported_side import ImportedSide
from tui_eval.reports.comparison.pairing import NothingToPairError
from tui_eval.reports.terminal.comparison_text import comparison_text
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.read.report_queries import moment
from tui_eval.suites.importers.writing import WrittenSuite
from tui_eval.suites.loading.suite_file import load


def compare_imported(
    file: Path,
    written: WrittenSuite,
    run: str,
    rows: Sequence[str],
    *,
    as_json: bool,
    store: Path,
) -> None:
    """Print how a run differs from what a file of another tool holds.

    Args:
        file: The file.
        written: The suite it was made into.
        run: The run, or one of its columns.
        rows: Which targets belong together, as `X=Y`.
        as_json: Whether the document is printed.
        store: The store.

    Raises:
        CommandError: nothing belongs together.
        StoreError: there is no store, or no such run.
    """
    suite = load(written.suite)
    if not suite.recordings:
        raise CommandError(f"{file}: holds no outputs, so there is nothing to compare")
    with readable(store) as db, moment(db):
        try:
            b = side_named(db, run)
            a = ImportedSide(file.name, recorded_results(suite), suite.run, b)
            found = compare(a, b, ComparisonChoice(pairs_of_names(rows)))
        except (NothingToPairError, BaselineFileError) as error:
            raise CommandError(str(error)) from None
        if not any(row.pairs.n for row in found.rows):
            raise CommandError(
                f"no case of {file.name} with a result has the id of one of {run}: --id COLUMN "
                "says which column of the file names the case"
            )
        if as_json:
            streams.say_pieces(comparison_pieces(found))
        else:
            ink = AnsiStyle(streams.coloured())
            streams.say(comparison_text(found, width=streams.width(), ink=ink))
