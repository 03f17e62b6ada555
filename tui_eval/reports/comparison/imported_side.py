"""Results of another tool as a side of a comparison."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Set

from tui_eval.engine.preflight.import_comparison import RecordedResult
from tui_eval.reports.comparison.compared_case import ComparedCase
from tui_eval.reports.comparison.side import Side, tags_among
from tui_eval.reports.rates.case_results import case_verdict
from tui_eval.suites.spec.run import RunSettings


class ImportedSide:
    """A file of another tool, compared with a side that has rows of its own.

    Cases are paired by their ids alone: how the other tool wrote a row says nothing of ours.
    """

    is_baseline = True
    finished = True
    judged = False
    """It does not say what its verdicts rest on."""

    def __init__(
        self, name: str, results: Iterable[RecordedResult], rules: RunSettings, other: Side
    ) -> None:
        """Take the results.

        Args:
            name: What a person calls the file.
            results: What each case came to.
            rules: How epochs are reduced.
            other: What it is compared with, which says how rows are.
        """
        self.name = name
        self._other = other
        self._cases: dict[str, dict[str, ComparedCase]] = {}
        self._tags: dict[str, tuple[str, ...]] = {}
        for one in results:
            came_to = case_verdict(one.fates, rules.errors, rules.reduction)
            case = ComparedCase(came_to.value, None, self, one.case.weight)
            self._cases.setdefault(one.column, {})[one.case.id] = case
            if one.case.tags:
                self._tags[one.case.id] = one.case.tags

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns, in their order."""
        return tuple(self._cases)

    @property
    def scorers(self) -> Mapping[str, bytes]:
        """None: it has verdicts alone."""
        return {}

    @property
    def frozen_scorers(self) -> str | None:
        """None: it has verdicts alone."""
        return None

    def cases(self, column: str, scorer: str | None = None) -> Iterator[tuple[str, ComparedCase]]:
        """Return what each case came to (see `Side.cases`); it has no scorers of its own."""
        assert scorer is None, "it names no scorer"
        return iter(self._cases[column].items())

    def by_hand(self, column: str, scorer: str | None = None) -> Set[str]:
        """Return none: the file does not say what a person decided."""
        return frozenset()

    def tags(self, among: Collection[str] | None = None) -> Mapping[str, tuple[str, ...]]:
        """Return the tags of those cases that have any, by the case's id (see `Side.tags`)."""
        return tags_among(self._tags, among)

    def row_digest(self, case_id: str) -> bytes:
        """Return the digest that the other side has: rows are not compared."""
        return self._other.row_digest(case_id)
