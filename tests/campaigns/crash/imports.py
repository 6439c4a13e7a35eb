"""Imports while instances of the API die: every file is sent again until it is answered, and the archive is there once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from ferryman import verify_receipts as verifier
from ferryman.declared import entry
from ferryman.domain.tools.declared import build_cluster
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState
from ferryman.inmemory.clock import START
from ferryman.serving import keys
from ferryman.vault import sign
from tests.campaigns.crash.people import STORED, PeopleRun
from tests.contracts.values import OWNER
from tests.receipts.runs import RUNS, finish_run
from tests.serving.conftest import Stage
from tests.serving.importing import IMPORTS, describe_file, take_apart
from tests.serving.test_export import export

TOOL = {"kind": "http", "name": "look_up", "url": "https://api.coingecko.com/{coin}"}
COUNTS = {"workspaces": 1, "agents": 2, "tasks": 1, "tools": 1, "executions": 1}


async def build_archive() -> bytes:
    """Return the archive of a workspace of another deployment: an agent, a task with a tool, and an execution."""
    run = await finish_run(RUNS["with_calls"])
    memory, place = run.stage.memory, derive_default_workspace("o")
    agent = Agent(id="agent_2", owner="o", workspace=place, name="Prices", created_at=START, updated_at=START)
    memory.agents[agent.id] = agent
    (name,) = memory.tasks
    tools = (entry.read(TOOL, where=""),)
    memory.tasks[name] = replace(memory.tasks[name], agent=agent.id)
    memory.clusters[name] = {"": (build_cluster("", 1, tools), tools)}
    there = {version: sign.derive_public_key(private) for version, private in run.stage.keys.privates.items()}
    return await export(Stage(memory=memory, receipt_keys=there), "o")


@dataclass(kw_only=True)
class ImportRun(PeopleRun):
    """One import by an owner, with a death at a chosen point, or an answer that is lost there."""

    story: str = "import"
    archive: bytes = field(repr=False)

    stored: ClassVar[tuple[str, ...]] = (*STORED, "archives", "clusters", "ledger")

    async def perform(self) -> list[str]:
        """Import the archive, and return what is not as it has to be."""
        await self.stores.owners.put(OWNER)
        self.tokens["owner"] = key = keys.generate_key()
        await self.stores.owners.add_key(keys.digest_key(key), OWNER.id, self.clock.now())
        manifest, files = take_apart(self.archive)
        self.begins()
        begun = await self.ask("POST", IMPORTS, who="owner", json=manifest)
        for number, (name, data) in enumerate(files.items()):
            url = f"{IMPORTS}/{begun.json()['workspace_id']}/files?number={number}"
            await self.ask("PUT", url, who="owner", json=describe_file(name, data))
        self.ends()
        return [*self._find_faults(), *await self._find_others()]

    def _find_faults(self) -> list[str]:
        return [f"answered: {answer.status_code} {answer.text[:200]}" for answer in self.answers if answer.is_error]

    async def _find_others(self) -> list[str]:
        imported = [item for item in await self.stores.workspaces.list(OWNER.id) if not item.is_default]
        findings = [f"half: {item.id} is {item.state}" for item in imported if item.state is not WorkspaceState.ACTIVE]
        if not imported:
            return ["lost: there is no workspace"]
        counts = {"workspaces": len(imported), **await self._count(imported[0])}
        findings += [f"doubled: {counts} instead of {COUNTS}"] if counts != COUNTS else []
        return [*findings, *await self._find_wrong_history(imported[0])]

    async def _count(self, workspace: Workspace) -> dict[str, int]:
        tasks = [*await self.stores.tasks.list(workspace.id)]
        return {
            "agents": len(await self.stores.agents.list(OWNER.id, workspace.id)),
            "tasks": len(tasks),
            "tools": sum([len(await self.stores.clusters.tools(task.id)) for task in tasks]),
            "executions": len([*await self.stores.executions.list(workspace.id)]),
        }

    async def _find_wrong_history(self, workspace: Workspace) -> list[str]:
        findings = []
        for execution in await self.stores.executions.list(workspace.id):
            headers = {"Ferryman-Workspace": workspace.id}
            path = f"/v1/executions/{execution.id}"
            record = (await self.ask_once("GET", f"{path}/record", who="owner", headers=headers)).json()
            chain = (await self.ask_once("GET", f"{path}/receipts", who="owner", headers=headers)).json()
            if verifier.verify(chain)[0] != verifier.WHOLE or verifier.compare(chain, record) != ([], []):
                findings.append(f"receipts: {execution.id} is not as it was")
            if await self.stores.ledger.of_execution(execution.id):
                findings.append(f"charged: {execution.id}")
        return findings
