"""The documentation's site: it has every page once, and loads nothing from elsewhere."""

import runpy
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SITE = ROOT / "docs" / "site"


@pytest.fixture(scope="module")
def make() -> dict[str, Any]:
    """Give the names of the script that builds the site."""
    return runpy.run_path(str(SITE / "make.py"))


def pages_in(nav: list[Any]) -> Iterator[str]:
    """Yield the pages of a navigation in their order."""
    for entry in nav:
        (page,) = entry.values() if isinstance(entry, dict) else (entry,)
        if isinstance(page, list):
            yield from pages_in(page)
        else:
            yield page


def test_every_page_stands_once_in_the_navigation(make: dict[str, Any]) -> None:
    told = tomllib.loads((SITE / "zensical.toml").read_text("utf-8"))
    listed = Counter(pages_in(told["project"]["nav"]))
    there = {str(path) for path in make["sources"]() if path.suffix == ".md"}
    assert not [page for page, times in listed.items() if times > 1]
    assert set(listed) - there == set(), "nav of docs/site/zensical.toml: no such page"
    assert there - set(listed) == set(), "add the page to nav in docs/site/zensical.toml"


def test_the_site_is_laid_out_as_the_repository(make: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "site"
    (folder / "pages").mkdir(parents=True)
    (folder / "pages" / "gone.md").touch()
    make["lay_out"](folder)
    pages = folder / "pages"
    laid = {path.relative_to(pages) for path in pages.rglob("*") if path.is_file()}
    assert laid == set(make["sources"]())
    assert (folder / "theme" / "main.html").exists()
    assert not (pages / "gone.md").exists()


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ('<script src="https://cdn.example/x.js"></script>', 1),
        ('<link rel="stylesheet" href="//fonts.example/css">', 1),
        ('<img src="HTTP://x.example/y.png"><img srcset="https://x.example/z.png 2x">', 2),
        ('<a href="https://example.com/">read on</a>', 0),
        ('<script src="../assets/bundle.js"></script><img src="data:image/png;base64,">', 0),
    ],
)
def test_what_a_page_would_load_from_elsewhere_is_found(
    make: dict[str, Any], page: str, found: int, tmp_path: Path
) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "bundle.js").touch()
    (tmp_path / "pages" / "one.html").write_text(page, "utf-8")
    told = list(make["troubles"](tmp_path))
    assert told[0] == "pages/one.html: no content policy"
    assert [one.startswith("pages/one.html: loads <") for one in told[1:]] == [True] * found


def test_links_to_nowhere_are_found(make: dict[str, Any], tmp_path: Path) -> None:
    links = '<a href="gone.html#x">x</a><a href="one.html?q=1#y">y</a><a href="#z">z</a>'
    policy = '<meta http-equiv="Content-Security-Policy">'
    (tmp_path / "one.html").write_text(policy + links, "utf-8")
    assert list(make["troubles"](tmp_path)) == ["one.html: leads to gone.html, which is not there"]
