"""The problems that an answer of the API names."""

from __future__ import annotations

import httpx


def read_problems(answer: httpx.Response) -> dict[str, str]:
    """Return what is wrong with each field, of an answer that refuses them."""
    assert answer.status_code == 422, answer.text
    return {problem["field"]: problem["message"] for problem in answer.json()["errors"]}
