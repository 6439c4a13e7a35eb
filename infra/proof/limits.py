"""Limits: what Google Cloud refuses only once it is asked, or would take and should not. Its published limits, in its units."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ferryman import settings
from infra.proof.access import LINKS, MODEL_KEY, S3_KEYS, Row, service
from infra.proof.plan import TerraformPlan, block

DECLARED = Path(__file__).parents[1] / "firestore.indexes.json"

HTTP_S, EVENT_S = 3600, 540
"""The longest a function may take: asked over HTTP, and for an event."""
MEMORY_MIB = (128, 32_768)
CONCURRENCY_MAX = 1000
ENVIRONMENT_BYTES_MAX = 32_768
LABEL_MAX = 63
"""The longest label of a host name, which a service and the project's number make up."""
DISPATCHES_PER_SECOND_MAX, DISPATCHES_AT_ONCE_MAX = 500, 5000
LEASE_S = 120

NAMES = {
    "google_service_account": ("account_id", r"[a-z](?:[-a-z0-9]{4,28}[a-z0-9])"),
    "google_secret_manager_secret": ("secret_id", r"[A-Za-z0-9_-]{1,255}"),
    "google_cloud_tasks_queue": ("name", r"[A-Za-z0-9-]{1,100}"),
    "google_storage_bucket": ("name", r"[a-z0-9][a-z0-9_-]{1,61}[a-z0-9]"),
    "google_cloudfunctions2_function": ("name", r"[a-z](?:[a-z0-9-]{0,48}[a-z0-9])"),
    "google_artifact_registry_repository": ("repository_id", r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])"),
    "google_logging_metric": ("name", r"[A-Za-z0-9_.,+!*'()%-][A-Za-z0-9_.,+!*'()%/-]{0,99}"),
    "google_compute_firewall": ("name", r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])"),
    "google_project_service": ("service", r"[a-z]+\.googleapis\.com"),
}
"""The argument that names each kind, and what its service takes as a name."""


def wrong(plan: TerraformPlan, rows: Mapping[str, Row], variables: Mapping[str, Any]) -> Iterator[str]:
    """Yield what in the plan is over a limit, or is not as the table says."""
    for kind, (argument, form) in NAMES.items():
        for resource in plan.list_kind(kind):
            if not re.fullmatch(form, str(resource.get(argument))):
                yield f"{kind} cannot be called {resource.get(argument)}"
    for name, function in plan.functions().items():
        if name in rows:
            yield from (f"function {name}: {problem}" for problem in _function(name, function, rows[name], variables))
    for rule in (_queues, _database, _files):
        yield from rule(plan, rows, variables)


def _function(name: str, function: Mapping[str, Any], row: Row, variables: Mapping[str, Any]) -> Iterator[str]:
    config = block(function, "service_config")
    memory = re.fullmatch(r"(\d+)Mi", str(config.get("available_memory")))
    if memory is None or not MEMORY_MIB[0] <= int(memory[1]) <= MEMORY_MIB[1]:
        yield f"there is no memory of {config.get('available_memory')}"
    elif int(memory[1]) != row["memory_mib"]:
        yield f"its memory is {memory[1]} MiB, and {row['memory_mib']} in the table"
    seconds, most = config.get("timeout_seconds"), HTTP_S if row["trigger"]["type"] == "http" else EVENT_S
    if seconds != row["timeout_s"] or not 1 <= int(seconds or 0) <= most:
        yield f"its {seconds} seconds are not the table's {row['timeout_s']}, or over {most}"
    at_once = int(config.get("max_instance_request_concurrency") or 1)
    if at_once != row["concurrency"] or at_once > CONCURRENCY_MAX:
        yield f"its concurrency of {at_once} is not the table's {row['concurrency']}, or over {CONCURRENCY_MAX}"
    if at_once > 1 and float(config.get("available_cpu") or 0) < 1:
        yield "more than one request at a time needs a whole CPU"
    if config.get("min_instance_count"):
        yield "it costs something at rest"
    if config.get("service_account_email") != f"{row['identity']}@{variables['project']}.iam.gserviceaccount.com":
        yield f"it runs as {config.get('service_account_email')}, not as {row['identity']}"
    if len(f"{function['name']}-{10**12}") > LABEL_MAX:
        yield "its name is too long for an address that is known before"
    yield from _ingress(config, row, bool(variables.get("network")))
    yield from _environment(name, config, row, variables)
    yield from _trigger(function, row, variables)


CALLING = {"ferryman-orchestrator", "ferryman-platform-call"}
"""The accounts of functions that call others."""


def _ingress(config: Mapping[str, Any], row: Row, network: bool) -> Iterator[str]:
    # the queue and the trigger come from inside, other functions only through a network, and operators from outside
    inside = not (row.get("resealers") or "anyone" in row["callers"]) and (
        network or not (row.get("streamers") or CALLING & set(row["callers"]))
    )
    if config.get("ingress_settings") != ("ALLOW_INTERNAL_ONLY" if inside else "ALLOW_ALL"):
        yield f"its ingress is {config.get('ingress_settings')}"


