"""The controls of the Launch form, line by line, and what stands in them."""

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Input

from tui_eval.suites.spec import Suite
from tui_eval.ui.suites.launch_fields import LINES, NUMERIC, defaults
from tui_eval.ui.suites.launch_form import ONLY, LaunchForm
from tui_eval.ui.widgets.form_controls import ChoiceField, FieldLabel, TickBox
from tui_eval.ui.widgets.number_input import NumberInput


class LaunchControls(VerticalScroll, can_focus=False):
    """Ticks, choices and text fields, each with the key that leads to it."""

    def __init__(self, suite: Suite, form: LaunchForm) -> None:
        """Make them.

        Args:
            suite: The suite; what it says stands in the empty fields.
            form: What stands in them at first.
        """
        super().__init__(id="form")
        self._judged = bool(suite.judges)
        self._ticks = [
            TickBox(target.name, target.name in form.targets) for target in suite.targets
        ]
        self._fields = {
            name: (NumberInput if name in NUMERIC else Input)(
                getattr(form, name, ""),
                placeholder=default,
                id=name.replace("_", "-"),
                compact=True,
                select_on_focus=False,
            )
            for name, default in defaults(suite).items()
        }
        self._only = ChoiceField(ONLY, id="only", first=ONLY.index(form.only))
        self._cache = TickBox("use cache", form.cache, id="cache")
        self._judge = TickBox("run the judge", form.judge, id="judge")
        self.lines = len(self._ticks) + len(LINES) + 2  # and those of `only`, and the boxes below
        """How high all of them are."""

    def compose(self) -> ComposeResult:
        """Lay them out."""
        for at, tick in enumerate(self._ticks):
            with Horizontal(classes="field"):
                yield FieldLabel("launch.targets", "targets") if not at else FieldLabel()
                yield tick
        with Horizontal(classes="field"):
            yield FieldLabel("launch.only", "only")
            yield self._only
        for line in LINES:
            with Horizontal(classes="field"):
                for field in line:
                    yield FieldLabel(f"launch.{field.id}", field.label)
                    yield self._fields[field.name]
        with Horizontal(classes="field"):
            yield FieldLabel("launch.cache")
            yield self._cache
            if self._judged:
                yield FieldLabel("launch.judge")
                yield self._judge

    @property
    def form(self) -> LaunchForm:
        """What stands in the fields now."""
        fields = {name: field.value for name, field in self._fields.items() if name != "label"}
        return LaunchForm(
            targets=tuple(tick.label for tick in self._ticks if tick.ticked),
            all_targets=all(tick.ticked for tick in self._ticks),
            only=self._only.word,
            cache=self._cache.ticked,
            judge=self._judge.ticked,
            **fields,
        )

    @property
    def label(self) -> str:
        """The name that was typed for the run; empty: none was."""
        return self._fields["label"].value.strip()

    def is_label(self, field: Input) -> bool:
        """Whether a field is that of the run's name, which changes nothing of what is run."""
        return field is self._fields["label"]

    def fill(self, form: LaunchForm) -> None:
        """Set every field."""
        for tick in self._ticks:
            tick.ticked = tick.label in form.targets
        for name, field in self._fields.items():
            field.value = getattr(form, name, field.value)
        self._only.picked = ONLY.index(form.only)
        self._cache.ticked, self._judge.ticked = form.cache, form.judge

    def go_to(self, name: str) -> None:
        """Go to a field by its id, or to the first of the `targets`; a box there is ticked."""
        boxes = {"cache": self._cache, "judge": self._judge}
        if name in boxes:
            if boxes[name].is_attached:
                boxes[name].focus()
                boxes[name].action_tick()
        else:
            (self._ticks[0] if name == "targets" else self.query_one(f"#{name}")).focus()
