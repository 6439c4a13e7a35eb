"""Markdown of a page: what each element becomes."""

from __future__ import annotations

import pytest

from ferryman.pages import read_page
from ferryman.pages.markdown import write_markdown
from ferryman.pages.tree import parse

BASE = "https://site.test/a/b.html"
PROSE = "The harbour council voted, after months of debate, on a new timetable, which starts in spring. "


def read(markup: str) -> str:
    page = f"<html><head><title>Harbour</title></head><body><article><p>{PROSE * 6}</p>{markup}<p>{PROSE * 3}</p></article></body></html>"
    text = read_page(page.encode(), "text/html; charset=utf-8", BASE).text
    begin, end = (PROSE * 6).strip(), (PROSE * 3).strip()
    assert text.startswith(begin)
    assert text.endswith(end)
    return text[len(begin) : -len(end)].strip("\n")


ELEMENTS = {
    "headline": ("<h3>Quay <i>two</i></h3>", "### Quay *two*"),
    "line break": ("<p>one<br>two</p>", "one\ntwo"),
    "spaces": ("<p>  one \n\t two  </p>", "one two"),
    "entities": ("<p>one &amp; two &lt;b&gt;</p>", "one & two <b>"),
    "bold": ("<p>one <b>two</b> three</p>", "one **two** three"),
    "space inside of bold": ("<p>one<b> two </b>three</p>", "one **two** three"),
    "code": ("<p>call <code>stop()</code> now</p>", "call `stop()` now"),
    "list": ("<ul><li>one</li><li>two</li></ul>", "- one\n- two"),
    "ordered list": ("<ol><li>one</li><li>two</li></ol>", "1. one\n2. two"),
    "list in a list": ("<ul><li>one<ul><li>two</li></ul></li><li>three</li></ul>", "- one\n  - two\n- three"),
    "unclosed items": ("<ul><li>one<li>two</ul>", "- one\n- two"),
    "quotation": ("<blockquote><p>one</p><p>two</p></blockquote>", "> one\n\n> two"),
    "preformatted": ("<pre>if a:\n    b()</pre>", "```\nif a:\n    b()\n```"),
    "preformatted with fences": ("<pre>```\na\n```</pre>", "````\n```\na\n```\n````"),
    "table": ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
    "pipe in a cell": ("<table><tr><th>a|b<th>c<tr><td>1<td>2</table>", "| a\\|b | c |\n| --- | --- |\n| 1 | 2 |"),
    "wide cell": ("<table><tr><th>a<th>b<tr><td colspan=2>1</table>", "| a | b |\n| --- | --- |\n|  | 1 |"),
    "table with a caption": (
        "<table><caption>fares</caption><tr><th>a<th>b<tr><td>1<td>2</table>",
        "| fares |\n| --- | --- |\n| a | b |\n| 1 | 2 |",
    ),
    "image": ('<p>one <img src="/x.png" alt="unseen"> two</p>', "one two"),
    "caption of an image": (
        "<figure><img src=x.png><figcaption>The quay, at night</figcaption></figure>",
        "The quay, at night",
    ),
    "link": ('<p>see <a href="/x?a=1&amp;b=2">this</a></p>', "see [this](https://site.test/x?a=1&b=2)"),
    "relative link": ('<p>see <a href="c.html">this</a></p>', "see [this](https://site.test/a/c.html)"),
    "link to the page itself": ('<p>see <a href="#top">this</a></p>', "see this"),
    "link of a script": ('<p>see <a href="javascript:alert(1)">this</a></p>', "see this"),
    "link around a headline": ('<a href="/x"><h3>Quay</h3></a>', "### [Quay](https://site.test/x)"),
    "brackets in a link": ('<p>see <a href="/x">[1]</a></p>', "see [(1)](https://site.test/x)"),
    "anchor of a headline": ('<h3>Quay<a href="#quay">¶</a></h3>', "### Quay"),
    "definition": ("<dl><dt>fare</dt><dd>what it costs</dd></dl>", "fare\n\n: what it costs"),
}


@pytest.mark.parametrize("element", ELEMENTS)
def test_elements_become_markdown(element):
    markup, expected = ELEMENTS[element]
    assert read(markup) == expected


def test_links_are_resolved_at_the_base_of_the_page():
    page = f"<base href='https://other.test/x/'><body><article><p>{PROSE * 8}<a href=y>this</a></p></article>"
    assert read_page(page.encode(), "text/html", BASE).text.endswith("[this](https://other.test/x/y)")


def test_a_table_for_the_layout_becomes_paragraphs():
    assert read("<table><tr><td><h3>Quay</h3><p>One, two.</p></td><td><p>Three, four.</p></td></tr></table>") == (
        "### Quay\n\nOne, two.\n\nThree, four."
    )


def test_a_table_counts_once_towards_the_characters_that_are_read() -> None:
    rows = "".join(f"<tr><td>{number:05}</td><td>{number:05}</td></tr>" for number in range(40))
    tree = parse([f"<html><body><table>{rows}</table><p>{'x' * 100}</p><p>end</p></body></html>"])
    text, is_ended = write_markdown([tree.root], BASE, 1_000)
    assert (text.endswith("end"), is_ended, len(text) < 1_000) == (True, False, True)
