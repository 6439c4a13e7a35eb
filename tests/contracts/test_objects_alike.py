"""The same steps on every kind of bucket: what each of them answers is what the one in memory does."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from ferryman.domain.files.object import ABSENT, ObjectChangedError, ObjectMissingError
from ferryman.ports.objects import Objects

from .buckets import run_bucket

KEYS = ("a", "a/b", "a/b/c", "a/ü", "a b", "b")
PREFIXES = ("", "a", "a/", "a/b/", "x")
STEPS = 120
Step = Callable[[Objects, list[str]], Any]
"""What is done to a bucket, which knows the versions of all earlier writes: those of one bucket are not another's."""


def choose_step(random: Random, number: int) -> Step:
    """Return a step; every write has a content of its own, as S3 tells versions by it."""
    key, content = random.choice(KEYS), f"{number:03}".encode() * random.randrange(1, 5)
    at, size, most = random.randrange(12), random.randrange(1, 12), random.randrange(1, 4)
    recent = random.randrange(1, 8)
    condition = random.choice([None, None, ABSENT, "known", "known"])

    def version(known: list[str]) -> str | None:
        return known[-recent] if condition == "known" and len(known) >= recent else condition if condition == ABSENT else None

    async def put(objects: Objects, known: list[str]) -> Any:
        known.append(await objects.put(key, content, content_type="text/plain", expected=version(known)))
        return len(known)

    async def get(objects: Objects, known: list[str]) -> Any:
        part = await objects.get(key, start=at, size=size, version=version(known) or None)
        return part.content, part.end, part.size_bytes, known.index(part.version)

    async def delete(objects: Objects, known: list[str]) -> Any:
        return await objects.delete(key, version=version(known) or None)

    async def head(objects: Objects, known: list[str]) -> Any:
        stored = await objects.head(key)
        return stored and (stored.key, stored.size_bytes, known.index(stored.version))

    async def list_all(objects: Objects, known: list[str]) -> Any:
        prefix, pages, cursor = random_prefix, list[Any](), None
        while not pages or cursor is not None:
            page = await objects.list(prefix, cursor=cursor, most=most)
            pages.append([(entry.key, entry.size_bytes, known.index(entry.version)) for entry in page.entries])
            cursor = page.cursor
        return pages

    random_prefix = random.choice(PREFIXES)
    return random.choice([put, put, put, get, get, delete, head, list_all])


async def run_steps(kind: str, seed: int) -> list[Any]:
    """Return what each step came to, on an empty bucket."""
    random, known, outcomes = Random(seed), list[str](), list[Any]()
    async with run_bucket(kind) as objects:
        for number in range(STEPS):
            step = choose_step(random, number)
            try:
                outcomes.append((step.__name__, await step(objects, known)))
            except (ObjectMissingError, ObjectChangedError) as error:
                outcomes.append((step.__name__, type(error).__name__))
    return outcomes


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["google", "s3"])
async def test_a_service_answers_as_memory_does(kind: str, seed: int) -> None:
    assert await run_steps(kind, seed) == await run_steps("memory", seed)
