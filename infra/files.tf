# The files of workspaces: one bucket, which the function `files` alone may use; or a bucket of S3 elsewhere, whose access keys it
# alone is given.
locals {
  buckets      = var.s3 == null ? toset(flatten([for row in local.functions : try(row.buckets, [])])) : toset([])
  administers  = merge([for name, row in local.functions : { for bucket in try(row.buckets, []) : "${name}>${bucket}" => { function = name, bucket = bucket } if var.s3 == null }]...)
  s3_secrets   = toset(["ferryman-s3-access-key", "ferryman-s3-secret-key"])
  s3_readers   = { for pair in setproduct([for name, row in local.functions : name if length(try(row.buckets, [])) > 0 && var.s3 != null], local.s3_secrets) : join(">", pair) => { function = pair[0], secret = pair[1] } }
  s3_variables = var.s3 == null ? {} : { FERRYMAN_S3_ENDPOINT = var.s3.endpoint, FERRYMAN_S3_REGION = var.s3.region, FERRYMAN_S3_BUCKET = var.s3.bucket }
  s3_keys      = var.s3 == null ? {} : { FERRYMAN_S3_ACCESS_KEY = { secret = "ferryman-s3-access-key", version = var.s3.access_key_version }, FERRYMAN_S3_SECRET_KEY = { secret = "ferryman-s3-secret-key", version = var.s3.secret_key_version } }
}

# No versions: what somebody deletes is to go, and is told as gone. What was deleted by mistake can be had back for as many days as
# a minute of the database.
resource "google_storage_bucket" "files" {
  for_each                    = local.buckets
  project                     = var.project
  name                        = "${var.project}-${each.key}"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = !var.protect

  soft_delete_policy {
    retention_duration_seconds = var.recovery ? 604800 : 0
  }

  lifecycle_rule {
    condition {
      age = 1
    }
    action {
      type = "AbortIncompleteMultipartUpload"
    }
  }

  dynamic "encryption" {
    for_each = var.kms_key[*]
    content {
      default_kms_key_name = encryption.value
    }
  }

  depends_on = [google_project_service.api, google_kms_crypto_key_iam_member.agent]
}

resource "google_storage_bucket_iam_member" "files" {
  for_each = local.administers
  bucket   = google_storage_bucket.files[each.value.bucket].name
  role     = "roles/storage.objectUser"
  member   = google_service_account.function[each.value.function].member
}

# Where direct links are allowed, the function signs them as itself, and as nobody else. Those of S3 are signed with its keys.
resource "google_service_account_iam_member" "signs" {
  for_each           = { for name, row in local.functions : name => row if try(row.signs, false) && var.s3 == null && lookup(var.settings, "FERRYMAN_DIRECT_LINKS", "") == "1" }
  service_account_id = google_service_account.function[each.key].name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = google_service_account.function[each.key].member
}

# Empty, and read by nobody, unless files are kept in a bucket of S3.
resource "google_secret_manager_secret" "s3_key" {
  for_each            = local.s3_secrets
  project             = var.project
  secret_id           = each.value
  deletion_protection = var.protect

  replication {
    user_managed {
      replicas {
        location = var.region
        dynamic "customer_managed_encryption" {
          for_each = var.kms_key[*]
          content {
            kms_key_name = customer_managed_encryption.value
          }
        }
      }
    }
  }

  depends_on = [google_project_service.api, google_kms_crypto_key_iam_member.agent]
}

resource "google_secret_manager_secret_iam_member" "s3_key" {
  for_each  = local.s3_readers
  project   = var.project
  secret_id = google_secret_manager_secret.s3_key[each.value.secret].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.function[each.value.function].member
}
