locals {
  declared = jsondecode(file("${path.module}/firestore.indexes.json"))
  indexes = {
    for index in local.declared.indexes :
    join("-", concat([index.collectionGroup], [for field in index.fields : "${field.fieldPath}.${lower(try(field.order, field.arrayConfig))}"])) => index
  }
  fields = { for field in local.declared.fieldOverrides : "${field.collectionGroup}.${field.fieldPath}" => field }
}

# The name is that of the project's default database, which the clients take where none is named.
resource "google_firestore_database" "this" {
  project                           = var.project
  name                              = local.database
  location_id                       = coalesce(var.firestore_location, var.region)
  type                              = "FIRESTORE_NATIVE"
  database_edition                  = "STANDARD"
  concurrency_mode                  = "OPTIMISTIC"
  point_in_time_recovery_enablement = var.recovery ? "POINT_IN_TIME_RECOVERY_ENABLED" : "POINT_IN_TIME_RECOVERY_DISABLED"
  delete_protection_state           = var.protect ? "DELETE_PROTECTION_ENABLED" : "DELETE_PROTECTION_DISABLED"
  deletion_policy                   = var.protect ? "PREVENT" : "DELETE"

  dynamic "cmek_config" {
    for_each = var.kms_key[*]
    content {
      kms_key_name = cmek_config.value
    }
  }

  depends_on = [google_project_service.api, google_kms_crypto_key_iam_member.agent]
}

resource "google_firestore_index" "this" {
  for_each    = local.indexes
  project     = var.project
  database    = google_firestore_database.this.name
  collection  = each.value.collectionGroup
  query_scope = each.value.queryScope

  dynamic "fields" {
    for_each = each.value.fields
    content {
      field_path   = fields.value.fieldPath
      order        = try(fields.value.order, null)
      array_config = try(fields.value.arrayConfig, null)
    }
  }
}

# How single fields are indexed otherwise than by default, and which of them tells when its document may go.
resource "google_firestore_field" "this" {
  for_each   = local.fields
  project    = var.project
  database   = google_firestore_database.this.name
  collection = each.value.collectionGroup
  field      = each.value.fieldPath

  dynamic "ttl_config" {
    for_each = try(each.value.ttl, false) ? [true] : []
    content {}
  }

  index_config {
    dynamic "indexes" {
      for_each = each.value.indexes
      content {
        order        = try(indexes.value.order, null)
        array_config = try(indexes.value.arrayConfig, null)
        query_scope  = try(indexes.value.queryScope, "COLLECTION")
      }
    }
  }
}

resource "google_firebaserules_ruleset" "this" {
  project = var.project
  source {
    files {
      name    = "firestore.rules"
      content = file("${path.module}/firestore.rules")
    }
  }
  depends_on = [google_firestore_database.this]
}

resource "google_firebaserules_release" "this" {
  project      = var.project
  name         = "cloud.firestore"
  ruleset_name = google_firebaserules_ruleset.this.name
}
