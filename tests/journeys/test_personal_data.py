"""Personal data: after a workspace's deletion nothing that a person or a prompt has put into it is kept anywhere."""

from __future__ import annotations

import asyncio
import gzip
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ferryman import verify_receipts
from ferryman.client import ApiRefusedError, AsyncClient
from ferryman.gcp.clients import GoogleClients
from ferryman.serving.verify_archive import verify_archive
from ferryman.stack.admin import Admin
from ferryman.stack.inventory import list_documents, list_secrets, list_tasks
from tests.journeys.conftest import KEY, NewKey, asks, call, says
from tests.journeys.test_workspaces import delete

PERSONAL = {
    "workspace": "Casa-Palmira-4711",
    "task": "Reise-Brigitte-4712",
    "prompt": "Frag-Herrn-Oleander-4713",
    "system": "Du-bist-Fraeulein-4714",
    "input": "Geburtstag-Ottilie-4715",
    "output": "Gruesse-an-Kunigunde-4716",
    "label": "kunde-wilhelmine-4717",
    "argument": "Adresse-Mathilde-4718",
    "result": "Antwort-von-Leopold-4719",
    "description": "Ferienhaus-Amrum-4720",
    "agent": "Butler-Ignatius-4721",
    "agent prompt": "Diene-Frau-Walburga-4722",
    "agent description": "Haushalt-Sibylle-4723",
    "credential": "GITHUB_OF_ADELHEID_4724",
    "webhook": "Haken-Dietlinde-4725",
    "preference": "Allergie-Nuesse-4726",
    "member": "Rosalinde-4727",
    "invited": "Hildegunde-4728",
    "key": "Laptop-von-Rosalinde-4729",
    "refused": "Abgelehnt-Eusebius-4730",
    "alert": "Melden-an-Gottfried-4731",
    "reason": "Nicht-ohne-Roswitha-4732",
    "standing": "Immer-an-Theobald-4733",
}
"""Values of a person's, each where people put such things; none is anywhere else."""

NOT_EXPORTED = {"invited", "key", "alert", "refused", "standing"}
LOGGED = {"argument", "credential"}
"""What a line of each call that is sent names: its URL without its query, and its credential; kept as long as logs are."""


