"""Access: who should have which role on what, worked out from the table alone, and what a plan does otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from infra.proof.plan import PROJECT_NUMBER, Binding, TerraformPlan

Row = Mapping[str, Any]

ROLES = {
    "roles/aiplatform.user",
    "roles/artifactregistry.writer",
    "roles/cloudkms.cryptoKeyEncrypterDecrypter",
    "roles/cloudtasks.enqueuer",
    "roles/datastore.user",
    "roles/datastore.viewer",
    "roles/eventarc.eventReceiver",
    "roles/iam.serviceAccountTokenCreator",
    "roles/iam.serviceAccountUser",
    "roles/logging.logWriter",
    "roles/run.invoker",
    "roles/secretmanager.secretAccessor",
    "roles/storage.objectUser",
    "roles/storage.objectViewer",
}
"""Google's predefined roles that are used, as its reference of roles names them. No other is taken for one."""

ON_PROJECT = {
    "roles/aiplatform.user",
    "roles/datastore.user",
    "roles/datastore.viewer",
    "roles/eventarc.eventReceiver",
    "roles/logging.logWriter",
    "roles/storage.objectViewer",
}
CONDITIONED = {"roles/datastore.user", "roles/datastore.viewer", "roles/storage.objectViewer"}
"""Those that Google gives on no less than the project, and those of them that a condition can narrow."""

LINKS = "FERRYMAN_DIRECT_LINKS"
MODEL_KEY = "ferryman-model-key"  # the name of a secret, not one
S3_KEYS = ("ferryman-s3-access-key", "ferryman-s3-secret-key")  # likewise
AGENTS = (
    "gcp-sa-artifactregistry",
    "gcp-sa-eventarc",
    "gcp-sa-firestore",
    "gcf-admin-robot",
    "serverless-robot-prod",
    "gcp-sa-secretmanager",
    "gs-project-accounts",
)


def service(name: str) -> str:
    """Return what the function of this name in the table is called in Google Cloud."""
    return f"ferryman-{name.replace('_', '-')}"


def due(rows: Mapping[str, Row], variables: Mapping[str, Any]) -> frozenset[Binding]:
    """Return the bindings that the table asks for, and those of building, triggering and encrypting."""
    project, key = variables["project"], variables.get("kms_key")
    database = f'resource.name == "projects/{project}/databases/(default)"'
    sources = f'resource.name.startsWith("projects/_/buckets/gcf-v2-sources-{PROJECT_NUMBER}-us-central1")'
    return frozenset(
        {
            *(
                binding
                for name, row in rows.items()
                for binding in _list_own_bindings(name, row, database, "model_key_version" in variables)
            ),
            *(
                binding
                for row in rows.values()
                for bucket in row.get("buckets", [])
                for binding in _list_bucket_bindings(row, f"{project}-{bucket}", "s3" in variables)
            ),
            *(
                Binding(place=f"account {row['identity']}", role="roles/iam.serviceAccountTokenCreator", member=row["identity"])
                for row in rows.values()
                if row.get("signs") and "s3" not in variables and variables.get("settings", {}).get(LINKS) == "1"
            ),
            *(
                Binding(place=f"secret {key}", role="roles/secretmanager.secretAccessor", member=row["identity"])
                for key in variables.get("model_key_versions", {})
                for row in rows.values()
                if row["model"]
            ),
            Binding(place="project", role="roles/logging.logWriter", member="ferryman-build"),
            Binding(place="project", role="roles/storage.objectViewer", member="ferryman-build", condition=sources),
            Binding(place=f"bucket {project}-ferryman-source", role="roles/storage.objectViewer", member="ferryman-build"),
            Binding(place="repository ferryman", role="roles/artifactregistry.writer", member="ferryman-build"),
            *(
                Binding(place=f"account {account}", role="roles/iam.serviceAccountTokenCreator", member=operator)
                for operator in variables.get("operators", [])
                for row in rows.values()
                for account in row.get("resealers", [])
            ),
            *(_agent(key.rpartition("/")[2], agent) for agent in AGENTS if key),
        }
    )


def _list_own_bindings(name: str, row: Row, database: str, keyed: bool) -> Iterator[Binding]:
    identity = row["identity"]
    for asker in (*row.get("resealers", []), *row.get("connectors", []), *row.get("streamers", [])):
        yield Binding(place=f"function {service(name)}", role="roles/run.invoker", member=asker)
    for caller in row["callers"]:
        yield Binding(place=f"function {service(name)}", role="roles/run.invoker", member=caller)
        if row["trigger"]["type"] == "firestore":
            yield Binding(place="project", role="roles/eventarc.eventReceiver", member=caller)
    for secret in [*row["secrets"], *([MODEL_KEY] if row["model"] and keyed else [])]:
        yield Binding(place=f"secret {secret}", role="roles/secretmanager.secretAccessor", member=identity)
    for queue in row["enqueues"]:
        yield Binding(place=f"queue {queue}", role="roles/cloudtasks.enqueuer", member=identity)
    for account in row["acts_as"]:
        yield Binding(place=f"account {account}", role="roles/iam.serviceAccountUser", member=identity)
    if row["firestore"] != "-":
        role = "roles/datastore.user" if row["firestore"] == "all" else "roles/datastore.viewer"
        yield Binding(place="project", role=role, member=identity, condition=database)
    if row["model"] and not keyed:
        yield Binding(place="project", role="roles/aiplatform.user", member=identity)


def _list_bucket_bindings(row: Row, bucket: str, elsewhere: bool) -> Iterator[Binding]:
    if not elsewhere:
        yield Binding(place=f"bucket {bucket}", role="roles/storage.objectUser", member=row["identity"])
        return
    for secret in S3_KEYS:
        yield Binding(place=f"secret {secret}", role="roles/secretmanager.secretAccessor", member=row["identity"])


def _agent(key: str, agent: str) -> Binding:
    member = f"serviceAccount:service-{PROJECT_NUMBER}@{agent}.iam.gserviceaccount.com"
    return Binding(place=f"key {key}", role="roles/cloudkms.cryptoKeyEncrypterDecrypter", member=member)


def wrong(plan: TerraformPlan, rows: Mapping[str, Row], variables: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the plan gives that it should not, and what it should give and does not."""
    granted, owed = plan.bindings(), due(rows, variables)
    for grant in sorted(granted):
        if grant.role not in ROLES:
            yield f"there is no role {grant.role}, or none that is used here: {grant}"
        if grant.place == "project" and grant.role not in ON_PROJECT:
            yield f"{grant.role} is given on the whole project: {grant}"
        if grant.place == "project" and grant.role in CONDITIONED and not grant.condition:
            yield f"{grant.role} is given on the project without a condition: {grant}"
    yield from (f"given, and not in the table: {grant}" for grant in sorted(granted - owed))
    yield from (f"in the table, and not given: {grant}" for grant in sorted(owed - granted))
    yield from _find_missing_functions(plan, rows)


def _find_missing_functions(plan: TerraformPlan, rows: Mapping[str, Row]) -> Iterator[str]:
    functions = plan.functions()
    yield from (f"function {name} is in the table and not in the plan" for name in rows if name not in functions)
    yield from (f"function {name} is in the plan and not in the table" for name in functions if name not in rows)
    for kind in ("google_secret_manager_secret_version", "google_service_account_key"):
        yield from (f"{kind} would stand in the state" for _ in plan.list_kind(kind))
