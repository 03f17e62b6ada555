"""What a suite would do, as paragraphs."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_eval.format import ago, many, number, rate
from tui_eval.invocation import command_name
from tui_eval.model.outputs.conversation import text_of
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.suites.case_book import CasePreview, PromptPreview
from tui_eval.ui.suites.scorer_words import scorer_in_words
from tui_eval.ui.suites.suite_list import SuiteEntry
from tui_eval.ui.suites.trend import Trend
from tui_eval.ui.text.prose import Para
from tui_eval.ui.theme.tones import Tone

if TYPE_CHECKING:
    from tui_eval.engine.preflight.judge_forecast import JudgeRequest
    from tui_eval.engine.preflight.preflight import Preflight
    from tui_eval.model.json import JsonObject
    from tui_eval.suites.spec import Suite


@dataclass(frozen=True, slots=True)
class PreviewState:
    """What has been read of a suite so far."""

    leaf: CasePreview | None = None
    """The case that is shown; None: still being read."""
    expected: "Preflight | None" = None
    """What a run would be; None: still being counted."""
    judged: "tuple[JudgeRequest, ...]" = ()
    """What judges would be asked about the case."""
    shows: str | None = None
    """Which difference its cases show; None: still being read, or nothing is scored."""
    trend: Trend | None = None
    """Its last full runs; None: there are none, as far as is known."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The preview of a suite."""

    paras: Sequence[Para]
    question: int | None
    """The place of what the shown case itself asks; None: it asks nothing."""


def preview(entry: SuiteEntry, known: PreviewState, now: float) -> Preview:
    """Return the preview of a suite.

    Args:
        entry: The suite as it was read.
        known: What has been read of it so far.
        now: Unix seconds.
    """
    if entry.suite is None:
        return Preview(list(_trouble(entry)), None)
    paras = list(_head(entry, entry.suite, known, now))
    question = None
    for para, own in _case(entry.suite, known.leaf):
        if own and question is None:
            question = len(paras)
        paras.append(para)
    paras += _scorers(entry.suite)
    paras += _targets(entry.suite)
    paras += _judged(known.judged)
    if known.shows is not None and not entry.mistakes:
        paras += [Para(""), Para(known.shows, "dim")]
    return Preview(paras, question)


def _trouble(entry: SuiteEntry) -> Iterator[Para]:
    if entry.wants_trust:
        yield Para("This suite wants more than its own folder and keys:", "ungraded")
        for permission in entry.permissions:
            yield Para(f"wants to {permission}", indent=2)
        yield Para("")
        yield Para(
            f"Look at it; {key('suites.launch', 'enter')} asks whether you trust it. "
            "Without the app:",
            "dim",
        )
        yield Para(f"{command_name()} run {entry.path} --trust", indent=2)
        return
    yield from _mistakes(entry)


def _mistakes(entry: SuiteEntry) -> Iterator[Para]:
    if not entry.mistakes:
        return
    file, line = entry.where()
    at = f" at line {line}" if line is not None else ""
    which = "" if file.name == entry.path.name else f" {file.name}"
    yield Para(
        f"{many(len(entry.mistakes), 'mistake')}; {key('suites.edit', 'e')} opens"
        f"{which or ' the file'}{at}, and it is read again once it is saved",
        "error",
    )
    for told in entry.mistake_lines:
        yield Para(told, label="•")
    yield Para("")


def _head(entry: SuiteEntry, suite: "Suite", known: PreviewState, now: float) -> Iterator[Para]:
    yield from _mistakes(entry)
    if suite.description:
        yield Para(suite.description, "dim")
    if not entry.mistakes:
        yield from _expected(suite, known.expected)
    for problem in entry.unready:
        yield Para(problem, "ungraded")
    if known.trend is not None:
        yield from _lately(known.trend, now)
    yield Para("")


def _expected(suite: "Suite", expected: "Preflight | None") -> Iterator[Para]:
    from tui_eval.engine.preflight.column_forecast import tokens_and_cost

    if expected is None:
        yield Para("counting…", "dim")
        return
    survey = expected.survey
    if survey is None:
        return  # its mistakes stand above
    epochs = f" × {many(survey.epochs, 'epoch')}" if survey.epochs > 1 else ""
    targets = many(len(survey.columns), "target")
    yield Para(
        f"{many(survey.cases, 'case')} × {targets}{epochs} = {many(survey.trials, 'trial')}",
        "strong",
    )
    calls = sum(one.calls for one in expected.targets if not one.asks_nobody)
    grades = survey.trials * _grades_each(suite)
    whose = "targets: " if grades else ""
    if calls:
        cost = tokens_and_cost(expected.targets)
        yield Para(f"{whose}{many(calls, 'call')} at most, {cost}", "dim")
    else:
        yield Para(f"{whose}no API calls (replay or simulated)", "dim")
    if grades:  # how many calls that makes, only looking at every output tells
        counts = f"{key('suites.launch', 'enter')} counts their calls, tokens and cost"
        yield Para(f"judges: {many(grades, 'grade')} at most; {counts}", "dim")
    for trouble in survey.troubles:
        yield Para(str(trouble), "error")
    for warning in expected.warnings:
        yield Para(warning, "ungraded")


