# What somebody has to look at, by the lines the functions write.
locals {
  seen_in_logs = {
    leak_refused   = { filter = "jsonPayload.message=\"call\" AND jsonPayload.reason=\"credential_leak\"", over = 0, within = "60s", title = "A call with a credential in it was refused" }
    in_doubt       = { filter = "jsonPayload.message=\"call.in_doubt\"", over = 0, within = "60s", title = "Whether a call took effect is not known" }
    lease_lost     = { filter = "jsonPayload.message=\"lease.lost\"", over = 5, within = "600s", title = "Executions change hands while they run" }
    credits_capped = { filter = "jsonPayload.message=\"credits.capped\"", over = 0, within = "60s", title = "A turn cost more than its execution had left" }
    fault          = { filter = "severity>=ERROR", over = 5, within = "600s", title = "Functions fail" }
  }
  channels = [for channel in google_monitoring_notification_channel.email : channel.id]
}

resource "google_monitoring_notification_channel" "email" {
  for_each     = toset(var.alert_email[*])
  project      = var.project
  display_name = "Ferryman"
  type         = "email"
  labels       = { email_address = each.value }
  depends_on   = [google_project_service.api]
}

resource "google_logging_metric" "this" {
  for_each = local.seen_in_logs
  project  = var.project
  name     = "ferryman/${each.key}"
  filter   = "resource.type=\"cloud_run_revision\" AND resource.labels.service_name=~\"^ferryman-\" AND ${each.value.filter}"

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = "INT64"
    unit        = "1"
  }

  depends_on = [google_project_service.api]
}

resource "google_monitoring_alert_policy" "seen_in_logs" {
  for_each              = local.seen_in_logs
  project               = var.project
  display_name          = "Ferryman: ${each.value.title}"
  combiner              = "OR"
  notification_channels = local.channels

  conditions {
    display_name = each.value.title
    condition_threshold {
      filter          = "metric.type=\"logging.googleapis.com/user/${google_logging_metric.this[each.key].name}\" AND resource.type=\"cloud_run_revision\""
      comparison      = "COMPARISON_GT"
      threshold_value = each.value.over
      duration        = "0s"
      aggregations {
        alignment_period     = each.value.within
        per_series_aligner   = "ALIGN_SUM"
        cross_series_reducer = "REDUCE_SUM"
      }
    }
  }

  alert_strategy {
    auto_close = "86400s"
  }
}

resource "google_monitoring_alert_policy" "queue_age" {
  for_each              = local.queues
  project               = var.project
  display_name          = "Ferryman: tasks wait in the queue ${each.value}"
  combiner              = "OR"
  notification_channels = local.channels

  conditions {
    display_name = "One task in a hundred waits for more than five minutes"
    condition_threshold {
      filter          = "metric.type=\"cloudtasks.googleapis.com/queue/task_attempt_delays\" AND resource.type=\"cloud_tasks_queue\" AND resource.labels.queue_id=\"${google_cloud_tasks_queue.this[each.value].name}\""
      comparison      = "COMPARISON_GT"
      threshold_value = 300000 # milliseconds
      duration        = "300s"
      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_PERCENTILE_99"
        cross_series_reducer = "REDUCE_MAX"
      }
    }
  }

  alert_strategy {
    auto_close = "86400s"
  }
}

resource "google_billing_budget" "this" {
  for_each        = toset(var.billing_account[*])
  billing_account = each.value
  display_name    = "Ferryman in ${var.project}"

  budget_filter {
    projects        = ["projects/${data.google_project.this.number}"]
    calendar_period = "MONTH"
  }

  amount {
    specified_amount {
      units = tostring(var.monthly_budget)
    }
  }

  dynamic "threshold_rules" {
    for_each = [0.5, 0.9, 1]
    content {
      threshold_percent = threshold_rules.value
    }
  }

  all_updates_rule {
    monitoring_notification_channels = local.channels
    disable_default_iam_recipients   = false
  }
}
