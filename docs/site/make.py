"""The documentation as a site: the repository's pages as they are, built without any fetched part.

    make docs                           or, where zensical is installed: python docs/site/make.py

The pages are laid out in `build/docs` as they lie in the repository, so that each link leads on the
site where it leads on a code host; `build/docs/html/index.html` is the site. A link to nowhere ends
the build, and so does a page that would load anything from another host.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "docs"
BESIDE = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "sample_suites/README.md",
    "benchmarks/README.md",
)
"""The pages that do not lie in `docs/`."""
LOADING = {"src", "srcset", "poster", "data"}
"""Attributes whose address a browser loads by itself; of `href` only that of a `link` is."""


def sources() -> list[Path]:
    """Return the pages and pictures that the site is made of, relative to the repository."""
    docs = ROOT / "docs"
    found = [path for path in docs.rglob("*") if path.suffix in (".md", ".png")]
    return sorted(path.relative_to(ROOT) for path in (*found, *(ROOT / name for name in BESIDE)))


def lay_out(folder: Path) -> None:
    """Copy what the site is made of to an empty `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in sources():
        (folder / "pages" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, folder / "pages" / path)
    shutil.copytree(HERE / "theme", folder / "theme")
    shutil.copyfile(HERE / "zensical.toml", folder / "zensical.toml")


class _Loaded(HTMLParser):
    """What a page loads from another host."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses that a tag has loaded; links for people are not loaded."""
        for name, value in attrs:
            loads = name in LOADING or (name == "href" and tag == "link")
            address = (value or "").strip().lower()
            if loads and ("://" in address or address.startswith("//")):
                self.foreign.append(f"<{tag} {name}={value!r}>")


def foreign(page: str) -> list[str]:
    """Return what an HTML page would load from another host, tag by tag."""
    parser = _Loaded()
    parser.feed(page)
    return parser.foreign


def troubles(site: Path) -> Iterator[str]:
    """Yield what a built site has that it must not: a page without its policy, a foreign part."""
    for page in sorted(site.rglob("*.html")):
        text = page.read_text("utf-8")
        name = page.relative_to(site)
        if "Content-Security-Policy" not in text:
            yield f"{name}: no content policy"
        yield from (f"{name}: loads {one}" for one in foreign(text))


def main() -> int:
    """Build the site; return the exit code."""
    lay_out(BUILD)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(command, cwd=BUILD, check=False)
    if done.returncode != 0:
        return done.returncode
    site = BUILD / "html"
    found = list(troubles(site))
    for trouble in found:
        print(trouble, file=sys.stderr)
    print(f"{site.relative_to(ROOT)}/index.html: {len(list(site.rglob('*.html')))} pages")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
