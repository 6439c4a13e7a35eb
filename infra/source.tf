resource "google_storage_bucket" "source" {
  project                     = var.project
  name                        = "${var.project}-ferryman-source"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = true # it holds nothing that cannot be built again

  versioning {
    enabled = true
  }

  lifecycle_rule {
    condition {
      num_newer_versions = 3
      with_state         = "ARCHIVED"
    }
    action {
      type = "Delete"
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

locals {
  root     = "${path.module}/.."
  archives = jsondecode(file("${local.root}/${var.archives}"))
}

# The name has the content's hash: a function is deployed again when its archive differs, and only then.
resource "google_storage_bucket_object" "source" {
  for_each = local.functions
  bucket   = google_storage_bucket.source.name
  name     = "${each.key}-${local.archives[each.key].sha256}.zip"
  source   = "${local.root}/${local.archives[each.key].archive}"

  lifecycle {
    create_before_destroy = true
  }
}

resource "google_artifact_registry_repository" "images" {
  project       = var.project
  location      = var.region
  repository_id = "ferryman"
  description   = "What the functions' archives are built into"
  format        = "DOCKER"
  kms_key_name  = var.kms_key

  cleanup_policies {
    id     = "keep-five"
    action = "KEEP"
    most_recent_versions {
      keep_count = 5
    }
  }

  cleanup_policies {
    id     = "delete-old"
    action = "DELETE"
    condition {
      older_than = "2592000s"
    }
  }

  depends_on = [google_project_service.api, google_kms_crypto_key_iam_member.agent]
}
