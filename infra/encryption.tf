# With a key of one's own, the services that keep data have to be let use it. They do it as agents of their own.
locals {
  agents = {
    artifacts = "gcp-sa-artifactregistry"
    events    = "gcp-sa-eventarc"
    firestore = "gcp-sa-firestore"
    functions = "gcf-admin-robot"
    run       = "serverless-robot-prod"
    secrets   = "gcp-sa-secretmanager"
    storage   = "gs-project-accounts"
  }
}

resource "google_kms_crypto_key_iam_member" "agent" {
  for_each      = var.kms_key == null ? {} : local.agents
  crypto_key_id = var.kms_key
  role          = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
  member        = "serviceAccount:service-${data.google_project.this.number}@${each.value}.iam.gserviceaccount.com"
  depends_on    = [google_project_service.api]
}
