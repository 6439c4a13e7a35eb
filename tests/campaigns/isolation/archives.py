"""Archives: the attacker's own workspace, exported, and imported with a file under the key of another's."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Sequence

from ferryman.archives.reading import iterate_files
from ferryman.domain.archives.lines import write_line
from tests.campaigns.isolation.attempts import Attempt
from tests.campaigns.isolation.belongings import Belongings
from tests.campaigns.isolation.calls import build_answer
from tests.campaigns.isolation.deployment import Answer, Deployment
from tests.campaigns.isolation.relations import HEADER

KIND = "a file of an archive"
CONTENT = b"Hello."
FIRST, SECOND = "workspace-000001.jsonl", "files-000001.jsonl"
KEYS = (
    *("⟦file⟧", "workspaces/⟦workspace⟧/⟦file⟧", "/workspaces/⟦workspace⟧/⟦file⟧", "../⟦workspace⟧/⟦file⟧"),
    "..\\⟦workspace⟧\\⟦file⟧",
)


def list_archives() -> list[Attempt]:
    """Return the imports, each of one file under a key."""
    return [Attempt(kind=KIND, method="IMPORT", path=str(number), body={"key": key}) for number, key in enumerate(KEYS)]


async def import_file(deployment: Deployment, mine: Belongings, attempt: Attempt) -> Answer:
    """Import an archive with this file; return all that the importer is answered, and what is kept in the new workspace."""
    answers: list[Answer] = []

    async def ask(method: str, path: str, **more: object) -> Answer:
        answers.append(await deployment.send(mine.caller, method, path, **more))  # type: ignore[arg-type] # as `send` takes it
        return answers[-1]

    exported = await ask("GET", f"/v1/workspaces/{mine.caller.workspace}/export")
    files = {name: data for name, data in iterate_files(io.BytesIO(exported.body)) if name in (FIRST, SECOND)}
    answers.clear()  # it has more than the files
    files[SECOND] = b"".join(map(write_line, write_file(str(attempt.body["key"]))))
    about = {"format": "ferryman-workspace/1", "workspace": mine.caller.workspace, "name": "Copy", "keys": {}}
    # nothing is compared with it before the last file, which never comes
    about |= {
        "digest": f"{int(attempt.path):064x}",
        "files": 9,
        "counts": {"workspace": 1, "files": 1},
        "file_bytes": len(CONTENT),
    }
    begun = await ask("POST", "/v1/imports", body=about)
    if begun.status < 300:
        place = str(begun.read()["workspace_id"])
        for number, (name, data) in enumerate(sorted(files.items(), reverse=True)):
            body = {"name": name, "sha256": hashlib.sha256(data).hexdigest(), "content": data.decode()}
            await ask("PUT", f"/v1/imports/{place}/files?number={number}", body=body)
        await ask("GET", "/v1/files", headers={HEADER: place})
    return build_answer([[answer.status, answer.body.decode()] for answer in answers])


def write_file(key: str) -> Sequence[dict[str, object]]:
    """Return the lines of a file in one part."""
    about = {"key": key, "content_type": "text/plain", "size_bytes": len(CONTENT), "updated_at": "2026-11-23T09:00:00Z"}
    part = {"kind": "part", "content": base64.b64encode(CONTENT).decode()}
    return [{"kind": "file", **about}, part, {"kind": "end", "key": key, "sha256": hashlib.sha256(CONTENT).hexdigest()}]
