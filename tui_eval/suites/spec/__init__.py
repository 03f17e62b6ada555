"""What a suite says, as frozen values: one module for each noun."""

from tui_eval.suites.spec.asked.asked_spec import AskedSpec, CallRates
from tui_eval.suites.spec.asked.bulk_endpoint import BulkEndpointSpec
from tui_eval.suites.spec.asked.model_endpoint import ModelEndpointSpec, TokenPrices
from tui_eval.suites.spec.dataset_table import Dataset
from tui_eval.suites.spec.gate import BaselineGate, Gate, ScorerThresholds, Thresholds
from tui_eval.suites.spec.judges import (
    JUDGES,
    RUBRIC_JUDGES,
    EmbeddingSpec,
    JudgeSpec,
    ModelJudgeSpec,
    SimulatedJudgeSpec,
)
from tui_eval.suites.spec.judges.judge_spec import UNNAMED
from tui_eval.suites.spec.judges.simulated_judge_spec import JUDGE_FAULTS
from tui_eval.suites.spec.prompts import Examples, Message, Prompt
from tui_eval.suites.spec.recording import RecordingColumns
from tui_eval.suites.spec.run import RunSettings
from tui_eval.suites.spec.suite import Suite, SuiteFile
from tui_eval.suites.spec.targets import (
    TARGETS,
    CommandTargetSpec,
    FunctionTargetSpec,
    ModelTargetSpec,
    PluginTargetSpec,
    PythonTargetSpec,
    ReplayTargetSpec,
    SimulatedTargetSpec,
    TargetSpec,
)
from tui_eval.suites.spec.targets.simulated import FAULT_KINDS
from tui_eval.suites.spec.user import UserSpec

__all__ = [
    "FAULT_KINDS",
    "JUDGES",
    "JUDGE_FAULTS",
    "RUBRIC_JUDGES",
    "TARGETS",
    "UNNAMED",
    "AskedSpec",
    "BaselineGate",
    "BulkEndpointSpec",
    "CallRates",
    "CommandTargetSpec",
    "Dataset",
    "EmbeddingSpec",
    "Examples",
    "FunctionTargetSpec",
    "Gate",
    "JudgeSpec",
    "Message",
    "ModelEndpointSpec",
    "ModelJudgeSpec",
    "ModelTargetSpec",
    "PluginTargetSpec",
    "Prompt",
    "PythonTargetSpec",
    "RecordingColumns",
    "ReplayTargetSpec",
    "RunSettings",
    "ScorerThresholds",
    "SimulatedJudgeSpec",
    "SimulatedTargetSpec",
    "Suite",
    "SuiteFile",
    "TargetSpec",
    "Thresholds",
    "TokenPrices",
    "UserSpec",
]
