"""Assets: small, named by their content, and of types that a browser takes for nothing else."""

from __future__ import annotations

import re

import httpx
from fastapi import FastAPI

from ferryman.serving.console.assets import FOLDER, load_assets
from ferryman.serving.console.markdown import render_markdown
from ferryman.serving.console.rendering import TEMPLATES

GZIPPED_BYTES_MAX = 60_000
"""The gzipped bytes of all assets together, as the console promises."""


def test_all_of_them_are_small() -> None:
    _, assets = load_assets()
    assert 0 < sum(len(asset.gzipped) for asset in assets.values()) <= GZIPPED_BYTES_MAX


async def test_a_browser_keeps_one_for_good(app: FastAPI) -> None:
    digest, assets = load_assets()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        answer = await http.get(f"/console/assets/{digest}/console.css")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == assets["console.css"].content


async def test_one_of_another_content_is_not_there(app: FastAPI) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        answer = await http.get("/console/assets/0123456789abcdef/console.css")
    assert answer.status_code == 404


def test_the_script_builds_every_element_that_a_template_or_markdown_has() -> None:
    source = (FOLDER / "console.js").read_text()
    known = {
        name for words in re.findall(r'"([a-z0-9 ]+)"', source[: source.index("function build")]) for name in words.split()
    }
    markdown = str(
        render_markdown("# a\n###### b\n> c\n\n1. d\n\n- *e* **f** `g`\n\n| h |\n|---|\n| i |\n\n***\n\n[j](https://k.example)")
    )
    templates = [re.sub(r"\{[%#{].*?[%#}]\}", "", file.read_text(), flags=re.S) for file in TEMPLATES.iterdir()]
    names = {name for text in [markdown, *templates] for name in re.findall(r"<([a-z][a-z0-9]*)", text)}
    assert names - known - {"html", "head", "body", "link", "meta", "script", "title"} == set()
