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
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "docs"
EXAMPLE = ROOT / "docs" / "plugin-example"
"""A package that pages lead into; its files are served as they are."""
BESIDE = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "sample_suites/README.md",
    "benchmarks/README.md",
    "Dockerfile",
)
"""What does not lie in `docs/`: pages, and files that pages lead to."""
LOADING = {"src", "srcset", "poster", "data"}
"""Attributes whose address a browser loads by itself; of `href` only that of a `link` is."""


def sources() -> list[Path]:
    """Return the pages, pictures and other files of the site, relative to the repository."""
    docs = ROOT / "docs"
    found = [path for path in docs.rglob("*") if path.suffix in (".md", ".png")]
    found += [path for path in EXAMPLE.rglob("*") if path.suffix in (".py", ".toml")]
    return sorted(path.relative_to(ROOT) for path in (*found, *(ROOT / name for name in BESIDE)))


def lay_out(folder: Path) -> None:
    """Copy what the site is made of to an empty `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in sources():
        (folder / "pages" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, folder / "pages" / path)
    shutil.copytree(HERE / "theme", folder / "theme")
    shutil.copyfile(HERE / "zensical.toml", folder / "zensical.toml")


class _Addresses(HTMLParser):
    """The addresses of a page: what it loads from another host, and what of the site it names."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []
        self.local: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses of a tag; links for people are not loaded."""
        for name, value in attrs:
            loads = name in LOADING or (name == "href" and tag == "link")
            address = (value or "").strip()
            if loads and ("://" in address or address.startswith("//")):
                self.foreign.append(f"<{tag} {name}={value!r}>")
            elif (loads or name == "href") and not urlsplit(address).scheme and "," not in address:
                self.local.append(unquote(urlsplit(address).path))


def troubles(site: Path) -> Iterator[str]:
    """Yield what a built site must not have: pages without a policy, foreign parts, dead links."""
    for page in sorted(site.rglob("*.html")):
        text = page.read_text("utf-8")
        name = page.relative_to(site)
        if "Content-Security-Policy" not in text:
            yield f"{name}: no content policy"
        parser = _Addresses()
        parser.feed(text)
        yield from (f"{name}: loads {one}" for one in parser.foreign)
        if name.name != "404.html":  # its addresses begin at the root of whatever host it is on
            dead = (to for to in dict.fromkeys(parser.local) if not (page.parent / to).exists())
            yield from (f"{name}: leads to {to}, which is not there" for to in dead)


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