class Home:
    """A workspace with every personal value in it, by what the API, an application and the tools take."""

    def __init__(self, stack: Mapping[str, Any], owner: AsyncClient, key: str, admin: Admin, clients: GoogleClients) -> None:
        self.stack, self.owner, self.key, self.admin, self.clients = stack, owner, key, admin, clients
        self.workspace = ""

    async def furnish(self) -> None:
        """Put every value where it belongs."""
        paths = [f"/{PERSONAL[name]}" for name in ("alert", "webhook")]
        await self.admin.serve_routes("hooks.slack.com", [{"method": "POST", "path": path, "json": {}} for path in paths])
        alert_url = f"https://hooks.slack.com{paths[0]}"
        stored = await self.owner.create_workspace({"name": PERSONAL["workspace"], "alert_url": alert_url})
        self.workspace = stored["workspace_id"]
        async with AsyncClient(self.stack["url"], self.key, workspace=self.workspace) as client:
            agent = {"name": PERSONAL["agent"], "description": PERSONAL["agent description"]}
            about = await client.create_agent({**agent, "system_prompt": PERSONAL["agent prompt"]})
            task = await self.write_task(client, about["agent_id"])
            bea = await self.let_in(client)
            await self.deny(client, about["agent_id"])
            async with AsyncClient(self.stack["url"], bea, workspace="") as member:
                await member.create_key(PERSONAL["key"])
                ended = await member.run_task(task, PERSONAL["input"], labels={"customer": PERSONAL["label"]})
                assert (ended["status"], ended["output"]) == ("completed", PERSONAL["output"]), ended
        # a connection that was idle for as long as the run took may be closed while it is used again
        async with AsyncClient(self.stack["url"], self.key, workspace=self.workspace) as client:
            await client.change_workspace(self.workspace, {"max_credits_month": "1"})
            with suppress(ApiRefusedError):
                await client.run_task(task)
            async with asyncio.timeout(60):
                while [alert["state"] async for alert in client.iterate_alerts()] != ["delivered"]:  # noqa: ASYNC110 - the service's
                    await asyncio.sleep(0.05)
            await client.change_task(task, {"enabled": False})
            await self.ask(task)

    async def write_task(self, client: AsyncClient, agent: str) -> str:
        """Store the task, whose model calls two tools and answers."""
        path = f"/{PERSONAL['argument']}"
        route = {"method": "GET", "path": path, "json": {"name": PERSONAL["result"]}}
        await self.admin.serve_routes("api.github.com", [route])
        url = f"https://api.github.com{path}"
        steps = [
            asks(call("api_call", method="GET", url=url, credential=PERSONAL["credential"])),
            asks(call("save_preference", kind="dietary", preference=PERSONAL["preference"])),
            says(PERSONAL["output"]),
        ]
        await self.admin.set_script(self.workspace, {"steps": steps})
        task = {
            "name": PERSONAL["task"],
            "description": PERSONAL["description"],
            "task_prompt": PERSONAL["prompt"],
            "system_prompt": PERSONAL["system"],
            "agent_id": agent,
            "model": f"scripted/{self.workspace}",
            "tools": ["api_call", "save_preference"],
            "approvals": [{"mode": "never"}],
            "integrations": ["github"],
            "webhook_urls": [f"https://hooks.slack.com/{PERSONAL['webhook']}"],
        }
        created = str((await client.create_task(task, key=f"{self.workspace}-once"))["task_id"])
        await client.set_credential(created, PERSONAL["credential"], {"value": KEY, "service": "github"})
        return created

    async def deny(self, client: AsyncClient, agent: str) -> None:
        """Have a call wait, deny it with a reason, and approve others beforehand."""
        name, url = f"{self.workspace}-denied", "https://api.coingecko.com/x"
        await self.admin.set_script(name, {"steps": [asks(call("http_post", url=url, body={})), says("Well then.")]})
        about = {"name": "Post", "task_prompt": "Post it.", "model": f"scripted/{name}", "agent_id": agent}
        rules = {"tools": ["http_post"], "integrations": ["coingecko"], "approvals": [{"mode": "always"}]}
        task = await client.create_task({**about, **rules})
        execution = (await client.start_execution(task["task_id"]))["execution_id"]
        async with asyncio.timeout(60):
            while not (waiting := (await client.get_execution(execution))["waiting_for"]):  # noqa: ASYNC110 - the service's
                await asyncio.sleep(0.05)
            approval = await client.get_approval(waiting)
            await client.decide_approval(waiting, "deny", digest=approval["digest"], reason=PERSONAL["reason"])
            while (await client.get_execution(execution))["status"] == "running":  # noqa: ASYNC110 - the service's
                await asyncio.sleep(0.05)
        await client.create_standing_approval("http_post", 1, 1, arguments={"url": PERSONAL["standing"]})

    async def let_in(self, client: AsyncClient) -> str:
        """Invite two people, of whom one joins; return the API key of that one."""
        await client.create_invitation(PERSONAL["invited"], "viewer")
        token = (await client.create_invitation(PERSONAL["member"], "admin"))["token"]
        assert token is not None
        async with AsyncClient(self.stack["url"], "", workspace="") as nobody:
            return str((await nobody.join_workspace(token))["key"])

    async def ask(self, task: str) -> None:
        """Ask for a run as an application does, and wait until it is refused."""
        firestore = self.clients.firestore()
        _, document = await firestore.collection("executions").add({"task": task, "input": PERSONAL["refused"]})
        async with asyncio.timeout(60):
            while ((await document.get()).to_dict() or {}).get("status") != "failed":  # noqa: ASYNC110 - the service's
                await asyncio.sleep(0.05)

    async def find_personal(self) -> set[str]:
        """Return which of the values some document, secret or queued task holds."""
        stored: list[object] = [*await list_documents(self.clients)]
        stored += await list_secrets(self.clients, self.stack["project"])
        stored += await list_tasks(self.clients, self.stack["project"])
        whole = "\n".join(map(repr, stored))
        return {name for name, value in PERSONAL.items() if value in whole}

    def find_logged(self) -> set[str]:
        """Return which of the values the functions and the local cloud have said."""
        logs = sorted(Path(self.stack["data"]).rglob("*.log"))
        whole = "\n".join(path.read_text(errors="replace") for path in logs)
        return {name for name, value in PERSONAL.items() if value in whole}


@pytest.fixture
async def home(stack: Mapping[str, Any], admin: Admin, new_key: NewKey, clients: GoogleClients) -> AsyncIterator[Home]:
    key = await new_key("pro")
    async with AsyncClient(stack["url"], key, workspace="") as owner:
        home = Home(stack, owner, key, admin, clients)
        await home.furnish()
        yield home


async def test_after_a_deletion_nothing_personal_is_kept_and_the_sums_are_as_they_were(home: Home) -> None:
    assert await home.find_personal() == PERSONAL.keys()
    assert home.find_logged() == LOGGED
    before = await home.owner.get_ledger(by="workspace")
    archive = b"".join([part async for part in home.owner.export_workspace(home.workspace)])
    counts = (await delete(home.owner, home.workspace))["receipt"]["counts"]
    assert await home.find_personal() == set()
    assert await home.owner.get_ledger(by="workspace") == before
    once = ("agents", "members", "people", "invitations", "user_documents", "refused_requests", "credentials")
    assert {name: counts.get(name) for name in once} == dict.fromkeys(once, 1)
    unpacked = gzip.decompress(archive)
    assert {name for name, value in PERSONAL.items() if value.encode() in unpacked} == PERSONAL.keys() - NOT_EXPORTED
    assert {*verify(archive)} == {verify_receipts.WHOLE}


def verify(archive: bytes) -> list[int]:
    """Return what is found out of the executions of an archive."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "archive"
        path.write_bytes(archive)
        return [verdict.code for verdict in verify_archive(path, {})]
