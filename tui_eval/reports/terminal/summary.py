"""What a run came to, as text for a person."""

from collections.abc import Iterator
from pathlib import Path

from tui_eval.format import (
    clock,
    cost,
    many,
    per_second,
    percent,
)
from tui_eval.invocation import command_name
from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.reduction import CaseRules, Reduce
from tui_eval.model.states import RunState, StartRefusal
from tui_eval.model.visible import visible_line
from tui_eval.reports.column_results import ColumnResults
from tui_eval.reports.judging import judge_report
from tui_eval.reports.programs.program_document import program_line
from tui_eval.reports.results import Results
from tui_eval.reports.terminal.agreement_text import corrected_line, people_summary
from tui_eval.reports.terminal.gate_text import (
    baseline_lines,
    compare_command,
    gate_lines,
    named_file,
)
from tui_eval.reports.terminal.rate_tables import (
    scorer_table,
    tag_table,
    target_columns,
)
from tui_eval.reports.terminal.sweep_text import sweep_lines
from tui_eval.reports.terminal.tables import AnsiStyle, folded, table
from tui_eval.store.location import naming, naming_in_python
from tui_eval.store.read.consignment_queries import progress_words
from tui_eval.store.read.report_queries import ErrorRow
from tui_eval.suites.judge_choice import kinships

_ERRORS_SHOWN = 5
_LONGEST_ERROR = 300
_CAPS = {"max_cost_usd": "--max-cost USD", "max_tokens": "--max-tokens N"}
"""What a run that paused at a cap has to be told to go on."""
_OF_THE_SUITE = ("unknown_host", "unknown_model", "not_found", "auth", "tls", "connection")
"""What may be wrong in the suite: a resume takes the run's frozen copy and would meet it again."""
_CUT_SHORT = (
    "raise the limit in the target's params, or in its limits and run with --fresh (limits alone "
    "make no new API calls); or grade what is there: "
    '[run] truncated = "grade", and run it again, without API calls'
)
_ERROR_INDENT = " " * 8
"""As far as the number of an error and its sign reach."""
_LASTING = ("template", "no_recording")
"""Errors that the run's frozen copy of the suite has in it: asking again changes nothing."""


def summary(
    of: Results, *, width: int, ink: AnsiStyle, groups: bool = False, store: Path | None = None
) -> str:
    """Return the summary of a run, ending with what to do next.

    Args:
        of: The results.
        width: Cells of a line.
        ink: Colours or none.
        groups: Whether each scorer and each tag has its rows too.
        store: The store it is in, which the commands at the end name where they would not find
            it; None: they do.
    """
    lines = [_head(of, width, ink)]
    if of.suite.dataset.hub is not None:
        lines += folded(f"data: {visible_line(of.suite.dataset.hub)}", width)
    lines.append("")
    if of.sweep is not None:
        lines += sweep_lines(of.sweep, width=width, ink=ink)
        if errors := _errors(of, width, ink):
            errors[1] += ", those of the warm-up among them"
        return "\n".join([*lines, *errors, *_next(of, width, store)])
    if of.columns:
        lines += table(target_columns(of.columns, of.rests_on_judges), width, ink)
    for said in (*judge_report.judge_lines(of.judges), *_people(of), *_kinships(of)):
        lines += folded(said, width)
    for column in of.columns:
        for said in (
            *_reduced(of.suite.run, column, len(of.columns) > 1),
            *_left_out(column, len(of.columns) > 1),
            *_clustered(of.suite.dataset.cluster, column, len(of.columns) > 1),
        ):
            lines += folded(said, width)
    if (talked := _talked(of)) is not None:
        lines += folded(talked, width)
    if (programs := program_line(of.programs)) is not None:
        lines += folded(programs, width)
    for said in _unjudged(of):
        lines += folded(said, width)
    if groups:
        lines += scorer_table(of, width, ink)
        lines += tag_table(of, width, ink)
    lines += _errors(of, width, ink)
    lines += _ungraded(of, width, ink)
    lines += baseline_lines(of, width)
    lines += gate_lines(of, width, ink)
    lines += _next(of, width, store)
    return "\n".join(lines)


def _head(of: Results, width: int, ink: AnsiStyle) -> str:
    run, counts = of.run, of.counts
    parts = [f"{of.state} after {clock(run.wall(of.at))}", _trials(of)]
    if run.label:
        parts.insert(0, visible_line(run.label, 80))
    if of.sweep is not None:
        parts.append(f"a sweep of {', '.join(visible_line(one.column.name) for one in of.columns)}")
    elif of.left_out is not None:
        parts.append(of.left_out)
    if of.sweep is None and counts.answered and of.answers_s is not None:
        parts.append(per_second(of.answers_s))
    spent = of.spending
    parts += [said for said in (spent.so_far, spent.to_come) if said]
    if counts.cached:
        parts.append(f"{many(counts.cached, 'output')} from the cache")
    if counts.retries:
        parts.append(many(counts.retries, "further attempt"))
    if counts.lost:
        who = "an engine" if run.settings.get("executor") is None else "an engine or a worker"
        parts.append(f"{many(counts.lost, 'request')} may have been sent as {who} ended")
    name = visible_line(run.name)
    head = "\n".join(folded(f"{name}  {' · '.join(parts)}", width))
    head = head.replace(name, ink.bold(name), 1)
    said = [visible_line(reason, 400)] if (reason := _stopped_by(of)) is not None else []
    said += [bulk] if (bulk := progress_words(of.bulk)) is not None else []
    return "\n".join([head, *(line for one in said for line in folded(one, width))])


