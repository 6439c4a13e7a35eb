"""The page /docs: all that is served, and nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import re

import httpx
import pytest
from fastapi import FastAPI

from ferryman.serving.api.page import render

from .conftest import Stage, create_app


@pytest.fixture(scope="module")
def app() -> FastAPI:
    """The app of all tests here: it makes the page once, which takes half a second."""
    return create_app(Stage().deps())


@pytest.fixture
async def answer(client: httpx.AsyncClient) -> httpx.Response:
    return await client.get("/docs", headers={"Authorization": ""})


def test_it_needs_no_key(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")


def test_it_names_every_operation_that_is_not_there_twice(answer: httpx.Response, app: FastAPI) -> None:
    for path, verbs in app.openapi()["paths"].items():
        for operation in verbs.values():
            assert (f"{operation['operationId']}<" in answer.text) == (not path.startswith("/api/") or path.endswith("/chat"))


def test_it_loads_nothing(answer: httpx.Response) -> None:
    assert re.findall(r"<(?:script|link|img|iframe|object|embed|form|base)\b", answer.text) == []
    assert re.findall(r"<[^>]*\s(?:src|srcset|on\w+|style)=", answer.text) == []
    assert re.findall(r"@import|url\(", answer.text) == []


def test_every_link_of_it_leads_into_itself_or_to_the_document(answer: httpx.Response) -> None:
    targets = set(re.findall(r'href="([^"]*)"', answer.text))
    places = {f"#{place}" for place in re.findall(r'id="([^"]*)"', answer.text)}
    assert targets <= places | {"/openapi.json"}


def test_its_policy_lets_its_own_style_in_and_nothing_else(answer: httpx.Response) -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


def test_html_in_a_text_is_text() -> None:
    page = render("# <script>alert(1)</script>\n\n| a |\n|---|\n| <img src=x> [x](javascript:alert(1)) |\n", "<title>")
    assert "<script" not in page
    assert "<img" not in page
    assert 'href="javascript' not in page


async def test_the_root_says_what_this_is(client: httpx.AsyncClient) -> None:
    body = (await client.get("/", headers={"Authorization": ""})).json()
    assert (body["name"], body["reference"], body["openapi"]) == ("Ferryman", "/docs", "/openapi.json")
