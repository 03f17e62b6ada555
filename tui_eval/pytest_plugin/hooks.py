"""What pytest loads in every session: the options, and what loads the rest where it is used."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tui_eval.pytest_plugin.evaluator import Evaluator


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, on the command line and in pytest's configuration."""
    group = parser.getgroup("tui-eval")
    group.addoption(
        "--tui-eval",
        action="store_true",
        help="collect tui-eval's suites as well: the gate of each is a test",
    )
    group.addoption(
        "--tui-eval-cases",
        action="store_true",
        help="collect suites with a test for each case, too",
    )
    group.addoption(
        "--tui-eval-trust",
        action="store_true",
        help="let suites do what they ask for: run programs, read outside their folder, send keys",
    )
    group.addoption(
        "--tui-eval-store",
        metavar="FILE",
        help="the store of their runs; default: .tui-eval/store.sqlite3 in the root folder",
    )
    parser.addini("tui_eval_trust", "like --tui-eval-trust", type="bool", default=False)
    parser.addini("tui_eval_store", "like --tui-eval-store, from the root folder on", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Have suites collected, where that is asked for."""
    if config.option.tui_eval or config.option.tui_eval_cases:
        from tui_eval.pytest_plugin.suite_tests import SuiteCollection

        config.pluginmanager.register(SuiteCollection(config), "tui-eval suites")


@pytest.fixture(scope="session")
def evaluate(pytestconfig: pytest.Config) -> "Evaluator":
    """Run a suite as `tui_eval.run` does, in a store that is kept between sessions."""
    from tui_eval.pytest_plugin.evaluator import Evaluator
    from tui_eval.pytest_plugin.suite_store import suite_store

    return Evaluator(suite_store(pytestconfig))
