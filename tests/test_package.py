"""The wheel holds everything the application needs and runs from any directory."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import tui_eval

CHECKOUT = Path(__file__).parent.parent
WITHOUT_PATHS = {
    name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")
}


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=WITHOUT_PATHS,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with the installed build backend: nothing is fetched."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=CHECKOUT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a fresh environment with the wheel, which borrows its dependencies from this one."""
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin" / "python")
    run(*pip, "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=folder)
    (site_packages,) = (folder / "lib").glob("python*/site-packages")
    # a plain path: this environment's own .pth files, an editable install's among them, stay unread
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site_packages / "borrowed.pth").write_text("\n".join(borrowed) + "\n")
    return folder


def test_the_wheel_holds_styles_samples_and_licence_and_nothing_stray(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    suffixes: dict[str, set[str]] = {}
    for name in names:
        top, _, rest = name.partition("/")
        inner = rest.partition("/")[0] if rest.startswith("_s") else top
        suffixes.setdefault(inner, set()).add(Path(name).suffix)
    assert suffixes.pop("tui_eval") <= {
        ".py",
        ".pyi",
        ".typed",
        ".json",
        ".j2",
        ".css",
        ".js",
        ".html",
        ".toml",
    }
    assert suffixes.pop("_styles") == {".tcss"}
    assert suffixes.pop("_sample_suites") == {".toml", ".jsonl", ".md", ".py"}
    (metadata,) = (top for top in suffixes if not top.endswith(".data"))  # the manual page
    assert metadata.endswith(".dist-info")
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_same_sources_give_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """Neither the time, nor who may read the files, nor where they stand is in it."""
    there = tmp_path / "elsewhere"
    kept = shutil.ignore_patterns("__pycache__")
    for name in ("tui_eval", "styles", "sample_suites"):
        shutil.copytree(CHECKOUT / name, there / name, ignore=kept, copy_function=shutil.copyfile)
    for file in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copyfile(CHECKOUT / file, there / file)
    page = there / "build" / "man" / "tui-eval.1"
    if any("/man1/" in name for name in zipfile.ZipFile(wheel).namelist()):
        page.parent.mkdir(parents=True)
        shutil.copyfile(CHECKOUT / page.relative_to(there), page)
    (there / "README.md").chmod(0o600)
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=there)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_every_sample_and_sheet_of_the_checkout_is_in_the_wheel(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("styles", "sample_suites"):
        paths = [path.relative_to(CHECKOUT) for path in (CHECKOUT / folder).rglob("*.*")]
        expected = {f"tui_eval/_{path}" for path in paths if "__pycache__" not in path.parts}
        assert expected
        assert expected <= names


def test_the_package_and_the_wheel_agree_on_the_version(wheel: Path) -> None:
    assert wheel.name.split("-")[1] == tui_eval.__version__


def test_the_installed_command_runs_from_another_directory(
    environment: Path, tmp_path: Path
) -> None:
    command = environment / "bin" / "tui-eval"
    assert tui_eval.__version__ in run(command, "--version", cwd=tmp_path)


def test_installing_compiles_byte_code(environment: Path) -> None:
    (package,) = (environment / "lib").glob("python*/site-packages/tui_eval")
    compiled = {path.name.partition(".")[0] for path in package.glob("__pycache__/*.pyc")}
    assert compiled == {path.stem for path in package.glob("*.py")}


@pytest.mark.whole
def test_an_installed_sample_is_found_checked_and_run(environment: Path, tmp_path: Path) -> None:
    python = environment / "bin" / "python"
    where = "from tui_eval.resources import samples_dir; print(samples_dir())"
    samples = Path(run(python, "-c", where, cwd=tmp_path).strip())
    assert environment.resolve() in samples.resolve().parents

    command = environment / "bin" / "tui-eval"
    suite = samples / "capitals.toml"
    store = ("--store", tmp_path / "store.sqlite3")
    assert "193" in run(command, "check", suite, *store, cwd=tmp_path)
    ran = run(command, "run", suite, "--json", *store, cwd=tmp_path)
    document = json.loads(ran)
    assert document["counts"]["done"] == 193
    assert document["counts"]["ungraded"] == 0
