# Access. A role is granted on the narrowest resource; a role on the project has a condition where one is possible.

resource "google_cloud_run_v2_service_iam_member" "calls" {
  for_each = local.calls
  project  = var.project
  location = var.region
  name     = google_cloudfunctions2_function.this[each.value.function].name
  role     = "roles/run.invoker"
  member   = local.members[each.value.caller]
}

resource "google_secret_manager_secret_iam_member" "reads" {
  for_each  = local.reads
  project   = var.project
  secret_id = google_secret_manager_secret.this[each.value.secret].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.function[each.value.function].member
}

resource "google_secret_manager_secret_iam_member" "model_key" {
  for_each  = { for name, row in local.functions : name => row if row.model && length(local.keyed) > 0 }
  project   = var.project
  secret_id = google_secret_manager_secret.model_key[local.model_key].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.function[each.key].member
}

resource "google_secret_manager_secret_iam_member" "own_key" {
  for_each  = local.own_readers
  project   = var.project
  secret_id = google_secret_manager_secret.model_key[each.value.secret].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.function[each.value.function].member
}

resource "google_cloud_tasks_queue_iam_member" "enqueues" {
  for_each = local.enqueues
  project  = var.project
  location = var.region
  name     = google_cloud_tasks_queue.this[each.value.queue].name
  role     = "roles/cloudtasks.enqueuer"
  member   = google_service_account.function[each.value.function].member
}

resource "google_service_account_iam_member" "acts_as" {
  for_each           = local.acts
  service_account_id = google_service_account.queue[each.value.account].name
  role               = "roles/iam.serviceAccountUser"
  member             = google_service_account.function[each.value.function].member
}

# Tokens of the account that rotates keys, for the people who do.
resource "google_service_account_iam_member" "operates" {
  for_each           = { for pair in setproduct(local.resealers, var.operators) : join(">", pair) => pair }
  service_account_id = google_service_account.resealer[each.value[0]].name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = each.value[1]
}

# Firestore's rights stop at the database: none of them can be held to a collection.
resource "google_project_iam_member" "documents" {
  for_each = { for name, row in local.functions : name => row if row.firestore != "-" }
  project  = var.project
  role     = each.value.firestore == "all" ? "roles/datastore.user" : "roles/datastore.viewer"
  member   = google_service_account.function[each.key].member
  condition {
    title      = "this-database"
    expression = "resource.name == \"projects/${var.project}/databases/${google_firestore_database.this.name}\""
  }
}

# Models of a publisher are no resources of the project that a role could be given on.
resource "google_project_iam_member" "model" {
  for_each = { for name, row in local.functions : name => row if row.model && length(local.keyed) == 0 }
  project  = var.project
  role     = "roles/aiplatform.user"
  member   = google_service_account.function[each.key].member
}

resource "google_project_iam_member" "receives_events" {
  for_each = local.trigger_callers
  project  = var.project
  role     = "roles/eventarc.eventReceiver"
  member   = google_service_account.trigger[each.value].member
}

resource "google_project_iam_member" "build_logs" {
  project = var.project
  role    = "roles/logging.logWriter"
  member  = google_service_account.build.member
}

# Cloud Functions copies each source into a bucket of its own and builds from there.
resource "google_project_iam_member" "build_sources" {
  project = var.project
  role    = "roles/storage.objectViewer"
  member  = google_service_account.build.member
  condition {
    title      = "sources-of-functions"
    expression = "resource.name.startsWith(\"projects/_/buckets/gcf-v2-sources-${data.google_project.this.number}-${var.region}\")"
  }
}

resource "google_storage_bucket_iam_member" "build" {
  bucket = google_storage_bucket.source.name
  role   = "roles/storage.objectViewer"
  member = google_service_account.build.member
}

resource "google_artifact_registry_repository_iam_member" "build" {
  project    = var.project
  location   = var.region
  repository = google_artifact_registry_repository.images.repository_id
  role       = "roles/artifactregistry.writer"
  member     = google_service_account.build.member
}
