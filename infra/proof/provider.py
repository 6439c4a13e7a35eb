"""The provider: one that knows the real one's schema and makes nothing, so that Terraform plans without an account.

It is served on a socket of its own and named to Terraform in TF_REATTACH_PROVIDERS. It refuses what the schema refuses
(Terraform itself compares names, types and blocks) and values that are not among the possible ones, and it foretells what
the real one foretells: a service account's name and address.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from infra.proof.plan import PROJECT_NUMBER
from infra.proof.wire import MESSAGE, NESTING, PACKAGE, UNKNOWN, decode, encode

NAMES = ("registry.terraform.io/hashicorp/google", "registry.opentofu.org/hashicorp/google")

Block = Mapping[str, Any]


class Provider:
    """The calls of the protocol, by name."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._provider: Block = schema["provider"]["block"]
        self._resources: dict[str, Block] = {
            name: resource_schema["block"] for name, resource_schema in schema["resource_schemas"].items()
        }
        self._data: dict[str, Block] = {
            name: resource_schema["block"] for name, resource_schema in schema["data_source_schemas"].items()
        }

    def GetSchema(self, _: Any) -> Any:  # noqa: N802 - the protocol's names
        return MESSAGE["SchemaAnswer"](
            provider=MESSAGE["Schema"](block=_described(self._provider)),
            resource_schemas=_entries(self._resources),
            data_source_schemas=_entries(self._data),
        )

    def PrepareProviderConfig(self, request: Any) -> Any:  # noqa: N802
        return MESSAGE["Prepared"](prepared_config=request.config)

    def Configure(self, _: Any) -> Any:  # noqa: N802
        return MESSAGE["Diagnosed"]()

    def ValidateResourceTypeConfig(self, request: Any) -> Any:  # noqa: N802
        return _diagnosed(self._resources[request.type_name], decode(request.config))

    def ValidateDataSourceConfig(self, request: Any) -> Any:  # noqa: N802
        return _diagnosed(self._data[request.type_name], decode(request.config))

    def UpgradeResourceState(self, request: Any) -> Any:  # noqa: N802
        return MESSAGE["Upgraded"](upgraded_state=MESSAGE["DynamicValue"](json=request.raw_state.json))

    def ReadResource(self, request: Any) -> Any:  # noqa: N802
        return MESSAGE["ReadAnswer"](new_state=request.current_state, private=request.private)

    def PlanResourceChange(self, request: Any) -> Any:  # noqa: N802
        planned = decode(request.proposed_new_state)
        if planned is not None:
            planned |= {
                name: value for name, value in _foretold(request.type_name, planned).items() if planned.get(name) is None
            }
            planned = _fill_computed(self._resources[request.type_name], planned, lambda _: UNKNOWN)
        return MESSAGE["Planned"](planned_state=encode(planned), legacy_type_system=True)

    def ApplyResourceChange(self, request: Any) -> Any:  # noqa: N802
        applied = decode(request.planned_state)
        if applied is not None:
            applied = _fill_unknown(self._resources[request.type_name], applied, request.type_name)
        return MESSAGE["Applied"](new_state=encode(applied), legacy_type_system=True)

    def ReadDataSource(self, request: Any) -> Any:  # noqa: N802
        values = {**decode(request.config), "number": PROJECT_NUMBER}
        return MESSAGE["DataAnswer"](
            state=encode(
                _fill_computed(self._data[request.type_name], values, lambda kind: _invent_value(kind, request.type_name))
            )
        )

    def Stop(self, _: Any) -> Any:  # noqa: N802
        return MESSAGE["Stopped"]()


CALLS = {
    "GetSchema": "Empty",
    "PrepareProviderConfig": "Prepare",
    "Configure": "Configure",
    "ValidateResourceTypeConfig": "Validate",
    "ValidateDataSourceConfig": "Validate",
    "UpgradeResourceState": "Upgrade",
    "ReadResource": "Read",
    "PlanResourceChange": "Plan",
    "ApplyResourceChange": "Apply",
    "ReadDataSource": "ReadData",
    "Stop": "Empty",
}


@contextmanager
def serving(schema: Mapping[str, Any], folder: Path) -> Iterator[dict[str, str]]:
    """Serve the provider on a socket in `folder`; the variables with which Terraform finds it there."""
    provider, socket = Provider(schema), folder / "provider"
    handlers = {
        name: grpc.unary_unary_rpc_method_handler(
            lambda request, _, call=getattr(provider, name): call(request),
            request_deserializer=MESSAGE[message].FromString,
            response_serializer=lambda answer: answer.SerializeToString(),
        )
        for name, message in CALLS.items()
    }
    server = grpc.server(ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(f"{PACKAGE}.Provider", handlers),))
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    address = {"Network": "unix", "String": str(socket)}
    attached = {"Protocol": "grpc", "ProtocolVersion": 5, "Pid": os.getpid(), "Test": True, "Addr": address}
    try:
        yield {"TF_REATTACH_PROVIDERS": json.dumps(dict.fromkeys(NAMES, attached))}
    finally:
        server.stop(None).wait()