def _grades_each(suite: "Suite") -> int:
    """Return how many grades judges give a trial; those that cases ask for themselves aside."""
    repeats = {judge.name: judge.repeats for judge in suite.judges}
    asking = (scorer for scorer in suite.scorers if scorer.asks_judge)
    named = (name for scorer in asking for name in scorer.judges_named() or repeats)
    return sum(repeats.get(name, 0) for name in named)


def _lately(trend: Trend, now: float) -> Iterator[Para]:
    when = ago(trend.created_at, now)
    if len(trend.columns) == 1:
        said = rate(trend.shares[0], trend.judged)
        yield Para(f"last full run {trend.run}, {when}: {said}", "dim")
        return
    yield Para(f"last full run {trend.run}, {when}:", "dim")
    for column, share in zip(trend.columns, trend.shares, strict=False):
        yield Para(column, "dim", indent=2, label=f"{rate(share, trend.judged):>6}")


def _case(suite: "Suite", leaf: CasePreview | None) -> Iterator[tuple[Para, bool]]:
    """Yield the paragraphs of a case, each with whether it is what the case itself asks."""
    if leaf is None or leaf.case is None:
        told = Para("reading the cases…", "dim")
        if leaf is not None:
            told = Para(leaf.trouble or "no case", "error")
        yield told, False
        yield Para(""), False
        return
    more = "" if leaf.last else "  (] next)"
    tags = f"  {', '.join(leaf.case.tags)}" if leaf.case.tags else ""
    yield Para(f"Case {number(leaf.index + 1)}{tags}{more}", "accent"), False
    for column, asked in leaf.asked:
        if len(leaf.asked) > 1:
            yield Para(f"prompt {column.prompt}", "dim", indent=2), False
        if isinstance(asked, str):
            yield Para(asked, "error", indent=2), True
        elif not asked.opening.messages:
            yield Para("no prompt: nothing is asked", "dim", indent=2), False
        else:
            yield from _messages(asked)
    for one in leaf.expected:
        label = "reference" if one.reference else "expected"
        how = f"{one.how} " if one.how else ""
        scorer = f"{one.scorer}: " if len(leaf.expected) > 1 else ""
        yield Para(f"{scorer}{how}{' or '.join(one.texts)}", "pass", indent=2, label=label), False
    yield Para(""), False


def _messages(asked: PromptPreview) -> Iterator[tuple[Para, bool]]:
    """Yield messages; the few-shot examples are dimmed."""
    messages, begins = asked.opening
    users = [at for at, message in enumerate(messages) if message.get("role") == "user"]
    question = users[-1] if users else len(messages) - 1
    for at, message in enumerate(messages):
        role = str(message.get("role", "?"))
        example = at < begins and role in ("user", "assistant")
        tone: Tone = "dim" if example else "plain"
        for text in _said(message):
            yield Para(text, tone, indent=2, label=f"{role:<9}"), at == question
    for number_, turn in enumerate(asked.turns, 2):
        yield Para(text_of(turn), indent=2, label=f"{f'turn {number_}':<9}"), False


def _said(message: "JsonObject") -> Iterator[str]:
    """Yield what a message says, and the tools that it calls."""
    calls = message.get("tool_calls")
    content = message.get("content")
    if content is not None or not calls:
        yield text_of(content)
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield f"calls {function.get('name')}({function.get('arguments')})"


def _scorers(suite: "Suite") -> Iterator[Para]:
    yield Para("Scorers", "accent")
    if not suite.scorers:
        yield Para("none: every output passes", "ungraded", indent=2)
    for scorer in suite.scorers:
        settings = scorer.model_dump(mode="json", exclude_defaults=True)
        yield Para(scorer_in_words(settings, len(suite.judges)), indent=2)
    yield Para("")


def _targets(suite: "Suite") -> Iterator[Para]:
    yield Para("Targets", "accent")
    for target in suite.targets:
        yield Para(f"{target.name}: {target.in_words()}", indent=2)
    yield Para("")
    if suite.judges:
        yield Para("Judges", "accent")
        for judge in suite.judges:
            yield Para(f"{judge.name}: {judge.in_words()}", indent=2)
        yield Para("")


def _judged(requests: "Sequence[JudgeRequest]") -> Iterator[Para]:
    for one in requests:
        who = f"judge {one.judge}" if one.judge != "judge" else "the judge"
        yield Para(f"What {who} is asked for {one.scorer} about {one.column}", "accent")
        if not one.real:
            yield Para("the output is not there yet: a text stands for it", "dim", indent=2)
        messages = one.body.get("messages") or one.body.get("input")
        if isinstance(messages, list):
            for message in messages:
                said = message if isinstance(message, dict) else {"content": message}
                role = str(said.get("role", ""))
                yield Para(text_of(said.get("content")), indent=2, label=f"{role:<9}")
        else:
            yield Para(json.dumps(one.body, indent=2, ensure_ascii=False), indent=2)
        yield Para("")
