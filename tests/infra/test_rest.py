"""At rest: what the configuration keeps there is what `ferryman cost` tells, and no function runs."""

from __future__ import annotations

import json
import re

from ferryman.billing.cloud import rest
from ferryman.billing.cloud.measured import load_measurement
from ferryman.billing.cloud.model import VCPU
from ferryman.billing.cloud.prices import load_price_list
from infra.proof.faults import FAULTS
from infra.proof.matrix import INFRA

TEXT = {path.name: path.read_text() for path in INFRA.glob("*.tf")}
TABLE = {row["name"]: row for row in json.loads((INFRA / "functions.json").read_text())["functions"]}

BILLED = {
    "google_cloudfunctions2_function",
    "google_secret_manager_secret",
    "google_monitoring_alert_policy",
    "google_storage_bucket",
    "google_storage_bucket_object",
    "google_artifact_registry_repository",
    "google_firestore_database",
    "google_cloud_tasks_queue",
}
"""What the table at rest has a line for."""

FREE = {
    "google_billing_budget",
    "google_cloud_tasks_queue_iam_member",
    "google_cloud_run_v2_service_iam_member",
    "google_artifact_registry_repository_iam_member",
    "google_firebaserules_release",
    "google_firebaserules_ruleset",
    "google_firestore_field",
    "google_firestore_index",
    "google_kms_crypto_key_iam_member",
    "google_logging_metric",
    "google_monitoring_dashboard",
    "google_monitoring_notification_channel",
    "google_project_iam_member",
    "google_project_service",
    "google_secret_manager_secret_iam_member",
    "google_service_account",
    "google_service_account_iam_member",
    "google_storage_bucket_iam_member",
}
"""What costs nothing while nothing happens; indexes are reckoned with what is stored."""


def test_no_function_has_an_instance_that_stays():
    assert re.findall(r"min_instance_count\s*=\s*(\d+)", TEXT["functions.tf"]) == ["0"] == [str(rest.RUNNING)]
    assert [fault.title for fault in FAULTS if fault.sound.startswith("min_instance_count")]  # the proof finds one that has


def test_whatever_the_configuration_makes_is_billed_in_the_table_or_free_at_rest():
    kinds = {kind for text in TEXT.values() for kind in re.findall(r'^resource "(\w+)"', text, re.M)}
    assert kinds == BILLED | FREE


def test_what_costs_by_the_hour_is_off_until_it_is_asked_for():
    variables = dict(re.findall(r'^variable "(\w+)" \{.*?default\s+= (\S+)', TEXT["variables.tf"], re.M | re.S))
    assert (variables["network"], variables["kms_key"]) == ("false", "null")


def test_the_functions_are_those_that_were_reckoned_with():
    assert {
        name: {"memory_mib": row.memory_mib, "concurrency": row.concurrency}
        for name, row in load_measurement().functions.items()
    } == {name: {key: TABLE[name][key] for key in ("memory_mib", "concurrency")} for name in load_measurement().functions}
    tools = [row for row in TABLE.values() if row["unseals"]]
    assert {(row["memory_mib"], row["concurrency"]) for row in tools} == {(512, 40)}  # whichever tool is called
    assert re.findall(r'available_cpu\s*=\s*"(\d+)"', TEXT["functions.tf"]) == [str(VCPU)]
    assert len(TABLE) == rest.IMAGES


def test_the_alerts_have_as_many_conditions_as_are_reckoned_with():
    seen = re.search(r"seen_in_logs = \{(.*?)\n  \}", TEXT["alerts.tf"], re.S)
    assert seen is not None
    queues = {queue for row in TABLE.values() for queue in row["enqueues"]}
    assert len(re.findall(r"^    \w+\s+= \{", seen[1], re.M)) + len(queues) == rest.CONDITIONS
    assert len(re.findall(r"conditions \{", TEXT["alerts.tf"])) == 2


def test_as_many_keys_have_a_version_as_are_reckoned_with():
    assert len({secret for row in TABLE.values() for secret in row["secrets"]}) == rest.VERSIONS


def test_the_prices_are_those_of_the_region_that_is_deployed_to():
    region = re.search(r'variable "region" \{.*?default\s+= "([\w-]+)"', TEXT["variables.tf"], re.S)
    assert region is not None
    assert region[1] == load_price_list().region
