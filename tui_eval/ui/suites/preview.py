"""What a suite would do, as paragraphs."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui_eval.ui.prose import Para
from tui_eval.ui.suites.book import Leaf
from tui_eval.ui.suites.shelf import Entry
from tui_eval.ui.words import many, number

if TYPE_CHECKING:
    from tui_eval.suites.check import Survey
    from tui_eval.suites.spec import Suite

_SILENT = {"kind", "name", "weight", "required", "invert", "not", "when", "of"}
"""Fields of a scorer that are no part of its one line, or stand in it elsewhere."""


def preview(entry: Entry, leaf: Leaf | None, survey: "Survey | str | None") -> Iterator[Para]:
    """Give the preview of a suite.

    Args:
        entry: The suite as it was read.
        leaf: The case that is shown; None: still being read.
        survey: What a run would be, or what is wrong with the data; None: still being counted.
    """
    suite = entry.suite
    if suite is None:
        yield from _trouble(entry)
        return
    if suite.description:
        yield Para(suite.description, "dim")
    yield from _expected(suite, survey)
    for problem in entry.unready:
        yield Para(problem, "ungraded")
    yield Para("")
    yield from _case(suite, leaf)
    yield Para("Scorers", "accent")
    if not suite.scorers:
        yield Para("none: every trial would be ungraded", "ungraded", indent=2)
    for scorer in suite.scorers:
        yield Para(_scorer(scorer.model_dump(mode="json", exclude_defaults=True)), indent=2)
    yield Para("")
    yield Para("Targets", "accent")
    for target in suite.targets:
        yield Para(_target(target.model_dump(mode="json", exclude_defaults=True)), indent=2)


def _trouble(entry: Entry) -> Iterator[Para]:
    if entry.wants_trust:
        yield Para("This suite wants more than its own folder and keys:", "ungraded")
        for wish in entry.trouble:
            yield Para(wish, indent=2)
        yield Para("")
        yield Para("Look at it; enter asks whether you trust it. Without the app:", "dim")
        yield Para(f"tui-eval run {entry.path} --trust", indent=2)
        return
    yield Para(f"{many(len(entry.trouble), 'mistake')}; e opens the file", "error")
    yield Para("")
    for mistake in entry.trouble:
        yield Para(mistake)


def _expected(suite: "Suite", survey: "Survey | str | None") -> Iterator[Para]:
    if survey is None:
        yield Para("counting…", "dim")
        return
    if isinstance(survey, str):
        yield Para(survey, "error")
        return
    epochs = f" × {many(survey.epochs, 'epoch')}" if survey.epochs > 1 else ""
    targets = many(len(survey.columns), "target")
    tokens = sum(survey.input_tokens.values())
    yield Para(
        f"{many(survey.cases, 'case')} × {targets}{epochs} = {many(survey.trials, 'trial')}",
        "strong",
    )
    asked = [column for column in survey.columns if _asks(suite, column.target)]
    calls = survey.cases * survey.epochs * len(asked)
    sent = sum(survey.input_tokens.get(column.name, 0) for column in asked)
    if asked:
        yield Para(f"{many(calls, 'call')} at most, about {number(sent)} tokens in", "dim")
    elif tokens or survey.trials:
        yield Para("asks nobody: its outputs are recorded or made up", "dim")
    for trouble in survey.troubles:
        yield Para(str(trouble), "error")
    for warning in survey.warnings:
        yield Para(warning, "ungraded")


def _asks(suite: "Suite", target: str) -> bool:
    return any(one.name == target and one.kind == "model" for one in suite.targets)


def _case(suite: "Suite", leaf: Leaf | None) -> Iterator[Para]:
    if leaf is None:
        yield Para("reading the cases…", "dim")
        yield Para("")
        return
    if leaf.case is None:
        yield Para(leaf.trouble or "no case", "error")
        yield Para("")
        return
    more = "" if leaf.last else "  (] next)"
    tags = f"  {', '.join(leaf.case.tags)}" if leaf.case.tags else ""
    yield Para(f"Case {number(leaf.index + 1)}: {leaf.case.id}{tags}{more}", "accent")
    for column, asked in leaf.asked:
        if len(leaf.asked) > 1:
            yield Para(f"prompt {column.prompt}", "dim", indent=2)
        if isinstance(asked, str):
            yield Para(asked, "error", indent=2)
        elif not asked:
            yield Para("no prompt: nothing is asked", "dim", indent=2)
        else:
            for message in asked:
                role = str(message.get("role", "?"))
                yield Para(str(message.get("content") or ""), indent=2, label=f"{role:<9}")
    yield Para("")


def _scorer(settings: dict[str, object]) -> str:
    kind, name = str(settings.get("kind", "?")), str(settings.get("name", ""))
    title = kind if name in ("", kind) else f"{name} ({kind})"
    parts = [f"{key} {_short(value)}" for key, value in settings.items() if key not in _SILENT]
    if settings.get("of"):
        parts.append(f"of {_short(settings['of'])}")
    if settings.get("when"):
        parts.append(f"when {_short(settings['when'])}")
    if settings.get("required") is False:
        parts.append("reported only")
    return f"{title}: {', '.join(parts)}" if parts else title


def _target(settings: dict[str, object]) -> str:
    kind, name = str(settings.get("kind", "model")), str(settings.get("name", "?"))
    where = settings.get("provider") or settings.get("base_url") or ""
    model = settings.get("model")
    of = f" {model}" if model and model != name else ""
    what = {"model": f"model{of}", "replay": "recorded outputs", "simulated": "made up"}
    return f"{name}: {what.get(kind, kind)}{f' at {where}' if where else ''}"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
