"""Each scorer of a trial with its mark and reason, as the Result tab has them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tui_eval.format import decimal
from tui_eval.model.outputs.output import Output
from tui_eval.model.states import Verdict
from tui_eval.reports.judging.opinions import OpinionLine, opinions
from tui_eval.store.rows import ScoreRow
from tui_eval.ui.expected_values import ExpectedValue, parted
from tui_eval.ui.run.detail.verdicts import VERDICT_TONES
from tui_eval.ui.text.prose import GLUE, Para, marked
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

_SHORT = 40
"""Characters of what a scorer extracted that say more than its whole reason."""
_BY = {"judge": " ~ judge", "human": " by hand"}
"""Who gave a score, where that was no code. `~`: it rests on a judge."""
_DEEPER = 2


def tells(entry: ScoreRow) -> bool:
    """Return whether a score has anything to explain: code that passed has not."""
    return entry.source != "code" or entry.verdict is not Verdict.PASS


def verdict_lines(
    current: Sequence[ScoreRow],
    output: Output | None,
    expected: Sequence[ExpectedValue],
    glyphs: Glyphs,
) -> Iterator[Para]:
    """Yield each scorer, those that decide first, of these those that did not pass.

    Scorers of code that passed share lines: there is nothing to explain.

    Args:
        current: The scores that count.
        output: What was scored; None: nothing.
        expected: What scorers expect.
        glyphs: The shapes.
    """
    told = [one for one in current if tells(one)]
    for entry in sorted(told, key=lambda one: (not one.required, one.verdict is Verdict.PASS)):
        yield from _scorer(entry, output, expected, glyphs)
    passed = [one for one in current if one not in told]
    if passed:
        yield marked(*_side_by_side(passed, glyphs))


def _side_by_side(passed: Sequence[ScoreRow], glyphs: Glyphs) -> Iterator[tuple[str, Tone]]:
    for at, entry in enumerate(passed):
        if at:
            yield "   ", "plain"
        yield f"{glyphs.passed}{GLUE}", "pass"
        yield entry.scorer.replace(" ", GLUE), "plain"
        if not entry.required:
            yield f"{GLUE}(reported only)".replace(" ", GLUE), "dim"


def _scorer(
    entry: ScoreRow, output: Output | None, expected: Sequence[ExpectedValue], glyphs: Glyphs
) -> Iterator[Para]:
    said = list(opinions(entry.source, entry.raw))
    tone = VERDICT_TONES[entry.verdict]
    pieces: list[tuple[str, Tone]] = [
        (entry.scorer, "strong"),
        (_BY.get(entry.source, ""), "dim"),
        ("" if entry.required else " (reported only)", "dim"),
    ]
    if entry.value is not None and 0 < entry.value < 1:
        pieces.append((f" {decimal(entry.value)}", "plain"))
    graded = any(one.grade for one in said)
    reason = "" if graded else _reason(entry, output, expected)
    if reason and "\n" not in reason:
        pieces.append((f"  {reason}", "plain"))
    named = marked(*pieces, label=glyphs.verdict(entry.verdict))
    yield replace(named, label_tone=tone)
    if "\n" in reason:
        yield Para(reason, indent=_DEEPER)
    for line in said:
        yield from opinion_paras(line, _DEEPER, glyphs)


def opinion_paras(line: OpinionLine, indent: int, glyphs: Glyphs) -> Iterator[Para]:
    """Yield what was said of an output: a requirement with its mark, and below it the feedback.

    Args:
        line: What was said; foreign.
        indent: Cells before it, beside what its depth takes.
        glyphs: The shapes.
    """
    indent += _DEEPER * line.depth
    if not line.grade:
        yield Para(line.of, "dim", indent=indent)
        return
    tone: Tone = "strong"
    mark = line.grade
    if line.met is not None:
        verdict = Verdict.PASS if line.met else Verdict.FAIL
        mark, tone = glyphs.verdict(verdict), VERDICT_TONES[verdict]
    yield Para(line.of, indent=indent, label=mark, label_tone=tone)
    if line.feedback:
        yield Para(line.feedback, "dim", indent=indent + _DEEPER)


def _reason(entry: ScoreRow, output: Output | None, expected: Sequence[ExpectedValue]) -> str:
    """Return why a scorer says so, without what stands beside it already; may be foreign."""
    came = None if output is None or output.text is None else output.text.strip()
    if came is not None and _stands_there(entry, came, expected):
        return ""
    if isinstance(entry.raw, str | int | float) and entry.reason.startswith("expected"):
        extracted = str(entry.raw)
        if extracted == came:
            return ""
        return f"extracted {extracted}" if 0 < len(extracted) <= _SHORT else entry.reason
    if any(one.scorer == entry.scorer for one in expected):
        return parted(entry.reason)[1]
    return entry.reason


def _stands_there(entry: ScoreRow, came: str, expected: Sequence[ExpectedValue]) -> bool:
    """Whether a reason says no more than that what came is not what was expected beside it."""
    wanted = (text for one in expected if one.scorer == entry.scorer for text in one.texts)
    return entry.reason in {f'expected "{text}", got "{came}"' for text in wanted}
