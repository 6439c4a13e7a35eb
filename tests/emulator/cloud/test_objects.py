"""Objects of a local cloud: each function at a port of its own, with what its row grants, and kept in the folder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator.cloud import CloudPlan, EmulatedCloud
from emulator.matrix import build_matrix
from emulator.reading import InvalidRequestError
from emulator.table import read_table

from .conftest import ROWS

FILES = {"name": "files", "identity": "a-keeper", "callers": [], "timeout_s": 60, "buckets": ["files"], "signs": True}
NAME = "a-project-files"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The functions of the other tests, and one that keeps files."""
    path = tmp_path / "functions.json"
    path.write_text(json.dumps({"functions": [*ROWS, FILES]}))
    return path


async def send(cloud: EmulatedCloud, name: str | None, method: str, path: str, **more: Any) -> httpx.Response:
    """Send a request as a function, or as the operator."""
    env = cloud.env if name is None else cloud._own_env(name)
    token = cloud.token if name is None else cloud._callers.token(name)
    headers = {"Authorization": f"Bearer {token.value}"}
    async with httpx.AsyncClient(base_url=env["STORAGE_EMULATOR_HOST"], headers=headers, trust_env=False) as client:
        return await client.request(method, path, **more)


async def upload(cloud: EmulatedCloud, name: str | None, bucket: str = NAME) -> int:
    path = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name=a"
    return (await send(cloud, name, "POST", path, content=b"content")).status_code


async def test_a_function_has_the_buckets_of_its_row_and_no_other(plan: CloudPlan) -> None:
    async with EmulatedCloud(plan) as cloud:
        for bucket in (NAME, "a-project-other"):
            created = await send(cloud, None, "POST", "/storage/v1/b?project=a-project", json={"name": bucket})
            assert created.status_code == 200
        assert await upload(cloud, "files") == 200
        assert await upload(cloud, "files", "a-project-other") == 403
        assert await upload(cloud, "echo") == 403
        assert await upload(cloud, None, "a-project-other") == 200


async def test_without_permissions_every_function_has_all(plan: CloudPlan) -> None:
    async with EmulatedCloud(replace(plan, permissions=False)) as cloud:
        created = await send(cloud, "echo", "POST", "/storage/v1/b?project=a-project", json={"name": NAME})
        assert (created.status_code, await upload(cloud, "echo")) == (200, 200)


async def test_objects_are_kept_in_the_folder(plan: CloudPlan) -> None:
    async with EmulatedCloud(plan) as cloud:
        await send(cloud, None, "POST", "/storage/v1/b?project=a-project", json={"name": NAME})
        await upload(cloud, "files")
    assert (plan.folder / "objects.sqlite").stat().st_mode & 0o077 == 0
    async with EmulatedCloud(plan) as cloud:
        assert (await send(cloud, "files", "GET", f"/storage/v1/b/{NAME}/o/a?alt=media")).content == b"content"


async def test_every_caller_has_a_port_of_its_own(plan: CloudPlan) -> None:
    async with EmulatedCloud(plan) as cloud:
        ports: Any = cloud.status()["ports"]
        assert set(ports["objects"]) == {"operator", "echo", "broken", "seen", "files"}
        assert len(set(ports["objects"].values())) == 5


def test_a_bucket_is_a_column_of_the_matrix(table: Path) -> None:
    head, *lines = build_matrix(read_table(table))
    assert (head[-1], [line[-1] for line in lines]) == ("bucket files", ["-", "-", "-", "objects, signed URLs"])


@pytest.mark.parametrize("change", [{"buckets": "files"}, {"buckets": [1]}, {"signs": 1}])
def test_a_row_that_names_no_buckets_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"functions": [{**FILES, **change}]}))
    with pytest.raises(InvalidRequestError, match=rf"functions\[0\]\.{next(iter(change))}"):
        read_table(path)
