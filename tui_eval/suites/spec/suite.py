"""The whole suite: as a file has it, and as a run keeps it."""

from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue, StrictStr

from tui_eval.suites.scorers import PartsGiven, ScorerSpec
from tui_eval.suites.spec.asked.asked_spec import AskedSpec
from tui_eval.suites.spec.asked.kinds import DEFAULT_KIND
from tui_eval.suites.spec.dataset_table import Dataset
from tui_eval.suites.spec.gate import Gate
from tui_eval.suites.spec.judges import AnyJudge, EmbeddingSpec, RubricJudge
from tui_eval.suites.spec.prompts import Prompt, has_turns
from tui_eval.suites.spec.recording import RecordingColumns
from tui_eval.suites.spec.run import RunSettings
from tui_eval.suites.spec.table import Spec, Text, Texts
from tui_eval.suites.spec.targets import AnyTarget, parts_given
from tui_eval.suites.spec.user import UserSpec


def _with_kind(given: object) -> object:
    """Put the kind of a target or judge, or of each in a list, where it is left out."""
    if isinstance(given, list | tuple):
        return [_with_kind(one) for one in given]
    return {"kind": DEFAULT_KIND, **given} if isinstance(given, dict) else given


class _Common(Spec):
    name: Text
    """The suite's name: its runs and its history are called by it."""
    description: StrictStr = ""
    """What it is for, in a line."""
    tags: Texts = ()
    """What the suite is about."""
    dataset: Dataset = Dataset()
    """Where the cases come from and which of them are run."""
    cases: tuple[dict[str, JsonValue], ...] = ()
    """The cases themselves, in place of a dataset's path. A case may carry scorers, skip, tags,
    weight and timeout."""
    targets: Annotated[tuple[AnyTarget, ...], BeforeValidator(_with_kind)] = Field(min_length=1)
    """What is evaluated."""
    scorers: tuple[ScorerSpec, ...] = ()
    """The checks every output goes through."""
    judges: Annotated[tuple[AnyJudge, ...], BeforeValidator(_with_kind)] = ()
    """Who grades the outputs of scorers of kind judge, each with a name that scorers call it by."""
    user: UserSpec | None = None
    """Who goes on with the conversations of targets that are models, after the prompt's turns."""
    run: RunSettings = RunSettings()
    """How the trials are run."""
    gate: Gate | None = None
    """What decides the exit code of `tui-eval run`. Default: nothing errored or ungraded."""


class SuiteFile(_Common):
    """A suite of tui-eval."""

    name: Text | None = None  # type: ignore[assignment]  # a file without one takes its own name
    """The suite's name. Default: the file's name without .toml."""
    include: Texts = ()
    """Files whose prompts, targets, scorers, judges and settings are added: lists are appended,
    tables merged, and what stands here wins."""
    prompt: Prompt | None = None
    """The one way of asking; or [[prompts]] with names."""
    prompts: tuple[Prompt, ...] = ()
    """Several ways of asking: every target runs every prompt it names."""
    judge: Annotated[RubricJudge | None, BeforeValidator(_with_kind)] = None
    """The one judge; or [[judges]] with names."""
    judges: Annotated[tuple[RubricJudge, ...], BeforeValidator(_with_kind)] = ()
    """Who grades the outputs of scorers of kind judge, each with a name that scorers call it by."""
    embedding: EmbeddingSpec | None = None
    """What gives the vectors of similarity by embedding."""
    target_defaults: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields merged key by key under every target that has such a field."""


class Suite(_Common):
    """A suite that has been read: checked, with everything it needs but its data inside.

    `Suite.model_validate_json(suite.model_dump_json())` gives it back; that text is what a run
    keeps. Only the paths of the dataset and of recordings still point at files.
    """

    prompts: tuple[Prompt, ...] = ()
    """The ways of asking, files and examples inside; one without a name stands alone."""
    file: str | None = None
    """The absolute path of the file it was read from; its folder is the suite's own."""
    outside: Texts = ()
    """Files and folders outside it that it was allowed to read when it was loaded."""
    scorer_code: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By the names of scorers that have a program decide: the files and folders that it is made of,
    relative to the suite's own folder, with the digests that they had then."""

    @property
    def asked(self) -> tuple[AskedSpec, ...]:
        """Its targets and judges, and the simulated user."""
        return (*self.targets, *self.judges, *filter(None, (self.user,)))

    @property
    def given_functions(self) -> dict[str, str]:
        """The functions of a Python program that it calls: names by digests of code."""
        specs = (*self.targets, *self.scorers)
        return {code: name for one in specs for code, name in one.given_functions().items()}

    @property
    def gives_fields(self) -> bool:
        """Whether a target may give fields beside its text, so that `fields` is theirs."""
        return self.parts_given.fields

    @property
    def parts_given(self) -> PartsGiven:
        """What its outputs may have beside a text."""
        turns = self.user is not None or any(has_turns(one.turns) for one in self.prompts)
        return parts_given([one.as_written() for one in self.targets], turns=turns)

    @property
    def names_of_output(self) -> frozenset[str]:
        """Names that templates of scorers know only once there is an output."""
        return frozenset(("output", "fields") if self.gives_fields else ("output",))

    @property
    def recordings(self) -> dict[str, RecordingColumns]:
        """Where answers are recorded, by the name of the target."""
        found = ((target.name, target.recording()) for target in self.targets)
        return {name: recording for name, recording in found if recording is not None}

    @property
    def recorded_columns(self) -> frozenset[str]:
        """The dataset's own columns that hold recorded answers."""
        own = self.dataset.path
        return frozenset(
            column
            for recording in self.recordings.values()
            if recording.path == own
            for column in recording.columns
        )