def _talked(of: Results) -> str | None:
    """Return what the simulated user did, and what it cost; None: there is none."""
    talked = of.conversations
    if not talked.user_calls:
        return None
    user = of.suite.user
    named = "" if user is None else f" ({visible_line(user.model, 60)})"
    tokens = talked.user_input_tokens + talked.user_output_tokens
    return f"user{named}: {many(talked.user_calls, 'call')}, {tokens:,} tokens, {cost(talked)}"


def _stopped_by(of: Results) -> str | None:
    by_hand = of.state is RunState.INTERRUPTED and of.run.stopped_by == "person"
    return None if of.finished or by_hand else of.run.reason


def _trials(of: Results) -> str:
    if of.finished:
        return many(of.counts.total, "trial")
    return f"{of.counts.settled:,} of {many(of.counts.total, 'trial')}"


def _people(of: Results) -> Iterator[str]:
    """Say what people's grades make of judges and rates, and how many verdicts are theirs."""
    names = {one.column.index: one.column.name for one in of.columns}
    for scorer in of.people.scorers:
        if scorer.pooled.n:
            yield from people_summary(scorer, names)
    for one in of.columns:
        corrected = of.corrected(one)
        if corrected is not None and (corrected.known or corrected.n):
            yield f"{visible_line(one.column.name)}: {corrected_line(corrected)}"
    for col, n in of.people.by_hand.items():
        yield f"{visible_line(names[col])}: {many(n, 'verdict')} by hand"


def _kinships(of: Results) -> Iterator[str]:
    """Say which judges have graded a model of their own family."""
    for said in kinships(of.suite, [one.column.target for one in of.columns]) if of.judges else ():
        yield f"note: {visible_line(said, 200)}"


def _reduced(rules: CaseRules, of: ColumnResults, named: bool) -> Iterator[str]:
    """Say what the pass rate is over where it is not simply a share of trials."""
    first, *further = rules.reductions
    rates = of.rates
    who = f"{visible_line(of.column.name)}: " if named else ""
    if first.kind != "mean" or further:
        over = _over(first, rates.rated, rates.cases_left_out)
        yield f"{who}pass is {first.name} over {over}"
    for how in further:
        one = rates.reduced[how.name]
        if (one.rated, one.cases_left_out) != (rates.rated, rates.cases_left_out):
            yield f"{who}{how.name} is over {_over(how, one.rated, one.cases_left_out)}"


def _over(how: Reduce, rated: int, left_out: int) -> str:
    if not left_out:
        return many(rated, "case")
    need = many(how.k or 1, "graded epoch")
    return f"{many(rated, 'case')}; {many(left_out, 'case')} with fewer than {need} left out"


def _left_out(of: ColumnResults, named: bool) -> Iterator[str]:
    """Say what is not in n, and above 1% what it could have changed."""
    rates = of.rates
    kinds = (
        (rates.left_out - rates.ungraded - rates.cancelled, "errored"),
        (rates.ungraded, "ungraded"),
        (rates.cancelled, "cancelled"),
    )
    what = ", ".join(f"{n:,} {kind}" for n, kind in kinds if n)
    if not what:
        return
    who = f"{visible_line(of.column.name)}: " if named else ""
    line = f"{who}left out of n: {what}"
    if rates.bounds is not None:
        worst, best = map(percent, rates.bounds)
        line += f"; {worst} if all of it had failed, {best} if all had passed"
    yield line


def _clustered(by: str | None, of: ColumnResults, named: bool) -> Iterator[str]:
    """Say what the interval is over where cases are not independent, and both errors."""
    rates = of.rates
    if by is None or rates.clusters is None:
        return
    who = f"{visible_line(of.column.name)}: " if named else ""
    line = f"{who}95% is over {many(rates.clusters, 'cluster')} ({visible_line(by, 60)})"
    if rates.stderr is not None and rates.stderr_clustered is not None:
        line += (
            f"; standard error of the mean {rates.stderr_clustered:.3f}, "
            f"{rates.stderr:.3f} were all cases independent"
        )
    yield line


def _unjudged(of: Results) -> Iterator[str]:
    """Say where a pass means nothing, because nothing was required."""
    passed = sum(column.rates.passed for column in of.columns)
    unjudged = sum(column.rates.unjudged for column in of.columns)
    if unjudged and unjudged == passed + of.counts.failed:
        yield "nothing was required of the outputs, so every one passes"
    elif unjudged:
        yield f"nothing was required of {many(unjudged, 'output')} among those that pass"


