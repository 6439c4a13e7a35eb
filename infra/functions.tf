resource "google_cloudfunctions2_function" "this" {
  for_each     = local.functions
  project      = var.project
  location     = var.region
  name         = local.services[each.key]
  description  = "Ferryman: ${each.key}"
  kms_key_name = var.kms_key

  build_config {
    runtime           = "python313"
    entry_point       = "main"
    service_account   = google_service_account.build.id
    docker_repository = google_artifact_registry_repository.images.id
    source {
      storage_source {
        bucket = google_storage_bucket.source.name
        object = google_storage_bucket_object.source[each.key].name
      }
    }
  }

  service_config {
    available_memory                 = "${each.value.memory_mib}Mi"
    available_cpu                    = "1" # less cannot serve more than one request at a time
    timeout_seconds                  = each.value.timeout_s
    min_instance_count               = 0
    max_instance_count               = var.max_instances
    max_instance_request_concurrency = each.value.concurrency
    service_account_email            = google_service_account.function[each.key].email
    all_traffic_on_latest_revision   = true

    # Queue and trigger count as internal. Another function does only when its traffic goes through the network, and an
    # operator who rotates keys never does.
    ingress_settings = contains(each.value.callers, "anyone") || length(try(each.value.resealers, [])) > 0 ? "ALLOW_ALL" : (
      var.network || alltrue([for caller in concat(each.value.callers, try(each.value.streamers, [])) : contains(setunion(local.queue_accounts, local.trigger_callers), caller)]) ? "ALLOW_INTERNAL_ONLY" : "ALLOW_ALL"
    )

    direct_vpc_egress = var.network ? "VPC_EGRESS_ALL_TRAFFIC" : null
    dynamic "direct_vpc_network_interface" {
      for_each = module.network
      content {
        network    = direct_vpc_network_interface.value.network
        subnetwork = direct_vpc_network_interface.value.subnetwork
        tags       = [direct_vpc_network_interface.value.tags[each.value.model && (length(local.keyed) > 0 || contains(keys(var.settings), "FERRYMAN_MODELS")) || var.s3 != null && length(try(each.value.buckets, [])) > 0 ? "any" : each.value.egress]]
      }
    }

    environment_variables = merge(var.settings, length(try(each.value.buckets, [])) == 0 ? {} : local.s3_variables, { for bucket in try(each.value.buckets, []) : "FERRYMAN_OBJECTS_BUCKET" => google_storage_bucket.files[bucket].name if var.s3 == null }, length(local.set_keys) == 0 ? {} : { FERRYMAN_MODEL_KEYS_SET = jsonencode(keys(local.set_keys)) }, length(try(each.value.resealers, [])) == 0 ? {} : { FERRYMAN_RESEALERS = jsonencode([for account in each.value.resealers : "${account}@${var.project}.iam.gserviceaccount.com"]) }, length(try(each.value.streamers, [])) == 0 ? {} : { FERRYMAN_STREAMERS = jsonencode([for account in each.value.streamers : "${account}@${var.project}.iam.gserviceaccount.com"]) }, length(try(each.value.connectors, [])) == 0 ? {} : { FERRYMAN_CONNECTORS = jsonencode([for account in each.value.connectors : "${account}@${var.project}.iam.gserviceaccount.com"]) }, each.value.egress == "search" && var.searxng_endpoint != null ? { FERRYMAN_SEARXNG_ENDPOINT = var.searxng_endpoint } : {}, {
      GOOGLE_CLOUD_PROJECT          = var.project
      FERRYMAN_FUNCTION             = each.key
      FERRYMAN_LOCATION             = var.region
      FERRYMAN_FUNCTION_URLS        = jsonencode(local.urls)
      FERRYMAN_CALLERS              = jsonencode([for caller in each.value.callers : "${caller}@${var.project}.iam.gserviceaccount.com" if caller != "anyone"])
      FERRYMAN_QUEUE                = google_cloud_tasks_queue.this["executions"].name
      FERRYMAN_SCHEDULES_QUEUE      = google_cloud_tasks_queue.this["schedules"].name
      FERRYMAN_QUEUE_CALLER         = one(values(google_service_account.queue)).email
      FERRYMAN_SEALING_PUBLIC_KEY   = var.sealing_public_key
      FERRYMAN_RECEIPT_PUBLIC_KEYS  = jsonencode(var.receipt_public_keys)
      FERRYMAN_SEALING_KEY_SECRET   = google_secret_manager_secret.this["ferryman-sealing-key"].secret_id
      FERRYMAN_RECEIPT_KEY_SECRET   = google_secret_manager_secret.this["ferryman-receipt-key"].secret_id
      FERRYMAN_DECISION_PUBLIC_KEYS = jsonencode(var.decision_public_keys)
      FERRYMAN_API_KEY_SECRET       = google_secret_manager_secret.this["ferryman-api-key"].secret_id
      FERRYMAN_VERTEX_REGION        = var.vertex_region
      FERRYMAN_FILES_SET            = "1"
    })

    dynamic "secret_environment_variables" {
      for_each = each.value.model ? local.keyed : toset([])
      content {
        key        = "ANTHROPIC_API_KEY"
        project_id = var.project
        secret     = google_secret_manager_secret.model_key[local.model_key].secret_id
        version    = secret_environment_variables.value
      }
    }
    dynamic "secret_environment_variables" {
      for_each = each.value.model ? local.set_keys : {}
      content {
        key        = secret_environment_variables.key
        project_id = var.project
        secret     = google_secret_manager_secret.model_key[secret_environment_variables.key].secret_id
        version    = secret_environment_variables.value
      }
    }
    dynamic "secret_environment_variables" {
      for_each = length(try(each.value.buckets, [])) > 0 ? local.s3_keys : {}
      content {
        key        = secret_environment_variables.key
        project_id = var.project
        secret     = google_secret_manager_secret.s3_key[secret_environment_variables.value.secret].secret_id
        version    = secret_environment_variables.value.version
      }
    }
  }

  dynamic "event_trigger" {
    for_each = each.value.trigger.type == "firestore" ? [each.value.trigger] : []
    content {
      trigger_region        = google_firestore_database.this.location_id
      event_type            = event_trigger.value.event
      retry_policy          = "RETRY_POLICY_RETRY"
      service_account_email = one(values(google_service_account.trigger)).email
      event_filters {
        attribute = "database"
        value     = google_firestore_database.this.name
      }
      event_filters {
        attribute = "document"
        value     = event_trigger.value.document
        operator  = "match-path-pattern"
      }
    }
  }

  depends_on = [
    google_project_service.api,
    google_project_iam_member.build_logs,
    google_project_iam_member.build_sources,
    google_storage_bucket_iam_member.build,
    google_artifact_registry_repository_iam_member.build,
    google_project_iam_member.receives_events,
    google_secret_manager_secret_iam_member.model_key,
    google_secret_manager_secret_iam_member.s3_key,
    google_secret_manager_secret_iam_member.own_key,
  ]
}
