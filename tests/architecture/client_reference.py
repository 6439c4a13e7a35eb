"""The client's generated parts: the types of what the API answers, and the page that lists the methods."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from ferryman import client
from ferryman.serving import api

Json = Mapping[str, Any]

ANSWERS = (
    *(
        "TaskResponse",
        "ExecutionResponse",
        "CallResponse",
        "ListedCall",
        "TurnResponse",
        "CredentialResponse",
        "ConnectionResponse",
    ),
    *("IntegrationResponse", "ToolResponse", "AgentTemplateResponse", "CustomTool", "ImportResponse"),
    *("PlanResponse", "ModelResponse", "AgentResponse", "RemoteServerResponse", "RemoteToolResponse"),
    *("ServerConnectionResponse", "ConnectedServer"),
    *("ListedTask", "ListedExecution", "Halt", "Statement", "BudgetList", "UsageReport", "AlertResponse", "Me"),
    *("WorkspaceResponse", "JobResponse", "MemberResponse", "InvitationResponse", "NewInvitationResponse", "JoinedResponse"),
    *("KeyResponse", "NewKeyResponse", "IdentityResponse", "AuditEntryResponse", "ArchiveImportResponse"),
    *("SessionResponse", "NewSignInLink"),
    *("ConversationResponse", "MessageResponse", "ChatResponse"),
    *("FileResponse", "StoredFileResponse", "FileLinkResponse", "DirectLinkResponse"),
    *("ListedApproval", "ApprovalResponse", "StandingApprovalResponse"),
)
"""The shapes of the API's answers that the client's methods return; what they refer to comes with them."""

TYPES = '''"""What the API answers, as types. `make reference` writes this file from the description of the API."""

from __future__ import annotations

from typing import Any, Literal, TypedDict
'''

PAGE = """# The Python client's reference

{note} [A guide](python.md) shows how to use it.

`Client` blocks, `AsyncClient` has the same methods to be awaited, and `async for` where they yield. Types like `TaskJson` are
plain dictionaries, declared in `lib/ferryman/client/answers.py` for type checkers.
"""


def write_types() -> str:
    """Return the module of the types."""
    app = api.create(SimpleNamespace(tracer=None, clock=None))  # type: ignore[arg-type] # nothing is served
    schemas = app.openapi()["components"]["schemas"]
    return TYPES + "".join(f"\n\n{write_type(name, schemas)}" for name in sorted(reach(ANSWERS, schemas)))


def reach(names: Any, schemas: Json) -> set[str]:
    """Return these shapes and all with fields that they refer to."""
    reached: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in reached and "properties" in schemas[name]:
            reached.add(name)
            pending += refer(schemas[name])
    return reached


def refer(schema: Any) -> Iterator[str]:
    """Yield the names that a schema refers to."""
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield rename(schema["$ref"])
        for inner in schema.values():
            yield from refer(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from refer(inner)


def rename(reference: str) -> str:
    """Return the name in a reference."""
    return reference.rpartition("/")[2]


def write_type(name: str, schemas: Json) -> str:
    """Return the class of one shape."""
    about = " ".join(schemas[name].get("description", "").split("\n\n")[0].split())
    doc = textwrap.wrap(f'"""{about}', 120) if about else ['"""An answer.']
    doc = [*doc[:-1], f'{doc[-1]}"""'] if len(doc) == 1 else [*doc, '"""']
    fields = [f"{field}: {name_type(details, schemas)}" for field, details in schemas[name]["properties"].items()]
    lines = [f"    {line}" for line in [*doc, "", *fields]]
    return "\n".join(["class " + name_class(name) + "(TypedDict):", *map(str.rstrip, lines)]) + "\n"


def name_class(name: str) -> str:
    """Return the name of a shape's type."""
    return f"{name.removesuffix('Response')}Json"


def name_type(schema: Json, schemas: Json) -> str:
    """Return the Python type of a value."""
    if "$ref" in schema:
        name = rename(schema["$ref"])
        return name_class(name) if "properties" in schemas[name] else name_type(schemas[name], schemas)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(name_type(option, schemas) for option in schema[union]))
    if "enum" in schema or "const" in schema:
        words = ", ".join(
            f'"{value}"' if isinstance(value, str) else str(value) for value in schema.get("enum", [schema.get("const")])
        )
        return f"Literal[{words}]"
    match schema.get("type"):
        case "array":
            return f"list[{name_type(schema.get('items', {}), schemas)}]"
        case "object":
            inner = schema.get("additionalProperties")
            return f"dict[str, {name_type(inner, schemas) if isinstance(inner, Mapping) else 'Any'}]"
        case str(kind):
            return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}[kind]
    return "Any"


def write_page(note: str) -> str:
    """Return the page of the client: every method, every error."""
    parts = [PAGE.format(note=note), "\n## Methods\n"]
    for name, value in inspect.getmembers(client.Client, inspect.isfunction):
        if not name.startswith("_") and name != "send":
            parts.append(f"\n### {name}\n\n```python\n{write_signature(name, value)}\n```\n\n{inspect.getdoc(value)}\n")
    parts.append("\n## Events, pages and errors\n\n| class | |\n|---|---|\n")
    for name in sorted(client.__all__):
        value = getattr(client, name)
        if inspect.isclass(value) and value not in (client.Client, client.AsyncClient, dict):
            base = f" ({value.__base__.__name__})" if issubclass(value, Exception) else ""
            parts.append(f"| `{name}`{base} | {' '.join((inspect.getdoc(value) or '').split())} |\n")
    return "".join(parts)


def write_signature(name: str, value: Any) -> str:
    """Return a method as it is called, with what it returns."""
    signature = inspect.signature(value)
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    text = str(signature.replace(parameters=parameters)).replace("'", "").replace("answers.", "")
    if name.startswith("iterate_"):
        text = text.replace("ApiRequest[AnswerPage[", "Iterator[").removesuffix("]")
    return f"{name}{text.replace('ApiRequest[', '', 1)[: -1 if 'ApiRequest[' in text else None]}"
