# The table of functions, and what follows from it.
locals {
  functions = { for row in jsondecode(file("${path.module}/functions.json")).functions : row.name => row }
  database  = "(default)"

  services = { for name, row in local.functions : name => "ferryman-${replace(name, "_", "-")}" }
  # known before a function is made, so that it can be told its own address
  urls = { for name, service in local.services : name => "https://${service}-${data.google_project.this.number}.${var.region}.run.app" }

  queues          = toset(flatten([for row in local.functions : row.enqueues]))
  secrets         = toset(flatten([for row in local.functions : row.secrets]))
  queue_accounts  = toset(flatten([for row in local.functions : row.acts_as]))
  trigger_callers = toset(flatten([for row in local.functions : row.callers if row.trigger.type == "firestore"]))
  resealers       = toset(flatten([for row in local.functions : try(row.resealers, [])]))
  model_key       = "ferryman-model-key"
  keyed           = toset(var.model_key_version[*])

  # the port of the search engine, as its endpoint says
  search_port = try(regex(":([0-9]+)(?:/|$)", var.searxng_endpoint)[0], startswith(coalesce(var.searxng_endpoint, "http:"), "https:") ? "443" : "80")

  # the keys that models of one's own name: their secrets, and the version of each that is set
  own_keys    = toset([for row in values(jsondecode(lookup(var.settings, "FERRYMAN_MODELS", "{}"))) : row.key if can(row.key)])
  set_keys    = { for name, version in var.model_key_versions : name => version if contains(local.own_keys, name) }
  own_readers = merge([for name, row in local.functions : { for key in keys(local.set_keys) : "${name}>${key}" => { function = name, secret = key } } if row.model]...)

  members = merge(
    { for name, row in local.functions : row.identity => google_service_account.function[name].member },
    { for name in local.queue_accounts : name => google_service_account.queue[name].member },
    { for name in local.trigger_callers : name => google_service_account.trigger[name].member },
    { for name in local.resealers : name => google_service_account.resealer[name].member },
    { anyone = "allUsers" },
  )

  calls    = merge([for name, row in local.functions : { for caller in concat(row.callers, try(row.resealers, []), try(row.connectors, []), try(row.streamers, [])) : "${caller}>${name}" => { function = name, caller = caller } }]...)
  reads    = merge([for name, row in local.functions : { for secret in row.secrets : "${name}>${secret}" => { function = name, secret = secret } }]...)
  enqueues = merge([for name, row in local.functions : { for queue in row.enqueues : "${name}>${queue}" => { function = name, queue = queue } }]...)
  acts     = merge([for name, row in local.functions : { for account in row.acts_as : "${name}>${account}" => { function = name, account = account } }]...)

  may_be_set = [
    "FERRYMAN_DIRECT_LINKS", "FERRYMAN_EXECUTION_S", "FERRYMAN_INTEGRATIONS", "FERRYMAN_KEYS_TTL_S", "FERRYMAN_LEASE_S", "FERRYMAN_LOG_LEVEL",
    "FERRYMAN_MODELS", "FERRYMAN_OAUTH_ISSUER", "FERRYMAN_OAUTH_RESOURCE", "FERRYMAN_PAGE_BYTES_MAX", "FERRYMAN_PLANS", "FERRYMAN_PLATFORM_USER_ID", "FERRYMAN_PLATFORM_WORKSPACE_ID", "FERRYMAN_POLL_S", "FERRYMAN_PRICES", "FERRYMAN_PUBLIC_URL", "FERRYMAN_REQUEST_S",
    "FERRYMAN_RETENTION_DAYS", "FERRYMAN_RETRY_AFTER_S", "FERRYMAN_ROBOTS", "FERRYMAN_SLICE_S", "FERRYMAN_TRACE_CONTENT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
  ]
}

data "google_project" "this" {
  project_id = var.project
}

locals {
  apis = setunion(var.billing_account == null ? [] : ["billingbudgets.googleapis.com"], [
    "aiplatform.googleapis.com",
    "artifactregistry.googleapis.com",
    "cloudbuild.googleapis.com",
    "cloudfunctions.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "cloudtasks.googleapis.com",
    "compute.googleapis.com",
    "dns.googleapis.com",
    "eventarc.googleapis.com",
    "firebaserules.googleapis.com",
    "firestore.googleapis.com",
    "iam.googleapis.com",
    "iamcredentials.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "pubsub.googleapis.com",
    "run.googleapis.com",
    "secretmanager.googleapis.com",
    "storage.googleapis.com",
  ])
}

resource "google_project_service" "api" {
  for_each           = local.apis
  project            = var.project
  service            = each.value
  disable_on_destroy = false
}
