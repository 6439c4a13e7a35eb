resource "google_service_account" "function" {
  for_each     = local.functions
  project      = var.project
  account_id   = each.value.identity
  display_name = "Ferryman's function ${each.key}"
}

resource "google_service_account" "queue" {
  for_each     = local.queue_accounts
  project      = var.project
  account_id   = each.value
  display_name = "Ferryman's queues, when they call"
}

resource "google_service_account" "trigger" {
  for_each     = local.trigger_callers
  project      = var.project
  account_id   = each.value
  display_name = "Ferryman's Firestore trigger, when it calls"
}

# Keys are rotated as this account, from outside.
resource "google_service_account" "resealer" {
  for_each     = local.resealers
  project      = var.project
  account_id   = each.value
  display_name = "Ferryman's operator, when keys are rotated"
}

resource "google_service_account" "build" {
  project      = var.project
  account_id   = "ferryman-build"
  display_name = "Ferryman's builds"
}
