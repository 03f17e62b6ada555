"""What a plugin imports: `from tui_eval.plugins import Failure, Grade, Output, Usage, Verdict`.

A plugin is a module that an entry point of a distribution names, in the group `tui_eval`:

- `scorer.NAME`: `score(settings, case, output) -> Grade`, sync or async;
- `target.NAME`: `async generate(settings, request, timeout_s) -> Output | Failure`;
- `importer.NAME`: `read(path) -> {"suite": …, "cases": …, "lost": …}`;
- `exporter.NAME`: `export(run, trials) -> Iterator[str]`.

A scorer or target has a `version`, a text that is raised when it comes to decide or answer
otherwise, and where it has settings their model, `class Settings(BaseModel)`. A suite names it by
`kind = "DISTRIBUTION.NAME"`. It runs in worker processes, and nothing is imported before a suite
names it.
"""

from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict

__all__ = ["Failure", "Grade", "Output", "Usage", "Verdict"]