def _entries(blocks: Mapping[str, Block]) -> list[Any]:
    return [MESSAGE["Entry"](key=key, value=MESSAGE["Schema"](block=_described(block))) for key, block in blocks.items()]


def _described(block: Block) -> Any:
    described = MESSAGE["Block"]()
    for name, block_type in block.get("attributes", {}).items():
        flags = {flag: block_type.get(flag, False) for flag in ("required", "optional", "computed")}
        described.attributes.add(name=name, type=json.dumps(block_type["type"]).encode(), **flags)
    for name, block_type in block.get("block_types", {}).items():
        described.block_types.add(
            type_name=name,
            nesting=NESTING[block_type["nesting_mode"]],
            min_items=block_type.get("min_items", 0),
            max_items=block_type.get("max_items", 0),
            block=_described(block_type["block"]),
        )
    return described


def _diagnosed(block: Block, value: Any) -> Any:
    answer = MESSAGE["Diagnosed"]()
    for path, problem in _wrong(block, value, ()):
        diagnostic = answer.diagnostics.add(severity=1, summary=problem)
        for step in path:
            diagnostic.attribute.steps.add(**{"attribute_name" if isinstance(step, str) else "element_key_int": step})
    return answer


def _wrong(block: Block, value: Any, at: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if not isinstance(value, dict):
        return
    for name, block_type in block.get("attributes", {}).items():
        attribute_value = value.get(name)
        if attribute_value is not None and not (block_type.get("required") or block_type.get("optional")):
            yield (*at, name), f"{name} is decided by the provider and cannot be set"
        if "enum" in block_type and isinstance(attribute_value, str) and attribute_value not in block_type["enum"]:
            yield (*at, name), f"{name} must be one of {', '.join(block_type['enum'])}, not {attribute_value}"
    for name, block_type in block.get("block_types", {}).items():
        inner = value.get(name)
        for n, inner_value in enumerate(inner if isinstance(inner, list) else []):
            # a set's elements have no number to point at
            yield from _wrong(block_type["block"], inner_value, (*at, name, n) if block_type["nesting_mode"] == "list" else at)


def _foretold(kind: str, planned: Mapping[str, Any]) -> dict[str, str]:
    account, project = planned.get("account_id"), planned.get("project")
    if kind != "google_service_account" or not isinstance(account, str) or not isinstance(project, str):
        return {}
    email = f"{account}@{project}.iam.gserviceaccount.com"
    name = f"projects/{project}/serviceAccounts/{email}"
    return {"email": email, "member": f"serviceAccount:{email}", "name": name, "id": name}


def _fill_computed(block: Block, value: Any, compute: Callable[[Any], Any]) -> Any:
    """Return `value` with `made(type)` for everything that is computed and missing."""
    if not isinstance(value, dict):
        return value
    filled = dict(value)
    for name, block_type in block.get("attributes", {}).items():
        if block_type.get("computed") and filled.get(name) is None:
            filled[name] = compute(block_type["type"])
    for name, block_type in block.get("block_types", {}).items():
        if isinstance(filled.get(name), list):
            filled[name] = [_fill_computed(block_type["block"], nested, compute) for nested in filled[name]]
    return filled


def _fill_unknown(block: Block, value: Any, kind: str) -> Any:
    """Return `value` with an invented value for everything unknown."""
    known = dict(value)
    for name, block_type in block.get("attributes", {}).items():
        if known.get(name) == UNKNOWN:
            known[name] = _invent_value(block_type["type"], f"{kind}.{name}")
    for name, block_type in block.get("block_types", {}).items():
        if isinstance(known.get(name), list):
            known[name] = [_fill_unknown(block_type["block"], nested, kind) for nested in known[name]]
    return known


def _invent_value(kind: Any, name: str) -> Any:
    if kind == "string":
        return name
    if kind in ("number", "bool"):
        return 1 if kind == "number" else False
    if kind == "dynamic":
        return None
    if kind[0] == "object":
        return {field: _invent_value(field_type, f"{name}.{field}") for field, field_type in kind[1].items()}
    return {} if kind[0] == "map" else []
