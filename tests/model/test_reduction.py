import pytest

from tui_eval.model.json import JsonObject
from tui_eval.model.reduction import FrozenRules, Reduce
from tui_eval.suites.spec import RunSettings


@pytest.mark.parametrize(
    "table", [{}, {"errors": "fail", "reduce": "max"}, {"reduce": ["pass@2", "mean"]}]
)
def test_rules_of_a_frozen_suite_are_those_of_its_settings(table: JsonObject) -> None:
    settings = RunSettings.model_validate(table)
    rules = FrozenRules.of_table(settings.model_dump(mode="json"))
    assert (rules.errors, rules.reductions) == (settings.errors, settings.reductions)
    assert FrozenRules.of_table(table) == rules  # an earlier version may have left out defaults


def test_several_reducers_keep_their_order() -> None:
    rules = FrozenRules.of_table({"reduce": ["pass^3", "mean"]})
    assert rules.reductions == [Reduce("pass^", 3), Reduce("mean")]


@pytest.mark.parametrize("table", [{"errors": "retry"}, {"reduce": "median"}])
def test_rules_that_are_not_known_are_refused(table: JsonObject) -> None:
    with pytest.raises(ValueError, match=r"must be"):
        FrozenRules.of_table(table)
