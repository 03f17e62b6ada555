"""Actions of the Run screen that belong together, on the run that it shows."""

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from textual.worker import Worker

from tui_eval.store.errors import StoreError, UnknownRunError
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.screens.base.base_screen import BaseScreen

G = TypeVar("G", bound="ActionGroup")
P = ParamSpec("P")


class ActionGroup:
    """The `action_…` methods of one topic; a widget gets them by `Acting.delegate_to`."""

    def __init__(self, screen: BaseScreen, run: ObservedRun) -> None:
        """Make the actions of one screen.

        Args:
            screen: Where the person is asked and told; what waits for either is its worker.
            run: What is known of the run.
        """
        self.screen = screen
        self.context = screen.context
        self.client = screen.context.client
        self.run = run


def in_worker(
    action: Callable[Concatenate[G, P], Coroutine[Any, Any, None]],
) -> Callable[Concatenate[G, P], Worker[None]]:
    """Make an action go on as a worker of its screen: it may wait for the store or the person.

    What the store does not give, as the suite of a run that a newer version made, is said.
    """

    @wraps(action)
    def start(group: G, /, *args: P.args, **kwargs: P.kwargs) -> Worker[None]:
        # not the coroutine itself: a worker that is cancelled before it begins would never await it
        return group.screen.run_worker(partial(done, group, *args, **kwargs))

    async def done(group: G, /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            await action(group, *args, **kwargs)
        except UnknownRunError:
            raise  # the app says it: the run was deleted
        except StoreError as error:
            group.screen.say(f"not done: {error}", "error", seconds=15)

    return start
