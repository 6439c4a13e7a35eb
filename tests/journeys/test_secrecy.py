"""The demo is the proof that a planted key stays where it belongs; here it must hold."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from tests.journeys.conftest import FERRYMAN


async def test_the_demo_finds_the_canary_key_nowhere_but_in_the_upstreams_header() -> None:
    demo = await asyncio.create_subprocess_exec(
        FERRYMAN, "demo", "--json", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await demo.communicate()
    assert demo.returncode == 0, err.decode()
    verdict = json.loads(out)
    assert all(verdict["checks"].values())
    assert {place["place"]: place["found"] for place in verdict["places"]} == {
        searched["place"]: 0 for searched in verdict["places"]
    }
    assert [place["place"] for place in verdict["places"] if not (place["things"] and place["bytes"])] == []
    assert verdict["travelled"] == 2


@pytest.mark.parametrize("name", ["FERRYMAN_PRETEND_INTERNET", "FERRYMAN_CERTS_URL", "FERRYMAN_SCRIPTED_MODEL_URL"])
async def test_a_deployed_function_does_not_start_with_the_local_stacks_switches(name: str) -> None:
    function = Path(__file__).parents[2] / "functions" / "http_get" / "main.py"
    environment = {"PATH": os.environ["PATH"], "K_SERVICE": "http-get", name: "/tmp/internet.json"}
    started = await asyncio.create_subprocess_exec(
        sys.executable, function, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    _, err = await started.communicate()
    assert started.returncode != 0
    assert f"{name} is for the local stack only; a deployed function does not start with it" in err.decode()
