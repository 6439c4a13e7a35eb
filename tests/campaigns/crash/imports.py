"""Imports while instances of the API die: every file is sent again until it is answered, and the archive is there once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ferryman import verify_receipts as verifier
from ferryman.composition.api import ApiDependencies
from ferryman.declared import entry
from ferryman.domain.archives.file_lines import PART_BYTES, LeftOut, write_left_out
from ferryman.domain.archives.lines import write_line
from ferryman.domain.files.keys import build_prefix
from ferryman.domain.tools.declared import build_cluster
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState
from ferryman.inmemory.clock import START
from ferryman.inmemory.objects import MemoryObjects
from ferryman.serving import keys
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.vault import sign
from tests.campaigns.crash.people import STORED, PeopleRun
from tests.contracts.values import OWNER
from tests.receipts.runs import RUNS, finish_run
from tests.serving.conftest import Stage
from tests.serving.importing import IMPORTS, Files, describe, describe_file, spread_lines, take_apart
from tests.serving.test_export import export

FIRST = "files-000001.jsonl"
Contents = Mapping[str, bytes]
TOOL = {"kind": "http", "name": "look_up", "url": "https://api.coingecko.com/{coin}"}
COUNTS = {"workspaces": 1, "agents": 2, "tasks": 1, "tools": 1, "executions": 1}
SMALL: Contents = {"a.md": b"Once.", "b.md": b"Twice.", "c.md": b""}
GROWING: Contents = {"large": b"x" * PART_BYTES + b"end"}
"""A file of two parts, of which the second is put behind the first."""


async def build_archive(files: Contents = SMALL) -> bytes:
    """Return the archive of a workspace of another deployment: an agent, a task with a tool, an execution, and these files."""
    run = await finish_run(RUNS["with_calls"])
    memory, place = run.stage.memory, derive_default_workspace("o")
    agent = Agent(id="agent_2", owner="o", workspace=place, name="Prices", created_at=START, updated_at=START)
    memory.agents[agent.id] = agent
    (name,) = memory.tasks
    tools = (entry.read(TOOL, where=""),)
    memory.tasks[name] = replace(memory.tasks[name], agent=agent.id)
    memory.clusters[name] = {"": (build_cluster("", 1, tools), tools)}
    there = {version: sign.derive_public_key(private) for version, private in run.stage.keys.privates.items()}
    stage = Stage(memory=memory, receipt_keys=there)
    for key, content in files.items():
        await stage.files.write(place, key, content, content_type="text/plain", write=f"there.{key}")
    return await export(stage, "o")


def give_up(manifest: dict[str, Any], files: Files, key: str) -> tuple[dict[str, Any], Files]:
    """Return an archive whose file `key` changed after its last part was read, each of its files in two of the archive's."""
    (line,) = write_left_out(key, LeftOut.CHANGED)
    counts = {**manifest["counts"], "files": manifest["counts"]["files"] - 1}
    end = next(line for line in files[FIRST].splitlines() if line.startswith(b'{"key":"%s","kind":"end"' % key.encode()))
    changed = spread_lines({**files, FIRST: files[FIRST].replace(end + b"\n", write_line(line))}, "files", 2)
    return describe({**manifest, "counts": counts, "file_bytes": manifest["file_bytes"] - len(SMALL[key])}, changed), changed


@dataclass(kw_only=True)
class ImportRun(PeopleRun):
    """One import by an owner, with a death at a chosen point, or an answer that is lost there."""

    story: str = "import"
    archive: bytes = field(repr=False)
    contents: Contents = field(default_factory=lambda: SMALL, repr=False)
    changed: str = ""
    """Of these files, the one that changed while it was exported: its lines end with that instead."""

    stored: ClassVar[tuple[str, ...]] = (*STORED, "archives", "clusters", "ledger", "file_quotas")

    async def perform(self) -> list[str]:
        """Import the archive, and return what is not as it has to be."""
        await self.stores.owners.put(OWNER)
        self.tokens["owner"] = key = keys.generate_key()
        await self.stores.owners.add_key(keys.digest_key(key), OWNER.id, self.clock.now())
        self.objects = MemoryObjects(self.clock)
        manifest, files = take_apart(self.archive)
        if self.changed:
            manifest, files = give_up(manifest, files, self.changed)
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
        return [*findings, *await self._find_wrong_files(imported[0]), *await self._find_wrong_history(imported[0])]

    def _build_deps(self) -> ApiDependencies:
        return replace(super()._build_deps(), files=WorkspaceFiles(self.objects))

    async def _find_wrong_files(self, workspace: Workspace) -> list[str]:
        """Return what is wrong of the bucket, and of the quota, which has to be its sum."""
        expected = {key: content for key, content in self.contents.items() if key != self.changed}
        prefix = build_prefix(workspace.id)
        stored = {key.removeprefix(prefix): content for key, (_, content) in self.objects._objects.items()}
        quota = await self.stores.file_quotas.get(workspace.id)
        findings = [] if stored == expected else [f"files: {sorted(stored)} instead of {sorted(expected)}"]
        sizes = (quota.used_bytes, quota.reserved_bytes)
        return findings if sizes == (sum(map(len, expected.values())), 0) else [*findings, f"quota: {sizes}"]

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
