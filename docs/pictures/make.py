"""The pictures of the documentation, made from the app itself on the sample suites.

    make pictures          or, in an environment with CairoSVG: python docs/pictures/make.py

Runs the samples in a temporary store: three on their recorded answers and, where the local model is
installed, `capitals` on it, live while its picture is taken.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cairosvg

from tui_eval.resources import samples_dir
from tui_eval.ui.app import TuiEvalApp

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Picture:
    """One picture: where the app is opened, how large, and which keys lead there."""

    name: str
    size: tuple[int, int]
    keys: Sequence[str] = ()
    run: str | None = None
    theme: str | None = None


PICTURES = (
    Picture("suites", (100, 28), ["j", "j"]),
    Picture("launch", (100, 28), ["j", "j", "enter"]),
    Picture("runs", (100, 18), ["2"]),
    Picture("run", (100, 30), ["n", "n"], run="live"),
    Picture("groups", (100, 24), ["b"], run="last"),
    Picture("run-wide", (150, 36), ["n"], run="last"),
)


def program(*arguments: str) -> str:
    """Run the command line; give what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "tui_eval", *arguments], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


async def take(picture: Picture, store: Path, run: str | None) -> None:
    """Open the app, press the keys, and keep what is on the screen."""
    app = TuiEvalApp(store, [samples_dir()], run)
    async with app.run_test(size=picture.size) as pilot:
        await pilot.pause(2.0)
        if picture.theme is not None:
            app.action_wear(picture.theme)
        for key in picture.keys:
            await pilot.press(key)
            await pilot.pause(0.5)
        await pilot.pause(1.0)
        svg = app.export_screenshot(title="tui-eval")
    # the font is named, not fetched: a picture looks alike wherever it is made
    svg = re.sub(r"@font-face\s*{.*?}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono")
    target = HERE / f"{picture.name}.png"
    cairosvg.svg2png(svg.encode(), write_to=str(target), output_width=picture.size[0] * 12)
    print(target.name)


def main() -> None:
    """Make all of them."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.sqlite3"
        os.environ["TUI_EVAL_STORE"] = str(store)
        os.environ["TUI_EVAL_STATE"] = str(Path(folder) / "state.json")
        samples = samples_dir()
        for name in ("dates", "instructions", "choices", "capitals"):
            program("run", str(samples / f"{name}.toml"))
        done = program("runs", "--json")
        assert done, "the samples did not run"
        for picture in PICTURES:
            run = picture.run
            if run == "live":
                run = program("run", str(samples / "capitals-local.toml"), "--detach") or "last"
                asyncio.run(asyncio.sleep(10))
            asyncio.run(take(picture, store, run))
            if picture.run == "live":
                program("cancel", run or "last")


if __name__ == "__main__":
    main()
