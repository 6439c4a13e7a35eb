variable "project" {
  description = "The id of the Google Cloud project. It has to exist, with billing."
  type        = string
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project))
    error_message = "A project id has 6 to 30 lower-case letters, digits and hyphens."
  }
}

variable "sealing_public_key" {
  description = "The public half of the sealing key, VERSION:BASE64. The private half is added to the secret by hand and is never in the state."
  type        = string
  validation {
    condition     = can(regex("^[1-9][0-9]*:[A-Za-z0-9+/]+=*$", var.sealing_public_key))
    error_message = "The sealing public key reads VERSION:BASE64."
  }
}

variable "receipt_public_keys" {
  description = "The public halves of the keys that receipts were ever signed with: the hex of each by its version."
  type        = map(string)
  validation {
    condition     = length(var.receipt_public_keys) > 0 && alltrue([for version, key in var.receipt_public_keys : can(regex("^[1-9][0-9]*$", version)) && can(regex("^[0-9a-f]{64}$", key))])
    error_message = "Receipt keys are 64 hex digits each, by their version."
  }
}

variable "decision_public_keys" {
  description = "The public halves of the valid versions of the key that decisions of people are signed with, at most two: the hex of each by its version."
  type        = map(string)
  validation {
    condition     = length(var.decision_public_keys) > 0 && length(var.decision_public_keys) <= 2 && alltrue([for version, key in var.decision_public_keys : can(regex("^[1-9][0-9]*$", version)) && can(regex("^[0-9a-f]{64}$", key))])
    error_message = "Keys for decisions are 64 hex digits each, by their version, at most two."
  }
}

variable "region" {
  description = "Where functions, queues, secrets and files are."
  type        = string
  default     = "us-central1"
}

variable "firestore_location" {
  description = "Where the database is; the region where this is null. A database cannot be moved."
  type        = string
  default     = null
}

variable "archives" {
  description = "What infra/build.py wrote of the archives it made: each function's archive, from the checkout's root, and its sha256."
  type        = string
  default     = "build/functions.json"
}

variable "settings" {
  description = "Variables that every function gets as they are: plans, prices, integrations, limits in seconds, days that executions are kept (FERRYMAN_RETENTION_DAYS, 90 unless set, 0 for ever), whether files may be linked to directly (FERRYMAN_DIRECT_LINKS, 1; not unless set), what is logged."
  type        = map(string)
  default     = {}
  validation {
    condition     = length(setsubtract(keys(var.settings), local.may_be_set)) == 0
    error_message = "Only these may be set: ${join(", ", local.may_be_set)}."
  }
}

variable "vertex_region" {
  description = "Where Vertex AI serves the models; global leaves that to Google."
  type        = string
  default     = "global"
}

variable "model_key_version" {
  description = "The version of the secret ferryman-model-key that holds a key of Anthropic's own API; it has to be there before it is named. Null uses Vertex AI."
  type        = string
  default     = null
  validation {
    condition     = var.model_key_version == null || can(regex("^[1-9][0-9]*$", var.model_key_version))
    error_message = "A version is a number; latest would change under running functions."
  }
}

variable "model_key_versions" {
  description = "The version of the secret of each key that a model in FERRYMAN_MODELS names, by the key's name; it has to be there before it is named."
  type        = map(string)
  default     = {}
  validation {
    condition     = alltrue([for version in values(var.model_key_versions) : can(regex("^[1-9][0-9]*$", version))])
    error_message = "A version is a number; latest would change under running functions."
  }
  validation {
    condition     = length(setsubtract(keys(var.model_key_versions), local.own_keys)) == 0
    error_message = "A version is given of a key that no model in FERRYMAN_MODELS names."
  }
}

variable "s3" {
  description = "A bucket of a service that speaks S3, which files are kept in instead of one of Google Cloud Storage: the service's URL without a path, its region, the bucket, and the versions of the secrets ferryman-s3-access-key and ferryman-s3-secret-key that hold its access key; they have to be there before they are named. Null keeps files in a bucket of the project."
  type        = object({ endpoint = string, region = string, bucket = string, access_key_version = string, secret_key_version = string })
  default     = null
  validation {
    condition     = var.s3 == null || can(regex("^https://[a-z0-9.-]+(:[0-9]+)?$", var.s3.endpoint))
    error_message = "The endpoint is the https URL of a host alone."
  }
  validation {
    condition     = var.s3 == null || can(regex("^[1-9][0-9]*:[1-9][0-9]*$", "${var.s3.access_key_version}:${var.s3.secret_key_version}"))
    error_message = "A version is a number; latest would change under running functions."
  }
}

variable "max_instances" {
  description = "The most instances of one function."
  type        = number
  default     = 20
  validation {
    condition     = var.max_instances >= 1 && var.max_instances <= 1000
    error_message = "Between 1 and 1,000 instances."
  }
}

variable "network" {
  description = "Whether functions reach the world through a network of their own, which has no way to private addresses. NAT costs by the hour."
  type        = bool
  default     = false
}

variable "searxng_endpoint" {
  description = "Where SearXNG answers, http://HOST:PORT, which the tool that searches the web asks: FERRYMAN_SEARXNG_ENDPOINT of one function. Null leaves the default, which a service in a Kubernetes cluster answers and nothing here."
  type        = string
  default     = null
  validation {
    condition     = var.searxng_endpoint == null || can(regex("^https?://[a-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*$", var.searxng_endpoint))
    error_message = "An endpoint reads http://HOST:PORT, without a query."
  }
}

variable "search_ranges" {
  description = "With a network: the addresses of that engine, as ranges. The function that searches reaches these at the endpoint's port and Google, and nobody else reaches them where they are private."
  type        = set(string)
  default     = []
  validation {
    condition     = alltrue([for range in var.search_ranges : can(cidrhost(range, 0)) && try(tonumber(split("/", range)[1]), 0) >= 24])
    error_message = "A range reads 10.1.2.3/32, of at most 256 addresses."
  }
}

variable "kms_key" {
  description = "A Cloud KMS key in the region that everything at rest is encrypted with; null leaves that to Google's keys."
  type        = string
  default     = null
  validation {
    condition     = var.kms_key == null || can(regex("^projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+$", var.kms_key))
    error_message = "A key reads projects/P/locations/L/keyRings/R/cryptoKeys/K."
  }
}

variable "operators" {
  description = "Who may rotate keys, as IAM names members (user:ann@example.com, group:ops@example.com): each may act as ferryman-keys, which may ask a key holder to re-seal and nothing else. Rotating also takes rights on the two secrets and on Firestore."
  type        = set(string)
  default     = []
  validation {
    condition     = alltrue([for member in var.operators : can(regex("^(user|group|serviceAccount):[^@ ]+@[^@ ]+$", member))])
    error_message = "A member reads user:, group: or serviceAccount: and an address. Nobody else may speak for an account."
  }
}

variable "alert_email" {
  description = "Who is written to when an alert fires; null shows alerts in the console only."
  type        = string
  default     = null
}

variable "billing_account" {
  description = "The billing account that a budget is set on; null sets none. The account that applies needs a quota project for it."
  type        = string
  default     = null
}

variable "monthly_budget" {
  description = "The budget of a month, in whole units of the billing account's currency."
  type        = number
  default     = 100
}

variable "recovery" {
  description = "Whether any minute of the database's last seven days can be had back. Google bills what is stored once more for it; without it, only backups that you schedule bring back what was deleted by mistake."
  type        = bool
  default     = true
}

variable "protect" {
  description = "Whether database and secrets withstand `destroy`."
  type        = bool
  default     = true
}
