"""The blast radius: what each function reaches when it is taken over, by the plan, the table, the code and the local cloud."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import grimp

from emulator import matrix as local
from emulator.table import read_table
from ferryman.catalog.tools import DECLARED, REMOTE, TOOLS
from ferryman.gcp.connecting import CONNECTING_FUNCTION, MCP_FUNCTION
from ferryman.gcp.platform import PLATFORM_FUNCTION
from ferryman.gcp.relay import STREAMING_FUNCTION
from ferryman.gcp.remote_files import FILES_FUNCTION
from infra.proof.access import Row, service
from infra.proof.network import SEARCH, egress
from infra.proof.plan import TerraformPlan

INFRA = Path(__file__).parents[1]
TABLE = INFRA / "functions.json"
BEGIN, END = "<!-- blast radius -->\n", "<!-- end of blast radius -->\n"
NOTHING = "-"
OBJECTS = "roles/storage.objectUser"
SIGNING = "roles/iam.serviceAccountTokenCreator"
LINKED = "objects, signed URLs"
READERS = {
    *("ferryman.gcp.firestore", "ferryman.gcp.user_documents", "ferryman.gcp.running_calls"),
    "ferryman.gcp.execution_documents",  # what documents mean, without any access
}
"""The modules of documents that read alone."""

ROLES = ("callers", "resealers", "connectors", "streamers")
"""The fields of a row with accounts that may call a function, the last three of them on some paths alone."""

WAYS_OUT = {"ferryman.egress.gate", "ferryman.egress.public"}
"""The modules that reach any host."""

CALL_FUNCTIONS = {tool.function for tool in (*TOOLS.values(), DECLARED, REMOTE)}
"""The functions that execute calls, and the orchestrator, which executes some itself."""

Matrix = dict[str, dict[str, str]]
"""Function, column, what it may; `-` for nothing."""


def rows() -> dict[str, Row]:
    """Return the table of functions, by name."""
    return {row["name"]: row for row in json.loads(TABLE.read_text())["functions"]}


def of_table(table: Mapping[str, Row]) -> Matrix:
    """Return what the table says."""
    secrets = sorted({secret for row in table.values() for secret in row["secrets"]})
    queues = sorted({queue for row in table.values() for queue in row["enqueues"]})
    buckets = sorted({bucket for row in table.values() for bucket in row.get("buckets", [])})
    return {
        name: {
            "called by": _list(account for role in ROLES for account in row.get(role, [])),
            "firestore": row["firestore"],
            **{f"secret {secret}": "access" if secret in row["secrets"] else NOTHING for secret in secrets},
            **{f"queue {queue}": "create tasks" if queue in row["enqueues"] else NOTHING for queue in queues},
            **{
                f"bucket {bucket}": _name_use(bucket in row.get("buckets", []), signs=bool(row.get("signs")))
                for bucket in buckets
            },
            "acts as": _list(row["acts_as"]),
            "calls": _list(row["calls"]),
            "model": "ask" if row["model"] else NOTHING,
            "egress": row["egress"],
        }
        for name, row in table.items()
    }


def of_plan(plan: TerraformPlan) -> Matrix:
    """Return what the plan gives: a function's account by its roles, and the way out by the firewall's rules."""
    functions, bindings, reach = plan.functions(), plan.bindings(), egress(plan)
    secrets = sorted(str(secret["secret_id"]) for secret in plan.list_kind("google_secret_manager_secret"))
    queues = sorted(str(queue["name"]) for queue in plan.list_kind("google_cloud_tasks_queue"))
    prefix = f"{next(iter(functions.values()))['project']}-"
    buckets = sorted(str(bucket["name"]) for bucket in plan.list_kind("google_storage_bucket") if not bucket["force_destroy"])
    matrix: Matrix = {}
    for name, function in functions.items():
        account = str(function["service_config"][0]["service_account_email"]).partition("@")[0]
        own_roles = {(binding.role, binding.place) for binding in bindings if binding.member == account}
        called = [callee for callee in functions if ("roles/run.invoker", f"function {service(callee)}") in own_roles]
        matrix[name] = {
            "called by": _list(value.member for value in bindings if value.place == f"function {function['name']}"),
            "firestore": _read_firestore(own_roles),
            **{
                f"secret {secret}": _may("access", "roles/secretmanager.secretAccessor", f"secret {secret}", own_roles)
                for secret in secrets
            },
            **{
                f"queue {queue}": _may("create tasks", "roles/cloudtasks.enqueuer", f"queue {queue}", own_roles)
                for queue in queues
            },
            **{
                f"bucket {bucket.removeprefix(prefix)}": _name_use(
                    (OBJECTS, f"bucket {bucket}") in own_roles, signs=(SIGNING, f"account {account}") in own_roles
                )
                for bucket in buckets
            },
            "acts as": _list(place.partition(" ")[2] for role, place in own_roles if role == "roles/iam.serviceAccountUser"),
            "calls": _list(called),
            "model": _may("ask", "roles/aiplatform.user", "project", own_roles),
            "egress": reach[name],
        }
    return matrix


def of_code() -> Matrix:
    """Return what the code of each function could do if it were let: by the rooms that its `main.py` leads to."""
    graph = grimp.build_graph("ferryman", exclude_type_checking_imports=True, cache_dir=None)
    matrix: Matrix = {}
    for main in sorted((INFRA.parent / "functions").glob("*/main.py")):
        roots = {f"ferryman.serving.{name}" for name in _imported(main, "ferryman.serving")}
        rooms = roots.union(*(graph.find_upstream_modules(root) for root in roots))
        queues = {name for room in rooms for name in _imported(_file(room), "ferryman.gcp.queue")}
        matrix[main.parent.name] = {
            "firestore": _find_firestore_use(graph.find_modules_that_directly_import("ferryman.gcp.documents") & rooms),
            "secret ferryman-sealing-key": "access" if "ferryman.gcp.keys" in rooms else NOTHING,
            "secret ferryman-receipt-key": "access" if "ferryman.gcp.signing" in rooms else NOTHING,
            "secret ferryman-api-key": "access" if "ferryman.gcp.deciding" in rooms else NOTHING,
            "secret ferryman-platform-key": "access" if "ferryman.gcp.request_keys" in rooms else NOTHING,
            "queue executions": "create tasks" if "CloudTasksQueue" in queues else NOTHING,
            "queue schedules": "create tasks" if "CloudTasksTimers" in queues else NOTHING,
            "bucket ferryman-files": _name_use(
                "ferryman.composition.objects" in rooms, signs="ferryman.objects.account_signer" in rooms
            ),
            "calls": _list(
                {
                    *(
                        function
                        for function in CALL_FUNCTIONS
                        if "ferryman.gcp.remote" in rooms and function != main.parent.name
                    ),
                    *(
                        function
                        for function in (CONNECTING_FUNCTION, MCP_FUNCTION)
                        if "ferryman.gcp.connecting" in rooms and function != main.parent.name
                    ),
                    *(FILES_FUNCTION for room in rooms if room == "ferryman.gcp.remote_files"),
                    *(PLATFORM_FUNCTION for room in rooms if room == "ferryman.gcp.platform"),
                    *(STREAMING_FUNCTION for room in rooms if room == "ferryman.gcp.relay"),
                }
            ),
            "model": "ask" if "ferryman.models.anthropic" in rooms else NOTHING,
            "egress": "any" if rooms & WAYS_OUT else SEARCH if "ferryman.searxng.client" in rooms else "google",
        }
    return matrix


def of_local_cloud() -> Matrix:
    """Return what the local cloud enforces."""
    head, *lines = local.build_matrix(read_table(TABLE))
    return {line[0]: dict(zip(head[1:], line[1:], strict=True)) for line in lines}


def differences(matrix: Matrix, other: Matrix) -> list[str]:
    """Return where two of them say different things, in the columns that both have; a function that only one has is one."""
    differences = [f"{name}: only one of both has it" for name in sorted(set(matrix) ^ set(other))]
    for name in sorted(set(matrix) & set(other)):
        row, others = matrix[name], other[name]
        shared = sorted(set(row) & set(others))
        differences += [
            f"{name}, {column}: {row[column]} and {others[column]}" for column in shared if row[column] != others[column]
        ]
    return differences


def markdown(matrix: Matrix) -> str:
    """Return the table as docs/deploy.md shows it: a column for each function, since there are fewer of them."""
    columns = list(next(iter(matrix.values())))
    head = ["", *(f"`{name}`" for name in matrix)]
    lines = [[column, *(matrix[name][column] for name in matrix)] for column in columns]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines]) + "\n"


def write(path: Path, matrix: Matrix) -> None:
    """Put the table between its two marks in the file."""
    before, mark, rest = path.read_text().partition(BEGIN)
    _, closing, after = rest.partition(END)
    if not closing:
        raise ValueError(f"{path} has no place for the blast radius")
    path.write_text(f"{before}{mark}\n{markdown(matrix)}\n{closing}{after}")


def _name_use(is_used: bool, *, signs: bool) -> str:
    return NOTHING if not is_used else LINKED if signs else "objects"


def _may(what: str, role: str, place: str, own_roles: set[tuple[str, str]]) -> str:
    return what if (role, place) in own_roles else NOTHING


def _read_firestore(own_roles: set[tuple[str, str]]) -> str:
    uses = {"all": "roles/datastore.user", "read": "roles/datastore.viewer"}
    return next((use for use, role in uses.items() if (role, "project") in own_roles), NOTHING)


def _find_firestore_use(stores: set[str]) -> str:
    """Return what `stores`, the modules of a function that read or write documents, do with them."""
    return "all" if stores - READERS else "read" if stores else NOTHING


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or NOTHING


def _file(module: str) -> Path:
    path = INFRA.parent / "lib" / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imported(path: Path, module: str) -> set[str]:
    """Return the names that a file imports from a module, wherever in it."""
    nodes: Any = ast.walk(ast.parse(path.read_text()))
    return {name.name for node in nodes if isinstance(node, ast.ImportFrom) and node.module == module for name in node.names}
