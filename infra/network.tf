module "network" {
  source     = "./network"
  count      = var.network ? 1 : 0
  project    = var.project
  region     = var.region
  depends_on = [google_project_service.api]
}
