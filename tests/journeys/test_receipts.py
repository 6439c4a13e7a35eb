"""Receipts, from the running stack to somebody who has nothing of Ferryman but one file."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ferryman import verify_receipts
from tests.journeys.conftest import Journey, asks, call, says
from tests.journeys.test_command_line import Ran, Shell

HOST = "api.coingecko.com"


async def alone(folder: Path, *arguments: str) -> Ran:
    """Return what the verifier says, run on its own: no package, no folder of ours on the path, no environment."""
    copy = shutil.copy(verify_receipts.__file__, folder / "verify.py")
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        copy,
        *arguments,
        cwd=folder,
        env={},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await child.communicate()
    assert child.returncode is not None
    return Ran(child.returncode, out.decode(), err.decode())


@pytest.fixture
def ferryman(stack: Any) -> Shell:
    return Shell(stack)


async def test_the_receipts_of_a_run_are_verified_by_one_file_alone(journey: Journey, tmp_path: Path, ferryman: Shell) -> None:
    await journey.serve(HOST)
    uses = [call("http_get", url=journey.url(HOST), query_params={"n": 1.5}), call("http_get", url="https://evil.example/")]
    task = await journey.task(asks(*uses), says("Done."), tools=["http_get"], integrations=["coingecko"])
    record = await journey.run(task)
    execution = record["execution_id"]
    document = await journey.client.get_receipts(execution)
    kinds = [entry["kind"] for entry in document["entries"]]
    assert kinds == ["opened", "replied", "planned", "planned", "settled", "settled", "replied", "closed"]
    record = await journey.client.get_record(execution)
    for name, content in {"r": document, "x": record}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    keys = await journey.client.list_receipt_keys()
    (tmp_path / "keys").write_text("\n".join(f"{version}:{key}" for version, key in keys.items()))
    whole = await alone(tmp_path, "r.json", "--public-key", "keys", "--record", "x.json")
    assert (whole.code, whole.err) == (0, "")
    assert "The record fits the receipts." in whole.out

    record["calls"][0]["attempt"] += 1
    (tmp_path / "x.json").write_text(json.dumps(record))
    another = await alone(tmp_path, "r.json", "--public-key", "keys", "--record", "x.json")
    assert (another.code, "DOES NOT FIT: calls/0\n" in another.out) == (1, True)

    document["entries"][4]["outcome"] = "failed"
    (tmp_path / "r.json").write_text(json.dumps(document))
    changed = await alone(tmp_path, "r.json")
    assert (changed.code, "entry 4 (settled) was changed" in changed.out) == (1, True)


async def test_the_command_fetches_receipts_and_verifies_them(journey: Journey, tmp_path: Path, ferryman: Shell) -> None:
    key = {"FERRYMAN_URL": journey.client.url, "FERRYMAN_KEY": journey.client._http.headers["authorization"].split()[1]}
    record = await journey.run(await journey.task(says("Done.")))
    file, keys = str(tmp_path / "receipts.json"), str(tmp_path / "keys")
    assert (await ferryman("receipts", record["execution_id"], "--output", file, **key)).code == 0
    assert (await ferryman("receipts", "--output", keys, **key)).code == 0
    (tmp_path / "record.json").write_text((await ferryman("show", record["execution_id"], "--audit", "--json", **key)).out)
    verified = await ferryman("verify", file, "--public-key", keys, "--record", str(tmp_path / "record.json"))
    assert (verified.code, verified.err) == (0, "")
    assert "WHOLE AND GENUINE: 3 entries" in verified.out
    assert "The record fits the receipts." in verified.out
    assert "you gave" in verified.out
    assert "Give --public-key" in (await ferryman("verify", file)).out
    assert (await ferryman("verify", str(tmp_path / "none"))).code == 2