def _errors(of: Results, width: int, ink: AnsiStyle) -> list[str]:
    if not of.errors:
        return []
    lines = ["", ink.bold(many(of.counts.error, "error"))]
    for error in of.errors[:_ERRORS_SHOWN]:
        said = visible_line(error.message, _LONGEST_ERROR)
        if error.message == _stopped_by(of):
            said = "what stopped it, see above"
        line = f"{error.n:>5,} × {visible_line(error.kind)}{_whose(of, error)}: {said}"
        lines += folded(line, width, _ERROR_INDENT)
    more = of.errors[_ERRORS_SHOWN:]
    if more:
        lines.append(f"{sum(error.n for error in more):>5,} × {many(len(more), 'other message')}")
    return lines


def _ungraded(of: Results, width: int, ink: AnsiStyle) -> list[str]:
    """Say why grades are missing."""
    if not of.ungraded.rows:
        return []
    lines = ["", ink.bold(f"{of.counts.ungraded:,} ungraded")]
    for row in of.ungraded.rows:
        # a judge that breaks leaves all its scorers without the same grade
        who = ", ".join(
            visible_line(name) + ("" if n == row.n else f" {n:,}")
            for name, n in row.scorers.items()
        )
        line = f"{row.n:>5,} × {who}: {visible_line(row.reason, _LONGEST_ERROR)}"
        lines += folded(line, width, _ERROR_INDENT)
    if others := of.ungraded.others:
        lines.append(f"{of.ungraded.other_trials:>5,} × {many(others, 'other reason')}")
    cut = any(
        column.cut_short and column.column.source is AnswerSource.ASKED for column in of.columns
    )
    if cut and of.suite.run.truncated == "ungraded":
        lines += folded(f"{_ERROR_INDENT}{_CUT_SHORT}", width, _ERROR_INDENT)
    return lines


def _whose(of: Results, error: ErrorRow) -> str:
    """Say which targets have an error, where the run has several; and how often, where several."""
    if len(of.columns) < 2:
        return ""
    names = {column.column.index: visible_line(column.column.name) for column in of.columns}
    there = {names[col]: n for col, n in sorted(error.by_column.items())}
    if len(there) == 1:
        return f" ({', '.join(there)})"
    return f" ({', '.join(f'{name} {n:,}' for name, n in there.items())})"


def _going_on(of: Results, store: Path | None) -> Iterator[tuple[str, str]]:
    """Yield the commands that do what is missing, each with what it does."""
    name, why = of.run.name, of.run.stopped_by or ""
    if why == StartRefusal.DATA:
        return  # the reason says what to do: a resume would meet the same
    if of.calls_functions:  # no command could call them
        if of.resumable:
            opened = f'te.open("{name}"{"" if store is None else naming_in_python(store)})'
            yield f"{opened}.resume(functions=[…])", "finish what is missing, in Python"
    elif of.resumable:
        more = f" {_CAPS[why]}" if why in _CAPS else ""
        yield f"tui-eval resume {name}{more}", "finish what is missing"
        if why in _OF_THE_SUITE and of.run.path is not None:
            yield f"tui-eval run {named_file(of.run.path)}", "if the suite had to be changed"
    elif not of.finished:
        yield f"tui-eval watch {name}", "watch it"
    elif of.state is RunState.CANCELLED:
        yield f"tui-eval undo {name}", "undo the cancel; outputs stay"
        yield f"tui-eval retry {name}", "ask anew what was cancelled, which pays again"
    elif of.sweep is None and any(error.kind not in _LASTING for error in of.errors):
        yield f"tui-eval retry {name}", "ask again where it errored"


def _next(of: Results, width: int, store: Path | None) -> list[str]:
    """Say which command goes on from here."""
    name = of.run.name
    hints = [*_going_on(of, store)]
    if of.finished and of.ungraded.judged:
        command = f"tui-eval rescore {name} --ungraded"
        hints.append((command, "ask judges for what they did not grade"))
    if of.counts.failed and of.finished:
        hints.append((f"tui-eval show {name} --failed", "see what failed and why"))
    if (compare := compare_command(of)) is not None:
        hints.append((compare, "see which cases came to something else"))
    if not hints:
        return []
    hints = [(_to_be_typed(command, store), why) for command, why in hints]
    widest = max(len(command) for command, _ in hints)
    lines = [""]
    for command, why in hints:
        line = f"{command:<{widest}}  {why}"
        # a command that is to be copied stays in one piece
        lines += [line] if len(line) <= width else [command, f"  {why}"]
    return lines


def _to_be_typed(command: str, store: Path | None) -> str:
    """Return a command for who started this program as it was; what is Python stays as it is."""
    name, _, rest = command.partition(" ")
    if name != "tui-eval":
        return command
    return f"{command_name()} {rest}{'' if store is None else naming(store)}"
