"""Access: what a plan gives is compared with the table alone, role by role."""

from __future__ import annotations

import pytest

from infra.proof import access, matrix
from infra.proof.plan import Binding, Resource, TerraformPlan, read

ROWS = matrix.rows()
VARIABLES = {"project": "demo-project"}
DOMAIN = "demo-project.iam.gserviceaccount.com"
KINDS = {
    "function": ("google_cloud_run_v2_service_iam_member", "name"),
    "secret": ("google_secret_manager_secret_iam_member", "secret_id"),
    "queue": ("google_cloud_tasks_queue_iam_member", "name"),
    "account": ("google_service_account_iam_member", "service_account_id"),
    "project": ("google_project_iam_member", "project"),
    "bucket": ("google_storage_bucket_iam_member", "bucket"),
    "repository": ("google_artifact_registry_repository_iam_member", "repository"),
}


def resource(binding: Binding) -> Resource:
    place, _, name = binding.place.partition(" ")
    kind, argument = KINDS[place]
    member = "allUsers" if binding.member == "anyone" else f"serviceAccount:{binding.member}@{DOMAIN}"
    condition = [{"expression": binding.condition}] if binding.condition else []
    named = {argument: f"projects/demo-project/serviceAccounts/{name}@{DOMAIN}" if place == "account" else name}
    values = {"role": binding.role, "member": member, "condition": condition, "project": "demo-project", **named}
    return Resource(
        address=str(binding), kind=kind, values=values | ({"project": "demo-project"} if place == "project" else {})
    )


def functions() -> list[Resource]:
    config = {name: {"environment_variables": {"FERRYMAN_FUNCTION": name}} for name in ROWS}
    kind = "google_cloudfunctions2_function"
    return [Resource(address=name, kind=kind, values={"name": name, "service_config": [config[name]]}) for name in ROWS]


DUE = sorted(access.due(ROWS, VARIABLES))
PROPER = TerraformPlan(resources=(*functions(), *map(resource, DUE)))


def with_also(binding: Binding) -> list[str]:
    return list(access.wrong(TerraformPlan(resources=(*PROPER.resources, resource(binding))), ROWS, VARIABLES))


def test_a_plan_that_gives_what_is_due_has_nothing_wrong():
    assert list(access.wrong(PROPER, ROWS, VARIABLES)) == []


@pytest.mark.parametrize("missing", DUE, ids=str)
def test_each_role_that_is_due_is_missed(missing):
    plan = TerraformPlan(resources=tuple(item for item in PROPER.resources if item.address != str(missing)))
    assert f"in the table, and not given: {missing}" in list(access.wrong(plan, ROWS, VARIABLES))


@pytest.mark.parametrize("name", sorted(set(ROWS) - {"api"}))
def test_no_function_but_the_api_may_be_public(name):
    more = Binding(place=f"function {access.service(name)}", role="roles/run.invoker", member="anyone")
    assert with_also(more) == [f"given, and not in the table: {more}"]


@pytest.mark.parametrize("name", sorted(name for name, row in ROWS.items() if not row["unseals"]))
def test_nobody_more_may_read_the_unsealing_key(name):
    reader = ROWS[name]["identity"]
    more = Binding(place="secret ferryman-sealing-key", role="roles/secretmanager.secretAccessor", member=reader)
    assert with_also(more) == [f"given, and not in the table: {more}"]


@pytest.mark.parametrize("role", ["roles/editor", "roles/run.invoker", "roles/secretmanager.secretAccessor"])
def test_a_role_on_the_whole_project_is_told(role):
    more = Binding(place="project", role=role, member="ferryman-api")
    assert f"{role} is given on the whole project: {more}" in with_also(more)


def test_documents_of_every_database_are_told():
    more = Binding(place="project", role="roles/datastore.user", member="ferryman-api")
    assert f"roles/datastore.user is given on the project without a condition: {more}" in with_also(more)


def test_a_role_that_does_not_exist_is_told():
    more = Binding(place="queue executions", role="roles/cloudtasks.enqueuers", member="ferryman-api")
    assert with_also(more)[0].startswith("there is no role roles/cloudtasks.enqueuers")


def test_a_role_given_in_a_way_that_is_not_read_is_told():
    odd = Resource(address="odd.one", kind="google_project_iam_policy", values={})
    assert any("odd.one" in item for item in access.wrong(TerraformPlan(resources=(*PROPER.resources, odd)), ROWS, VARIABLES))


def test_a_key_in_the_state_is_told():
    version = Resource(address="v", kind="google_secret_manager_secret_version", values={"secret_data": "x"})
    problems = list(access.wrong(TerraformPlan(resources=(*PROPER.resources, version)), ROWS, VARIABLES))
    assert problems == ["google_secret_manager_secret_version would stand in the state"]


def test_with_a_model_key_the_orchestrator_reads_it_and_has_no_role_on_the_project():
    keyed = access.due(ROWS, {**VARIABLES, "model_key_version": "1"})
    assert {item.place for item in keyed - set(DUE)} == {"secret ferryman-model-key"}
    assert {entry.role for entry in set(DUE) - keyed} == {"roles/aiplatform.user"}


def test_what_only_is_read_is_no_resource():
    change = {"address": "data.x", "type": "google_project", "mode": "data", "change": {"after": {}}}
    assert read({"resource_changes": [change]}).resources == ()
