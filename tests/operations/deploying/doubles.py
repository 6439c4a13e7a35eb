"""Doubles of terraform and gcloud: real programs on the PATH, that keep what they are told in a folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ferryman.operations.deploy.deployment import NEEDED

GCLOUD = """
import base64, json, pathlib, sys
folder = pathlib.Path(__file__).parent.parent
known = json.loads((folder / "cloud.json").read_text())
arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--") and argument != known["project"]]
options = dict(argument[2:].partition("=")[::2] for argument in sys.argv[1:] if argument.startswith("--"))
with (folder / "log").open("a") as log:
    log.write(json.dumps(["gcloud", *sys.argv[1:]]) + "\\n")
def fail(text):
    sys.exit("ERROR: (gcloud) " + text)
match arguments:
    case ["auth", "list"]:
        print(known["account"])
    case ["auth", "print-identity-token"]:
        import urllib.request
        body = json.dumps({"email": options["impersonate-service-account"], "audience": options["audiences"]}).encode()
        request = urllib.request.Request(known["admin"] + "/tokens", body, known["bearer"])
        print(json.loads(urllib.request.urlopen(request).read())["token"])
    case ["projects", "describe", *_]:
        print(known["number"] or fail("The caller does not have permission"))
    case ["services", "list"]:
        print("\\n".join(known["apis"]))
    case ["billing", "projects", "describe", *_]:
        print(known["billing"])
    case ["secrets", "describe", name]:
        print(name if name in known["secrets"] else fail("NOT_FOUND"))
    case ["secrets", "versions", "list", name]:
        if name not in known["secrets"]:
            fail("NOT_FOUND")
        numbers = range(len(known["secrets"][name]), 0, -1)
        print("\\n".join(f"projects/1/secrets/{name}/versions/{number}" for number in numbers))
    case ["secrets", "versions", "add", name]:
        if name not in known["secrets"]:
            fail("NOT_FOUND")
        known["secrets"][name].append(base64.urlsafe_b64encode(sys.stdin.buffer.read()).decode().rstrip("="))
        (folder / "cloud.json").write_text(json.dumps(known))
    case ["secrets", "versions", "access", number]:
        print(known["secrets"][options["secret"]][int(number) - 1])
    case _:
        fail(f"unknown: {arguments}")
"""
TERRAFORM = """
import json, pathlib, sys
folder = pathlib.Path(__file__).parent.parent
known = json.loads((folder / "cloud.json").read_text())
with (folder / "log").open("a") as log:
    log.write(json.dumps(["terraform", *sys.argv[1:]]) + "\\n")
verb = sys.argv[2]
if verb in ("plan", "apply", "destroy"):
    variables = {}
    for argument in sys.argv:
        if argument.startswith("-var="):
            name, _, value = argument[5:].partition("=")
            variables[name] = value
        if argument.startswith("-var-file="):
            variables |= json.loads(pathlib.Path(argument[10:]).read_text())
    if known.get("diagnostic"):
        print(json.dumps({"@level": "error", "@message": "Error: " + known["diagnostic"], "type": "diagnostic"}))
        sys.exit(1)
    if verb == "apply":
        for name in ("ferryman-sealing-key", "ferryman-receipt-key", "ferryman-api-key", "ferryman-platform-key"):
            known["secrets"].setdefault(name, [])
        if not any(argument.startswith("-target") for argument in sys.argv):
            known["applied"] = variables
            env = {
                "FERRYMAN_SEALING_PUBLIC_KEY": variables["sealing_public_key"],
                "FERRYMAN_RECEIPT_PUBLIC_KEYS": json.dumps(variables["receipt_public_keys"]),
                "FERRYMAN_DECISION_PUBLIC_KEYS": json.dumps(variables["decision_public_keys"]),
            }
            for function in ("api", "orchestrator") if known.get("admin") else ():
                import urllib.request
                body = json.dumps({"env": env}).encode()
                address = known["admin"] + "/functions/" + function
                request = urllib.request.Request(address, body, known["bearer"], method="PATCH")
                urllib.request.urlopen(request).read()
    if verb == "destroy":
        known |= {"applied": None, "secrets": {}}
    if verb != "plan":
        (folder / "cloud.json").write_text(json.dumps(known))
    changes = {"add": 2, "change": 0, "import": 0, "remove": 0, "operation": "plan"}
    print(json.dumps({"@level": "info", "@message": "Plan: 2 to add", "type": "change_summary", "changes": changes}))
    for name in ("this", "that") if verb != "plan" else ():
        text = f"google_secret_manager_secret.{name}: done"
        print(json.dumps({"@level": "info", "@message": text, "type": "apply_complete"}))
    if verb != "plan":
        text = verb + " complete: 2 done"
        print(json.dumps({"@level": "info", "@message": text, "type": "change_summary", "changes": {"operation": verb}}))
elif verb == "output":
    print(json.dumps({"urls": {"value": known["urls"]}} if known.get("applied") else {}))
elif verb != "init":
    sys.exit("unknown")
"""
PROJECT = "my-project"


@dataclass(frozen=True, slots=True)
class Cloud:
    """A Google Cloud of two programs. `path` is the folder to put on the PATH."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "bin"

    @property
    def state(self) -> dict[str, Any]:
        """What it holds by now."""
        state: dict[str, Any] = json.loads((self.folder / "cloud.json").read_text())
        return state

    def change(self, **members: Any) -> None:
        (self.folder / "cloud.json").write_text(json.dumps({**self.state, **members}))

    @property
    def log(self) -> list[list[str]]:
        """Every command that was given, with its arguments."""
        file = self.folder / "log"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def without(self, program: str) -> None:
        (self.path / program).unlink()


def cloud(folder: Path, urls: Mapping[str, str], project: str = PROJECT) -> Cloud:
    """Return a project with billing and the APIs, in which nothing is deployed; `urls` are where its functions will answer.

    With an `admin` (a local cloud's), an apply gives the functions there what Terraform was given, and tokens are that cloud's.
    """
    (folder / "bin").mkdir(parents=True)
    for name, text in (("gcloud", GCLOUD), ("terraform", TERRAFORM)):
        program = folder / "bin" / name
        program.write_text(f"#!{sys.executable} -IS\n{text}")
        program.chmod(0o755)
    holds = {"account": "me@example.com", "number": "123", "apis": [*NEEDED], "billing": "True", "secrets": {}}
    (folder / "cloud.json").write_text(json.dumps({**holds, "project": project, "urls": dict(urls)}))
    return Cloud(folder)
