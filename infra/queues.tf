locals {
  rates = {
    executions = { concurrent = 100, per_second = 50 }
    schedules  = { concurrent = 20, per_second = 20 }
  }
}

# Without end: a lease that is still held answers 503, and the queue has to outlast the longest.
resource "google_cloud_tasks_queue" "this" {
  for_each = local.queues
  project  = var.project
  location = var.region
  name     = each.value

  rate_limits {
    max_concurrent_dispatches = local.rates[each.value].concurrent
    max_dispatches_per_second = local.rates[each.value].per_second
  }

  retry_config {
    max_attempts       = -1
    max_retry_duration = "0s"
    min_backoff        = "1s"
    max_backoff        = "30s"
    max_doublings      = 5
  }

  stackdriver_logging_config {
    sampling_ratio = 1
  }

  depends_on = [google_project_service.api]
}
