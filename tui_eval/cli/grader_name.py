"""Who grades: said once, then remembered."""

from tui_eval.cli.errors import CommandError
from tui_eval.store.write.people.grade_writes import LONGEST_NAME
from tui_eval.suites.config.app_state import GRADER, AppState, login_name, state_file


def grader_name(said: str | None) -> str:
    """Return the person that grades: as `--as` says, else as was said last, else the login's name.

    What is said is remembered for the next time, here and in the app.

    Raises:
        CommandError: it is empty or too long.
    """
    remembered = AppState(state_file())
    if said is None:
        return remembered.get(GRADER) or login_name()
    name = said.strip()
    if not name or len(name) > LONGEST_NAME:
        raise CommandError(f"--as: a name of 1 to {LONGEST_NAME} characters is wanted")
    remembered.set(GRADER, name)
    return name
