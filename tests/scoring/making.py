"""Short ways from a scorer as a suite writes it to a check and a grade."""

from pydantic import TypeAdapter

from tui_eval.model.case import Case
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import Grade
from tui_eval.scoring.check import Check, Subject
from tui_eval.scoring.grading import grade
from tui_eval.scoring.scorers import Scorers
from tui_eval.suites.scorers import ScorerSpec

EMPTY = Output("")
SPECS: TypeAdapter[list[ScorerSpec]] = TypeAdapter(list[ScorerSpec])


def scorers(*settings: JsonObject) -> Scorers:
    """Make the scorers of a suite."""
    return Scorers(SPECS.validate_python(list(settings)))


def subject(fields: JsonObject, output: Output | None = EMPTY) -> Subject:
    """Make a trial's subject for a case with these fields."""
    return Subject(Case(0, "c1", fields), "What?", ({"role": "user", "content": "What?"},), output)


def check(settings: JsonObject, **fields: Json) -> Check:
    """Make the one check of a case, which has to apply."""
    made = scorers(settings).checks(subject(fields))
    assert not isinstance(made, Failure), made
    [one] = made
    return one


def scored(settings: JsonObject, output: Output | str, **fields: Json) -> Grade:
    """Grade an output by one scorer."""
    made = Output(output) if isinstance(output, str) else output
    return grade(check(settings, **fields), made)


def refused(settings: JsonObject, **fields: Json) -> str:
    """Give the message of the failure a scorer makes of a case."""
    made = scorers(settings).checks(subject(fields))
    assert isinstance(made, Failure), made
    assert made.kind == "template"
    return made.message
