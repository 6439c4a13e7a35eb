"""Links between the pages: every relative link leads to a file, and every anchor to a heading of it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "emulator", "examples", "infra", "functions", "bench", "lib", "tests")
PAGES = sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"(?<!\\)\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)|(?:href|src)=\"([^\"]+)\"", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
REMOTE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


def find_links(text: str) -> list[str]:
    """Return the targets of a page's links and images that stay in the repository, in their order."""
    prose = CODE.sub("", FENCE.sub("", text))
    targets = [next(filter(None, match.groups())) for match in LINK.finditer(prose)]
    return [target for target in targets if not REMOTE.match(target)]


def to_anchor(heading: str) -> str:
    """Return a heading's anchor as GitHub makes it: lower case, no punctuation, hyphens for spaces."""
    visible_text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", visible_text.lower()).replace(" ", "-")


def list_anchors(text: str) -> set[str]:
    """Return the anchors of a page; a heading that comes again has a number."""
    anchors: list[str] = []
    for heading in HEADING.findall(FENCE.sub("", text)):
        anchor = to_anchor(heading)
        count = sum(re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", other) is not None for other in anchors)
        anchors.append(f"{anchor}-{count}" if count else anchor)
    return set(anchors)


@cache
def read_anchors(path: Path) -> set[str]:
    return list_anchors(path.read_text())


def find_broken(page: Path, root: Path = ROOT) -> list[str]:
    """Return the links of a page that lead to no file below `root`, or to no heading."""
    broken = []
    for link in find_links(page.read_text()):
        name, _, anchor = unquote(link).partition("#")
        target = (page.parent / name).resolve() if name else page
        is_inside = target.is_relative_to(root.resolve()) and target.exists()
        if not is_inside or (anchor and (target.suffix != ".md" or anchor not in read_anchors(target))):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page):
    assert find_broken(page) == []


def test_every_page_of_the_documentation_is_reached_from_its_index():
    index = ROOT / "docs/index.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in find_links(index.read_text())}
    pages = {path.resolve() for path in (ROOT / "docs").rglob("*.md") if path != index}
    assert sorted(path.name for path in pages - linked) == []


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[a](b.md) and ![c](d.svg)", ["b.md", "d.svg"]),
        ("[a](b.md#c 'title')", ["b.md#c"]),
        ("[a]: b.md", ["b.md"]),
        ('<img src="a.svg">', ["a.svg"]),
        ("[a](https://example.com/b.md) [c](mailto:a@example.com)", []),
        ("`[a](b.md)`\n```\n[c](d.md)\n```", []),
    ],
)
def test_links_are_found_outside_of_code(text, links):
    assert find_links(text) == links


@pytest.mark.parametrize(
    "link", ["no-such.md", "#no-such", "other.md#no-such", "/etc/hostname", "../../../../../../etc/hostname"]
)
def test_a_link_that_leads_nowhere_is_found(tmp_path, link):
    (tmp_path / "other.md").write_text("# Other\n")
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n[sound](other.md#other) [sound](#page) [broken]({link})\n")
    assert find_broken(page, tmp_path) == [link]


def test_anchors_are_those_that_a_reader_is_led_to():
    text = "# The `a` of [b](c.md), and d\n## To add …, touch exactly\n## Twice\n## Twice\n```\n# no heading\n```\n"
    assert list_anchors(text) == {"the-a-of-b-and-d", "to-add--touch-exactly", "twice", "twice-1"}
