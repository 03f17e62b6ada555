"""What of a suite runs, but may not be meant so, whatever its cases are."""

from collections.abc import Iterator

from tui_eval.model.answer_source import AnswerSource
from tui_eval.suites.spec import Suite
from tui_eval.suites.spec.prompts import has_turns
from tui_eval.suites.survey.mistake_places import mistake
from tui_eval.suites.templates.renderer import prompt_field


def several_calls(suite: Suite) -> Iterator[str]:
    """Say that trials make more calls than are foreseen, where a model's do."""
    asked_again = suite.user is not None or any(has_turns(one.turns) for one in suite.prompts)
    named = []
    for target in suite.targets:
        table = target.as_written()
        with_tools = target.TALKS_WITH_USER and target.gives_messages(table)
        several = with_tools or (asked_again and target.takes_turns(table))
        if several and target.SOURCE is AnswerSource.ASKED:
            named.append(target.name)
    if named:
        yield (
            f"{', '.join(named)}: conversations of several calls, and what is foreseen of calls, "
            "tokens and cost is that of the first; caps hold before each"
        )


def odd_orders(suite: Suite) -> Iterator[str]:
    """Yield a warning for each message that many endpoints refuse at its place."""
    for index, prompt in enumerate(suite.prompts):
        if isinstance(prompt.messages, str):
            continue  # its cases say them
        roles = [message.role for message in prompt.messages or ()]
        if not roles:
            continue
        path = prompt_field(suite, index)
        if not {"user", "assistant"} & {*roles}:
            yield _at(suite, f"{path}.messages", "there are instructions only, and no question")
            continue
        if roles[-1] == "assistant":
            last = f"{path}.messages[{len(roles) - 1}]"
            yield _at(
                suite,
                last,
                "the last message is the assistant's, to be gone on with: some endpoints refuse "
                "that, others answer as if it were whole",
            )
        asked = next(n for n, role in enumerate(roles) if role in ("user", "assistant"))
        for place, role in enumerate(roles[asked:], asked):
            if role in ("system", "developer"):
                message = f"a {role} message after the conversation has begun: some endpoints "
                yield _at(suite, f"{path}.messages[{place}]", f"{message}refuse or move it")
                break


def _at(suite: Suite, path: str, message: str) -> str:
    """Say something of a field, with its place in the suite file."""
    return str(mistake(suite, path, message, None))
