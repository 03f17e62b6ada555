"""What decides the checks of each kind of scorer that runs a program."""

from collections.abc import Callable, Mapping
from typing import Final

from tui_eval.engine.grading.code_grader import CodeGrader
from tui_eval.engine.grading.command_grader import CommandGrader
from tui_eval.engine.grading.function_grader import FunctionGrader
from tui_eval.engine.grading.grader import Grader, GradingMeans
from tui_eval.engine.grading.plugin_grader import PluginGrader
from tui_eval.engine.grading.python_grader import PythonGrader

GRADERS: Final[Mapping[str, Callable[[GradingMeans], Grader]]] = {
    "code": CodeGrader,
    "command": CommandGrader,
    "python": PythonGrader,
    "function": FunctionGrader,
    "plugin": PluginGrader,
}
"""By the kind of scorer; one module each."""
