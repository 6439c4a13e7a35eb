# Containers only: a version is added from outside, so that no key is in the state.
resource "google_secret_manager_secret" "this" {
  for_each            = local.secrets
  project             = var.project
  secret_id           = each.value
  deletion_protection = var.protect
  version_destroy_ttl = "86400s" # a version that is destroyed by mistake can be had back for a day

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

# The keys of models: one for those with list prices, and by the names that FERRYMAN_MODELS gives them one for each of one's
# own. Empty, and read by nobody, unless a key of one's own is to be used.
resource "google_secret_manager_secret" "model_key" {
  for_each            = setunion([local.model_key], local.own_keys)
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
