"""Style sheets and samples are found wherever the package stands."""

import subprocess
import sys
from pathlib import Path

import pytest

from tui_eval import resources

CHECKOUT = Path(__file__).parent.parent


def test_a_checkout_uses_the_folders_people_edit() -> None:
    assert resources.samples_dir() == CHECKOUT / "sample_suites"
    assert resources.styles_dir() == CHECKOUT / "styles"


def find_from(package: Path, function: str) -> subprocess.CompletedProcess[str]:
    """Ask a copy of the module that stands in `package` for a folder."""
    copy = package / "resources.py"
    copy.write_text(Path(resources.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-c", f"import resources; print(resources.{function}())"],
        cwd=package,
        capture_output=True,
        text=True,
        timeout=30,
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "site-packages" / "tui_eval"
    folder.mkdir(parents=True)
    return folder


def test_a_wheel_uses_the_folders_inside_the_package(package: Path) -> None:
    (package / "_styles").mkdir()
    # somebody else's top-level folder of the same name must not be taken
    (package.parent / "styles").mkdir()
    found = find_from(package, "styles_dir")
    assert found.stdout.strip() == str(package / "_styles")


def test_an_incomplete_installation_says_what_is_missing(package: Path) -> None:
    found = find_from(package, "samples_dir")
    assert found.returncode != 0
    assert "sample_suites are missing" in found.stderr
    assert "install tui-eval again" in found.stderr
