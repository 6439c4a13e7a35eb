"""Faults: mistakes in the configuration, injected one at a time; each must be found, and for its own reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFault:
    """In `file`, `sound` becomes `faulty`; the check that finds it must say `says`."""

    title: str
    file: str
    sound: str
    faulty: str
    says: str


SECOND_READER = """
resource "google_secret_manager_secret_iam_member" "more" {
  project   = var.project
  secret_id = google_secret_manager_secret.this["ferryman-sealing-key"].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.function["orchestrator"].member
}
"""
EDITOR = """
resource "google_project_iam_member" "more" {
  project = var.project
  role    = "roles/editor"
  member  = google_service_account.function["api"].member
}
"""
ALL_SECRETS = """
resource "google_project_iam_member" "more" {
  project = var.project
  role    = "roles/secretmanager.secretAccessor"
  member  = google_service_account.function["http_get"].member
}
"""
WHOLE_POLICY = """
resource "google_project_iam_policy" "more" {
  project     = var.project
  policy_data = "{}"
}
"""
VALUE_IN_STATE = """
resource "google_secret_manager_secret_version" "more" {
  secret      = google_secret_manager_secret.this["ferryman-sealing-key"].id
  secret_data = "a private key"
}
"""
CALLS_ITSELF = """
resource "google_service_account_iam_member" "more" {
  service_account_id = google_service_account.queue["ferryman-queue"].name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = google_service_account.function["webhook"].member
}
"""
END = "# (end)\n"
"""A name for the end of the file."""

# fmt: off
_FAULTS = (
    # what the schema knows
    ("a misspelt argument", "functions.tf", "available_memory ", "availble_memory ", "availble_memory"),
    ("another misspelt argument", "queues.tf", "max_attempts ", "max_attempt ", "max_attempt"),
    ("a misspelt block", "queues.tf", "retry_config {", "retry_cfg {", "retry_cfg"),
    ("a misspelt block in a block", "functions.tf", "storage_source {", "storage_sources {", "storage_sources"),
    ("text for a number", "queues.tf", "max_doublings      = 5", 'max_doublings      = "a few"', "a number is required"),
    ("a list for a text", "source.tf", 'format        = "DOCKER"', 'format        = ["DOCKER"]', "string required"),
    ("text for a truth", "source.tf", "uniform_bucket_level_access = true", 'uniform_bucket_level_access = "yes"', "a bool is required"),
    ("an argument left out", "access.tf", '  role     = "roles/run.invoker"\n', "", '"role" is required'),
    ("another argument left out", "firestore.tf", '  type                              = "FIRESTORE_NATIVE"\n', "", '"type" is required'),
    ("a block left out", "firestore.tf", '  source {\n    files {\n      name    = "firestore.rules"\n      content = file("${path.module}/firestore.rules")\n    }\n  }\n', "", "source"),
    ("a block twice", "queues.tf", "  rate_limits {", "  rate_limits {}\n  rate_limits {", "rate_limits"),
    ("an argument written as a block", "network/main.tf", "  target_tags        = [local.tags.any]", "  target_tags {}", "target_tags"),
    ("a kind that is not there", "queues.tf", 'resource "google_cloud_tasks_queue"', 'resource "google_cloudtasks_queue"', "google_cloudtasks_queue"),
    ("an ingress that is not there", "functions.tf", '"ALLOW_INTERNAL_ONLY" : "ALLOW_ALL"', '"INTERNAL_ONLY" : "ALLOW_ALL"', "ingress_settings must be one of"),
    ("a database of no kind", "firestore.tf", '"FIRESTORE_NATIVE"', '"NATIVE"', "type must be one of"),
    ("a retry policy that is not there", "functions.tf", '"RETRY_POLICY_RETRY"', '"RETRY"', "retry_policy must be one of"),
    ("an order that is not there", "firestore.indexes.json", '"DESCENDING"', '"DOWN"', "order must be one of"),
    ("what the provider decides", "identities.tf", '  account_id   = "ferryman-build"\n', '  account_id   = "ferryman-build"\n  unique_id    = "7"\n', "unique_id"),
    # what Terraform knows
    ("a resource that is not there", "access.tf", "google_service_account.build.member", "google_service_account.builds.member", "google_service_account"),
    ("an attribute that is not there", "outputs.tf", "service_config[0].uri", "service_config[0].address", "address"),
    ("a variable that is not there", "queues.tf", "location = var.region", "location = var.regoin", "regoin"),
    ("a local value that is not there", "access.tf", "for_each = local.calls", "for_each = local.call", "call"),
    ("a key that is not there", "functions.tf", '.this["schedules"].name', '.this["schedule"].name', "schedule"),
    ("a module's output that is not there", "functions.tf", "direct_vpc_network_interface.value.subnetwork", "direct_vpc_network_interface.value.subnet", "subnet"),
    ("a circle", "identities.tf", "display_name = \"Ferryman's builds\"", "display_name = google_storage_bucket_iam_member.build.role", "Cycle"),
    ("a row without a column", "functions.json", ', "model": false, "egress": "google"', "", "model"),
    # who may do what
    ("a role that does not exist", "access.tf", '"roles/cloudtasks.enqueuer"', '"roles/cloudtasks.enqueuers"', "there is no role roles/cloudtasks.enqueuers"),
    ("another role that does not exist", "access.tf", '"roles/run.invoker"', '"roles/run.invoke"', "there is no role roles/run.invoke"),
    ("a role that is too wide", "access.tf", '"roles/datastore.user"', '"roles/datastore.owner"', "roles/datastore.owner"),
    ("a reader that may write", "access.tf", 'each.value.firestore == "all" ? "roles/datastore.user" : "roles/datastore.viewer"', '"roles/datastore.user"', "roles/datastore.user on project for ferryman-concierge"),
    ("a public tool", "access.tf", "  member   = local.members[each.value.caller]", '  member   = each.value.function == "http_get" ? "allUsers" : local.members[each.value.caller]', "roles/run.invoker on function ferryman-http-get for anyone"),
    ("a public orchestrator", "access.tf", "  member   = local.members[each.value.caller]", '  member   = each.value.function == "orchestrator" ? "allUsers" : local.members[each.value.caller]', "roles/run.invoker on function ferryman-orchestrator for anyone"),
    ("everybody with an account", "table.tf", '"allUsers"', '"allAuthenticatedUsers"', "allAuthenticatedUsers"),
    ("a second reader of the key", "access.tf", END, SECOND_READER, "secret ferryman-sealing-key for ferryman-orchestrator"),
    ("an editor of the project", "access.tf", END, EDITOR, "roles/editor is given on the whole project"),
    ("a reader of every secret", "access.tf", END, ALL_SECRETS, "roles/secretmanager.secretAccessor is given on the whole project"),
    ("a policy that replaces all others", "access.tf", END, WHOLE_POLICY, "given, and not in the table: None on google_project_iam_policy.more"),
    ("an account to be spoken for", "access.tf", END, CALLS_ITSELF, "roles/iam.serviceAccountTokenCreator"),
    ("operators who speak for another account", "access.tf", "google_service_account.resealer[each.value[0]].name", 'google_service_account.function["api_call"].name', "roles/iam.serviceAccountTokenCreator on account ferryman-api-call for user:ann@example.com"),
    ("operators who were not named", "access.tf", "  member             = each.value[1]", '  member             = "group:everyone@example.com"', "for group:everyone@example.com"),
    ("documents of every database", "access.tf", '  condition {\n    title      = "this-database"\n    expression = "resource.name == \\"projects/${var.project}/databases/${google_firestore_database.this.name}\\""\n  }\n', "", "roles/datastore.user is given on the project without a condition"),
    ("another database's documents", "access.tf", "/databases/${google_firestore_database.this.name}", "/databases/other", "databases/other"),
    ("one account for two functions", "functions.tf", "google_service_account.function[each.key].email", 'google_service_account.function["api"].email', "it runs as ferryman-api@"),
    ("a model for everyone", "access.tf", "if row.model && length(local.keyed) == 0", "if length(local.keyed) == 0", "roles/aiplatform.user on project for ferryman-api"),
    ("a model key for everyone", "functions.tf", "for_each = each.value.model ? local.keyed : toset([])", "for_each = local.keyed", "ANTHROPIC_API_KEY"),
    ("files for another function", "files.tf", "google_service_account.function[each.value.function].member", 'google_service_account.function["orchestrator"].member', "roles/storage.objectUser on bucket demo-project-ferryman-files for ferryman-orchestrator"),
    ("files under a role that is too wide", "files.tf", '"roles/storage.objectUser"', '"roles/storage.admin"', "there is no role roles/storage.admin"),
    ("links signed as another account", "files.tf", "  service_account_id = google_service_account.function[each.key].name", '  service_account_id = google_service_account.function["api"].name', "roles/iam.serviceAccountTokenCreator on account ferryman-api for ferryman-files"),
    ("links that were not asked for", "files.tf", '&& lookup(var.settings, "FERRYMAN_DIRECT_LINKS", "") == "1"', "", "roles/iam.serviceAccountTokenCreator on account ferryman-files for ferryman-files"),
    ("keys of S3 for everyone", "functions.tf", "for_each = length(try(each.value.buckets, [])) > 0 ? local.s3_keys : {}", "for_each = local.s3_keys", "function api: it would not start: FERRYMAN_S3_ENDPOINT"),
    ("a bucket that every function knows", "functions.tf", "length(try(each.value.buckets, [])) == 0 ? {} : local.s3_variables", "local.s3_variables", "function api: it would not start: FERRYMAN_S3_ACCESS_KEY"),
    ("a key in the state", "secrets.tf", END, VALUE_IN_STATE, "google_secret_manager_secret_version would stand in the state"),
    ("the wrong callers", "functions.tf", 'if caller != "anyone"]', 'if caller == "anyone"]', "its callers"),
    ("a trigger that calls as the queue", "functions.tf", "one(values(google_service_account.trigger)).email", "one(values(google_service_account.queue)).email", "its trigger calls as ferryman-queue@"),
    ("the search engine for everyone", "network/main.tf", "  target_tags        = [local.tags.search]", "  target_tags        = values(local.tags)", "the rule of the search engine is for other addresses"),
    ("every private address for the one that searches", "network/main.tf", "  destination_ranges = var.search.ranges", '  destination_ranges = ["10.0.0.0/8"]', "the rule of the search engine is for other addresses"),
    # what Google Cloud refuses only when asked
    ("memory in megs", "functions.tf", "${each.value.memory_mib}Mi", "${each.value.memory_mib} megs", "there is no memory of"),
    ("more memory than there is", "functions.json", '"memory_mib": 256', '"memory_mib": 65536', "there is no memory of 65536Mi"),
    ("less memory than there is", "functions.json", '"memory_mib": 256', '"memory_mib": 64', "there is no memory of 64Mi"),
    ("an orchestrator of two hours", "functions.json", '"timeout_s": 1800', '"timeout_s": 7200', "or over 3600"),
    ("a trigger of ten minutes", "functions.json", '"ferryman-on-execution", "memory_mib": 256, "timeout_s": 60', '"ferryman-on-execution", "memory_mib": 256, "timeout_s": 600', "or over 540"),
    ("slices longer than the function", "functions.json", '"timeout_s": 1800', '"timeout_s": 900', "its slices"),
    ("more at once than there is", "functions.json", '"concurrency": 80', '"concurrency": 2000', "or over 1000"),
    ("half a CPU for many requests", "functions.tf", 'available_cpu                    = "1"', 'available_cpu                    = "0.5"', "needs a whole CPU"),
    ("an account's name over 30 characters", "identities.tf", '"ferryman-build"', '"ferryman-and-everything-that-is-built"', "cannot be called ferryman-and-everything"),
    ("an account's name under 6 characters", "identities.tf", '"ferryman-build"', '"fbld"', "cannot be called fbld"),
    ("a bucket with capitals", "source.tf", "${var.project}-ferryman-source", "${var.project}-Ferryman-source", "cannot be called demo-project-Ferryman-source"),
    ("a function's name too long", "table.tf", '"ferryman-${replace(name, "_", "-")}"', '"ferryman-the-executor-of-agent-tasks-that-${replace(name, "_", "-")}"', "cannot be called ferryman-the-executor"),
    ("a service that is none", "table.tf", '"cloudtasks.googleapis.com"', '"cloudtasks.googleapis.org"', "cannot be called cloudtasks.googleapis.org"),
    ("an emulator in a deployed function", "functions.tf", "      FERRYMAN_LOCATION ", '      FIRESTORE_EMULATOR_HOST = "localhost:1"\n      FERRYMAN_LOCATION ', "it would not start"),
    ("a log level that is not there", "functions.tf", "      FERRYMAN_LOCATION ", '      FERRYMAN_LOG_LEVEL = "LOUD"\n      FERRYMAN_LOCATION ', "it would not start"),
    # what would run, and should not
    ("a queue that gives up", "queues.tf", "max_attempts       = -1", "max_attempts       = 5", "gives up"),
    ("a queue that gives up in time", "queues.tf", 'max_retry_duration = "0s"', 'max_retry_duration = "60s"', "gives up"),
    ("a wait that is no time", "queues.tf", '"30s"', '"half a minute"', "half a minute"),
    ("more dispatches than there are", "queues.tf", "per_second = 50 ", "per_second = 5000 ", "cannot dispatch 5000 a second"),
    ("an event that is lost", "functions.tf", '"RETRY_POLICY_RETRY"', '"RETRY_POLICY_DO_NOT_RETRY"', "would be lost"),
    ("a trigger on other documents", "functions.tf", "value     = event_trigger.value.document", 'value     = "tasks/{task}"', "its trigger waits for"),
    ("rules that let anyone read", "firestore.rules", "allow read, write: if false;", "allow read: if true;", "the database's rules let somebody in"),
    ("a database without a past", "firestore.tf", 'var.recovery ? "POINT_IN', '!var.recovery ? "POINT_IN', "the database cannot be set back"),
    ("a database that may go", "firestore.tf", 'var.protect ? "DELETE_PROTECTION_ENABLED"', '!var.protect ? "DELETE_PROTECTION_ENABLED"', "the database may be deleted"),
    ("no index", "firestore.tf", "  for_each    = local.indexes", "  for_each    = {}", "queries by executions.admitted.workspace.created_at would be refused"),
    ("an index of one field less", "firestore.tf", "for_each = each.value.fields", "for_each = slice(each.value.fields, 0, 1)", "would be refused"),
    ("documents that never go", "firestore.tf", "try(each.value.ttl, false) ?", "false ?", "never go by their expire_at"),
    ("files of workspaces for everyone", "files.tf", '"enforced"', '"inherited"', "what is in demo-project-ferryman-files might be shown to anyone"),
    ("files that cannot be had back", "files.tf", "var.recovery ? 604800 : 0", "0", "is not kept for 7 days"),
    ("files that go with the deployment", "files.tf", "!var.protect", "true", "demo-project-ferryman-files may be destroyed"),
    ("a deployment that offers no files", "functions.tf", '      FERRYMAN_FILES_SET            = "1"\n', "", "its tools of files"),
    ("files for everyone", "source.tf", '"enforced"', '"inherited"', "might be shown to anyone"),
    ("tools on the internet", "functions.tf", "var.network || alltrue(", "alltrue(", "its ingress is ALLOW_ALL"),
    ("a way to private addresses", "network/main.tf", '"10.0.0.0/8", ', "", "the network reaches private addresses"),
    ("a way out for plain HTTP", "network/main.tf", 'ports    = ["443"]', 'ports    = ["443", "80"]', "more out than HTTPS"),
    ("a way past the firewall", "functions.tf", '"VPC_EGRESS_ALL_TRAFFIC"', '"VPC_EGRESS_PRIVATE_RANGES_ONLY"', "reaches any"),
    ("a way in", "network/main.tf", 'direction          = "EGRESS"\n  priority           = 65000', 'direction          = "INGRESS"\n  priority           = 65000', "lets somebody in"),
    ("an instance that never rests", "functions.tf", "min_instance_count               = 0", "min_instance_count               = 1", "it costs something at rest"),
    ("archives that are not there", "variables.tf", '"build/functions.json"', '"build/archives.json"', "archives.json"),
)
# fmt: on
FAULTS = tuple(
    InjectedFault(title=title, file=file, sound=sound, faulty=faulty, says=says) for title, file, sound, faulty, says in _FAULTS
)
