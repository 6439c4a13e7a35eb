"""The machine: other users of it, who can reach every port of the stack and have no token, and pages in its browsers."""

from __future__ import annotations

from typing import Any

from google.cloud.firestore_v1.types import ListDocumentsRequest, RunQueryRequest
from google.cloud.secretmanager_v1.types import AccessSecretVersionRequest, ListSecretsRequest
from google.cloud.tasks_v2.types import ListQueuesRequest

from tests.campaigns.hostile.scenario import CALLS, Act, Scenario

PROJECT = "projects/hostile"
DOCUMENTS = f"{PROJECT}/databases/(default)/documents"
SERVICES = {
    "secrets": "google.cloud.secretmanager.v1.SecretManagerService",
    "documents": "google.firestore.v1.Firestore",
    "tasks": "google.cloud.tasks.v2.CloudTasks",
}
FLAVOR = {"Metadata-Flavor": "Google"}
IDENTITY = "/computeMetadata/v1/instance/service-accounts/default/identity?audience={vexec}"
ACCOUNT = "ferryman-orchestrator@hostile.iam.gserviceaccount.com"
OWNER = {"Authorization": "Bearer owner"}
"""What clients of an emulator send where they have nothing else."""

PAGES = ({"Host": "rebound.attacker.example"}, {"Origin": "https://attacker.example"}, {"Origin": "null"})


def _user(what: str, *acts: Act) -> Scenario:
    return Scenario(name=f"machine: {what}", victim=True, acts=acts)


def _admin(method: str, path: str, body: Any = None, *, bearer: str = "none", **headers: str) -> Act:
    return Act(to="admin", method=method, path=path, body=body, bearer=bearer, headers=headers)


def _calls(service: str, method: str, request: Any) -> tuple[Act, ...]:
    body, path = bytes(type(request).serialize(request)), f"/{SERVICES[service]}/{method}"
    return tuple(Act(to="grpc", method=CALLS, path=path, body=body, bearer="none", headers=sent) for sent in ({}, OWNER))


SCENARIOS = (
    _user(
        "another user has a function run his code",
        *(_admin(method, "/functions/http_get", {"env": {"PYTHONPATH": "/tmp"}}) for method in ("PATCH", "PUT")),
        _admin("PATCH", "/functions/http_get", {"env": {"FERRYMAN_CALLERS": "[]"}}, **OWNER),
    ),
    _user(
        "a variable runs code, even for who has the token",
        *(
            _admin("PATCH", "/functions/http_get", {"env": {name: "/tmp"}}, bearer="operator")
            for name in ("PYTHONPATH", "PYTHONSTARTUP", "LD_PRELOAD", "PATH", "BASH_ENV", "GCONV_PATH", "HTTPS_PROXY")
        ),
    ),
    _user("another user fetches a token of the orchestrator", _admin("POST", "/tokens", {"email": ACCOUNT, "audience": "a"})),
    _user(
        "another user asks a function's metadata server",
        *(Act(to="metadata", method="GET", path=IDENTITY, bearer="none", headers={**FLAVOR, **sent}) for sent in ({}, OWNER)),
        Act(to="metadata", method="GET", path="/operator" + IDENTITY, bearer="none", headers=FLAVOR),
    ),
    _user(
        "a page asks a function's metadata server under a name of its own",
        *(Act(to="metadata", method="GET", path="/a" + IDENTITY, bearer="none", headers={**FLAVOR, **sent}) for sent in PAGES),
    ),
    _user(
        "another user reads the sealing key",
        *_calls("secrets", "ListSecrets", ListSecretsRequest(parent=PROJECT)),
        *_calls(
            "secrets",
            "AccessSecretVersion",
            AccessSecretVersionRequest(name=f"{PROJECT}/secrets/ferryman-sealing-key/versions/1"),
        ),
    ),
    _user(
        "another user reads what is stored",
        *_calls("documents", "ListDocuments", ListDocumentsRequest(parent=DOCUMENTS, collection_id="tasks")),
        *_calls(
            "documents", "RunQuery", RunQueryRequest(parent=DOCUMENTS, structured_query={"from": [{"collection_id": "tasks"}]})
        ),
        *_calls("tasks", "ListQueues", ListQueuesRequest(parent=f"{PROJECT}/locations/us-central1")),
    ),
    _user(
        "another user looks into the local cloud",
        *(_admin("GET", path) for path in ("/", "/requests", "/model/requests", "/tasks/delivered", "/scripts", "/hosts")),
    ),
    _user(
        "another user leads a host to himself",
        _admin("PUT", "/hosts/own.example.com", {"port": 9}),
        _admin("POST", "/clock/advance", {"seconds": 0}),
        _admin("DELETE", "/model/requests"),
    ),
    _user(
        "a page asks the API under a name of its own",
        *(Act(to="api", method="GET", path="/healthz?{vexec}", bearer="none", headers=sent) for sent in PAGES),
        *(Act(to="api", method="GET", path="/openapi.json?{vexec}", bearer="none", headers=sent) for sent in PAGES),
    ),
)
