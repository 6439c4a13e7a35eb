"""The plan: what would be made, and who would be given which role on what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ANYONE = "anyone"
PROJECT_NUMBER = "123456789012"
"""The number that the offline provider gives the project."""

PLACES = {
    "google_artifact_registry_repository_iam_member": ("repository", "repository"),
    "google_cloud_run_v2_service_iam_member": ("function", "name"),
    "google_cloud_tasks_queue_iam_member": ("queue", "name"),
    "google_kms_crypto_key_iam_member": ("key", "crypto_key_id"),
    "google_project_iam_member": ("project", "project"),
    "google_secret_manager_secret_iam_member": ("secret", "secret_id"),
    "google_service_account_iam_member": ("account", "service_account_id"),
    "google_storage_bucket_iam_member": ("bucket", "bucket"),
}
"""The ways of giving a role that are read, each with the kind of its place and the argument that names it."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Binding:
    """`member` has `role` on `place` (KIND NAME), under `condition` where there is one. An account has its short name."""

    place: str
    role: str
    member: str
    condition: str = ""

    def __str__(self) -> str:
        return f"{self.role} on {self.place} for {self.member}" + (f" if {self.condition}" if self.condition else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource as it would be made: what Terraform knows of it before."""

    address: str
    kind: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TerraformPlan:
    """All resources, in the order of their addresses."""

    resources: tuple[Resource, ...]

    def list_kind(self, kind: str) -> Iterator[Mapping[str, Any]]:
        """Return the values of each resource of a kind."""
        return (resource.values for resource in self.resources if resource.kind == kind)

    def functions(self) -> dict[str, Mapping[str, Any]]:
        """Return the functions by their name in the table."""
        resources = {}
        for function in self.list_kind("google_cloudfunctions2_function"):
            environment = block(function, "service_config").get("environment_variables") or {}
            resources[str(environment.get("FERRYMAN_FUNCTION", function["name"]))] = function
        return resources

    def bindings(self) -> frozenset[Binding]:
        """Return every role that is given."""
        return frozenset(_binding(resource) for resource in self.resources if "_iam_" in resource.kind)


def read(plan: Mapping[str, Any]) -> TerraformPlan:
    """Return the plan from what `terraform show -json` prints of it."""
    resources = [
        Resource(
            address=resource_change["address"], kind=resource_change["type"], values=resource_change["change"]["after"] or {}
        )
        for resource_change in plan["resource_changes"]
        if resource_change["mode"] == "managed"
    ]
    return TerraformPlan(resources=tuple(sorted(resources, key=lambda resource: resource.address)))


def changed(plan: Mapping[str, Any]) -> list[str]:
    """Return the addresses of what would be made, changed or removed."""
    return sorted(
        resource_change["address"]
        for resource_change in plan["resource_changes"]
        if resource_change["change"]["actions"] not in (["no-op"], ["read"])
    )


def block(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the one block of this name; nothing where there is none."""
    blocks = values.get(name) or [{}]
    return dict(blocks[0])


def _binding(resource: Resource) -> Binding:
    values = resource.values
    if resource.kind not in PLACES:
        return Binding(place=resource.address, role=str(values.get("role")), member="whoever it says")
    kind, argument = PLACES[resource.kind]
    name = str(values.get(argument)).rpartition("/")[2].partition("@")[0]
    condition = block(values, "condition").get("expression") or ""
    return Binding(
        place="project" if kind == "project" else f"{kind} {name}",
        role=str(values.get("role")),
        member=_member(str(values.get("member")), str(values.get("project") or "")),
        condition=str(condition),
    )


def _member(member: str, project: str) -> str:
    if member == "allUsers":
        return ANYONE
    account, _, domain = member.removeprefix("serviceAccount:").partition("@")
    is_own = domain.endswith(".iam.gserviceaccount.com") and not domain.startswith(("gcp-sa-", "gcf-", "gs-", "serverless-"))
    return account if is_own and project in domain else member
