# A way out without a way in: HTTPS to public addresses for functions that execute calls, to Google and the search engine for the
# one that searches, to Google alone for all others.
variable "project" {
  type = string
}

variable "region" {
  type = string
}

variable "search" {
  description = "The addresses of the operator's search engine, and its port."
  type        = object({ ranges = set(string), port = string })
}

locals {
  tags   = { any = "ferryman-any", google = "ferryman-google", search = "ferryman-search" }
  google = "199.36.153.8/30" # private.googleapis.com
  zones  = { apis = "googleapis.com.", run = "run.app." }
}

resource "google_compute_network" "this" {
  project                 = var.project
  name                    = "ferryman"
  auto_create_subnetworks = false
}

resource "google_compute_subnetwork" "this" {
  project                  = var.project
  region                   = var.region
  name                     = "ferryman"
  network                  = google_compute_network.this.id
  ip_cidr_range            = "10.10.0.0/22"
  private_ip_google_access = true
}

resource "google_compute_router" "this" {
  project = var.project
  region  = var.region
  name    = "ferryman"
  network = google_compute_network.this.id
}

resource "google_compute_router_nat" "this" {
  project                            = var.project
  region                             = var.region
  name                               = "ferryman"
  router                             = google_compute_router.this.name
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "ALL_SUBNETWORKS_ALL_IP_RANGES"
  log_config {
    enable = true
    filter = "ERRORS_ONLY"
  }
}

# the one private address that anything may reach, before the rule that denies them
resource "google_compute_firewall" "search" {
  count              = length(var.search.ranges) == 0 ? 0 : 1
  project            = var.project
  name               = "ferryman-search"
  network            = google_compute_network.this.id
  direction          = "EGRESS"
  priority           = 50
  destination_ranges = var.search.ranges
  target_tags        = [local.tags.search]
  allow {
    protocol = "tcp"
    ports    = [var.search.port]
  }
}

resource "google_compute_firewall" "no_private" {
  project            = var.project
  name               = "ferryman-no-private"
  network            = google_compute_network.this.id
  direction          = "EGRESS"
  priority           = 100
  destination_ranges = ["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/3"]
  target_tags        = values(local.tags)
  deny {
    protocol = "all"
  }
  log_config {
    metadata = "INCLUDE_ALL_METADATA"
  }
}

resource "google_compute_firewall" "google" {
  project            = var.project
  name               = "ferryman-google"
  network            = google_compute_network.this.id
  direction          = "EGRESS"
  priority           = 200
  destination_ranges = [local.google]
  target_tags        = [local.tags.google, local.tags.search]
  allow {
    protocol = "tcp"
    ports    = ["443"]
  }
}

resource "google_compute_firewall" "any" {
  project            = var.project
  name               = "ferryman-any"
  network            = google_compute_network.this.id
  direction          = "EGRESS"
  priority           = 200
  destination_ranges = ["0.0.0.0/0"]
  target_tags        = [local.tags.any]
  allow {
    protocol = "tcp"
    ports    = ["443"]
  }
}

resource "google_compute_firewall" "nothing_else" {
  project            = var.project
  name               = "ferryman-nothing-else"
  network            = google_compute_network.this.id
  direction          = "EGRESS"
  priority           = 65000
  destination_ranges = ["0.0.0.0/0"]
  target_tags        = values(local.tags)
  deny {
    protocol = "all"
  }
  log_config {
    metadata = "INCLUDE_ALL_METADATA"
  }
}

# Google's services and the other functions at addresses that a rule can name.
resource "google_dns_managed_zone" "google" {
  for_each   = local.zones
  project    = var.project
  name       = "ferryman-${each.key}"
  dns_name   = each.value
  visibility = "private"
  private_visibility_config {
    networks {
      network_url = google_compute_network.this.id
    }
  }
}

resource "google_dns_record_set" "google" {
  for_each     = local.zones
  project      = var.project
  managed_zone = google_dns_managed_zone.google[each.key].name
  name         = "*.${each.value}"
  type         = "A"
  ttl          = 300
  rrdatas      = [for n in range(4) : cidrhost(local.google, n)]
}

output "network" {
  value = google_compute_network.this.name
}

output "subnetwork" {
  value = google_compute_subnetwork.this.name
}

output "tags" {
  value = local.tags
}
