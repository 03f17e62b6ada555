"""A part of an engine without the others."""

from collections.abc import Callable

from tui_eval.engine.departure import Departure


class Alone:
    """The coordination of a part that has no others; what it tells is kept."""

    pools_idle = True
    ungraded = 0
    judges_rest = False
    outputs_rest = False
    dispatching = True
    stopping = False
    leaving = False

    def __init__(self, on_room: Callable[[], None] = lambda: None) -> None:
        self.departures: list[Departure] = []
        self.told: list[str] = []
        self._on_room = on_room

    def leave(self, why: Departure) -> None:
        self.departures.append(why)

    def pool_idle(self) -> None:
        self.told.append("pool idle")

    def judging_idle(self) -> None:
        self.told.append("judging idle")

    def judging_has_room(self) -> None:
        self.told.append("judging has room")

    def gold_graded(self) -> None:
        self.told.append("gold graded")

    def calls_have_room(self) -> None:
        self._on_room()

    def targets_held(self) -> None:
        self.told.append("targets held")
