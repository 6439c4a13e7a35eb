module "network" {
  source     = "./network"
  count      = var.network ? 1 : 0
  project    = var.project
  region     = var.region
  search     = { ranges = var.search_ranges, port = local.search_port }
  depends_on = [google_project_service.api]
}
