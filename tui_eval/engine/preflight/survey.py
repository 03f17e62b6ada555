"""What a suite would run, with the checks that a run makes before it asks."""

from contextlib import closing

from tui_eval.engine.journey.trial_scoring import TrialScoring
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.suites.spec import Suite
from tui_eval.suites.survey.template_check import Survey, survey
from tui_eval.suites.templates.renderer import Renderer


def surveyed(suite: Suite) -> Survey:
    """Read all cases and try every template and check on each: no API calls.

    Raises:
        SuiteError: as `tui_eval.suites.survey.template_check.survey` does.
    """
    with closing(IsolatedCalls()) as calls:
        return survey(suite, TrialScoring(suite, Renderer(suite), calls).problem)