def _environment(name: str, config: Mapping[str, Any], row: Row, variables: Mapping[str, Any]) -> Iterator[str]:
    environment = dict(config.get("environment_variables") or {})
    if sum(len(key) + len(value) for key, value in environment.items()) > ENVIRONMENT_BYTES_MAX:
        yield f"its environment is over {ENVIRONMENT_BYTES_MAX} bytes"
    try:
        secret_names = [variable["key"] for variable in config.get("secret_environment_variables") or []]
        known = settings.read({**environment, **dict.fromkeys(secret_names, "a-secret"), "K_SERVICE": service(name)})
    except settings.MisconfiguredError as error:
        yield f"it would not start: {error}"
        return
    domain = f"{variables['project']}.iam.gserviceaccount.com"
    expected: dict[str, tuple[Any, Any]] = {
        "its name": (known.function, name),
        "its project": (known.project, variables["project"]),
        "its callers": (known.callers, tuple(f"{caller}@{domain}" for caller in row["callers"] if caller != "anyone")),
        "its resealers": (
            json.loads(environment.get("FERRYMAN_RESEALERS", "[]")),
            [f"{account}@{domain}" for account in row.get("resealers", [])],
        ),
        "its connectors": (
            json.loads(environment.get("FERRYMAN_CONNECTORS", "[]")),
            [f"{account}@{domain}" for account in row.get("connectors", [])],
        ),
        "its streamers": (
            json.loads(environment.get("FERRYMAN_STREAMERS", "[]")),
            [f"{account}@{domain}" for account in row.get("streamers", [])],
        ),
        "its queues": ({known.queue, known.schedules_queue}, {"executions", "schedules"}),
        "its queue's account": (known.queue_caller, f"ferryman-queue@{domain}"),
        "its sealing key": (known.sealing_public_key, variables["sealing_public_key"]),
        "its receipt keys": (dict(known.receipt_public_keys), variables["receipt_public_keys"]),
        "its keys for decisions": (dict(known.decision_public_keys), variables["decision_public_keys"]),
        "its bucket": (
            (known.objects_bucket, known.s3_bucket, known.s3_access_key != ""),
            _name_bucket(row, variables),
        ),
        "its tools of files": (known.has_files, True),
        "its direct links": (known.direct_links, variables.get("settings", {}).get(LINKS) == "1"),
        "its slices": (known.slice_s < row["timeout_s"] - 30 or name != "orchestrator", True),
    }
    yield from (f"{what}: {got}, not {due}" for what, (got, due) in expected.items() if got != due)
    for called in {name, "orchestrator", *row["calls"]} - set(known.function_urls):
        yield f"it does not know the address of {called}"
    keys = [(variable["key"], variable["secret"]) for variable in config.get("secret_environment_variables") or []]
    expected_keys = [("ANTHROPIC_API_KEY", MODEL_KEY)] if row["model"] and "model_key_version" in variables else []
    expected_keys += [(name, name) for name in sorted(variables.get("model_key_versions", {})) if row["model"]]
    if row.get("buckets") and "s3" in variables:
        expected_keys += [("FERRYMAN_S3_ACCESS_KEY", S3_KEYS[0]), ("FERRYMAN_S3_SECRET_KEY", S3_KEYS[1])]
    if keys != expected_keys:
        yield f"it is given the secrets {keys}, not {expected_keys}"


def _name_bucket(row: Row, variables: Mapping[str, Any]) -> tuple[str, str, bool]:
    """Return what a function is told of the bucket of files: Google's, or that of S3, and whether it is given its keys."""
    if not row.get("buckets"):
        return "", "", False
    if "s3" in variables:
        return "", variables["s3"]["bucket"], True
    return f"{variables['project']}-{row['buckets'][0]}", "", False


def _trigger(function: Mapping[str, Any], row: Row, variables: Mapping[str, Any]) -> Iterator[str]:
    trigger = block(function, "event_trigger")
    if row["trigger"]["type"] == "http":
        if trigger:
            yield "it has a trigger, and none in the table"
        return
    filters = {part["attribute"]: (part["value"], part.get("operator")) for part in trigger.get("event_filters") or []}
    due = {"database": ("(default)", None), "document": (row["trigger"]["document"], "match-path-pattern")}
    if trigger.get("event_type") != row["trigger"]["event"] or filters != due:
        yield f"its trigger waits for {trigger.get('event_type')} of {filters}"
    if trigger.get("retry_policy") != "RETRY_POLICY_RETRY":
        yield "an event that it could not take would be lost"
    if trigger.get("service_account_email") != f"{row['callers'][0]}@{variables['project']}.iam.gserviceaccount.com":
        yield f"its trigger calls as {trigger.get('service_account_email')}"


def _queues(plan: TerraformPlan, rows: Mapping[str, Row], _: Mapping[str, Any]) -> Iterator[str]:
    queues = {str(queue["name"]): queue for queue in plan.list_kind("google_cloud_tasks_queue")}
    if set(queues) != (expected := {queue for row in rows.values() for queue in row["enqueues"]}):
        yield f"the queues are {sorted(queues)}, not {sorted(expected)}"
    for name, queue in queues.items():
        retry, rate = block(queue, "retry_config"), block(queue, "rate_limits")
        spans = {key: re.fullmatch(r"(\d+(?:\.\d+)?)s", str(retry.get(key))) for key in ("min_backoff", "max_backoff")}
        if retry.get("max_attempts") != -1 or retry.get("max_retry_duration") not in (None, "0s"):
            yield f"queue {name} gives up, perhaps while a lease is held"
        if any(span is None or float(span[1]) > LEASE_S for span in spans.values()):
            yield f"queue {name} waits between {retry.get('min_backoff')} and {retry.get('max_backoff')}"
        if not 0 < (rate.get("max_dispatches_per_second") or 0) <= DISPATCHES_PER_SECOND_MAX:
            yield f"queue {name} cannot dispatch {rate.get('max_dispatches_per_second')} a second"
        if not 0 < (rate.get("max_concurrent_dispatches") or 0) <= DISPATCHES_AT_ONCE_MAX:
            yield f"queue {name} cannot dispatch {rate.get('max_concurrent_dispatches')} at once"


def _database(plan: TerraformPlan, _: Mapping[str, Row], variables: Mapping[str, Any]) -> Iterator[str]:
    databases = list(plan.list_kind("google_firestore_database"))
    if [(database["name"], database["type"]) for database in databases] != [("(default)", "FIRESTORE_NATIVE")]:
        yield "there is not one database, (default), in native mode"
    for database in databases:
        can_be_set_back = database.get("point_in_time_recovery_enablement") == "POINT_IN_TIME_RECOVERY_ENABLED"
        if can_be_set_back != variables.get("recovery", True):
            yield f"the database can{'' if can_be_set_back else 'not'} be set back to a moment"
        if database.get("delete_protection_state") != "DELETE_PROTECTION_ENABLED":
            yield "the database may be deleted"
    rules = [
        block(block(ruleset, "source"), "files").get("content", "")
        for ruleset in plan.list_kind("google_firebaserules_ruleset")
    ]
    if len(rules) != 1 or re.findall(r"allow [^;]*;", rules[0]) != ["allow read, write: if false;"]:
        yield "the database's rules let somebody in"
    if [release["name"] for release in plan.list_kind("google_firebaserules_release")] != ["cloud.firestore"]:
        yield "the database's rules are not in force"
    declared = json.loads(DECLARED.read_text())
    due = {(index["collectionGroup"], *(field["fieldPath"] for field in index["fields"])) for index in declared["indexes"]}
    resources = {
        (index["collection"], *(field["field_path"] for field in index["fields"]))
        for index in plan.list_kind("google_firestore_index")
    }
    yield from (f"queries by {'.'.join(index)} would be refused" for index in sorted(due - resources))
    going = {
        (policy["collection"], policy["field"])
        for policy in plan.list_kind("google_firestore_field")
        if policy.get("ttl_config")
    }
    lasting = {
        (override["collectionGroup"], override["fieldPath"]) for override in declared["fieldOverrides"] if override.get("ttl")
    } - going
    yield from (f"documents of {collection} never go by their {field}" for collection, field in sorted(lasting))


def _files(plan: TerraformPlan, rows: Mapping[str, Row], variables: Mapping[str, Any]) -> Iterator[str]:
    for bucket in plan.list_kind("google_storage_bucket"):
        if bucket.get("public_access_prevention") != "enforced" or not bucket.get("uniform_bucket_level_access"):
            yield f"what is in {bucket['name']} might be shown to anyone"
    expected = {f"{variables['project']}-{name}" for row in rows.values() for name in row.get("buckets", [])}
    buckets = {str(bucket["name"]): bucket for bucket in plan.list_kind("google_storage_bucket")}
    for name in sorted(expected & set(buckets)):
        days = 7 if variables.get("recovery", True) else 0
        if block(buckets[name], "soft_delete_policy").get("retention_duration_seconds") != days * 86_400:
            yield f"what is deleted in {name} is not kept for {days} days"
        if buckets[name].get("force_destroy"):
            yield f"{name} may be destroyed with all that is in it"
    if expected & set(buckets) != (set() if "s3" in variables else expected):
        yield f"the buckets are {sorted(buckets)}"
    names = {str(archive["name"]).rpartition("-")[0] for archive in plan.list_kind("google_storage_bucket_object")}
    if names != set(rows):
        yield f"there are archives of {sorted(names)}"
    for alert in plan.list_kind("google_monitoring_alert_policy"):
        if not block(block(alert, "conditions"), "condition_threshold").get("filter"):
            yield f"nothing is watched by {alert['display_name']}"
    for board in plan.list_kind("google_monitoring_dashboard"):
        tiles = json.loads(board["dashboard_json"])["mosaicLayout"]["tiles"]
        if len({(tile["xPos"], tile["yPos"]) for tile in tiles}) != len(tiles):
            yield "charts of the dashboard lie on each other"
