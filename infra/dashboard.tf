locals {
  charts = merge(
    {
      "Requests by function" = { metric = "run.googleapis.com/request_count", resource = "cloud_run_revision", of = "service_name", aligner = "ALIGN_RATE" }
      "Latency, 99 of 100"   = { metric = "run.googleapis.com/request_latencies", resource = "cloud_run_revision", of = "service_name", aligner = "ALIGN_PERCENTILE_99" }
      "Instances"            = { metric = "run.googleapis.com/container/instance_count", resource = "cloud_run_revision", of = "service_name", aligner = "ALIGN_MAX" }
      "Tasks in the queues"  = { metric = "cloudtasks.googleapis.com/queue/depth", resource = "cloud_tasks_queue", of = "queue_id", aligner = "ALIGN_MAX" }
      "Wait in the queues"   = { metric = "cloudtasks.googleapis.com/queue/task_attempt_delays", resource = "cloud_tasks_queue", of = "queue_id", aligner = "ALIGN_PERCENTILE_99" }
    },
    { for key, seen in local.seen_in_logs : seen.title => { metric = "logging.googleapis.com/user/ferryman/${key}", resource = "cloud_run_revision", of = "service_name", aligner = "ALIGN_SUM" } },
  )
}

resource "google_monitoring_dashboard" "this" {
  project = var.project
  dashboard_json = jsonencode({
    displayName = "Ferryman"
    mosaicLayout = {
      columns = 12
      tiles = [for n, title in keys(local.charts) : {
        xPos = (n % 2) * 6, yPos = floor(n / 2) * 4, width = 6, height = 4
        widget = {
          title = title
          xyChart = {
            dataSets = [{
              plotType = "LINE"
              timeSeriesQuery = {
                timeSeriesFilter = {
                  filter = "metric.type=\"${local.charts[title].metric}\" AND resource.type=\"${local.charts[title].resource}\""
                  aggregation = {
                    alignmentPeriod    = "60s"
                    perSeriesAligner   = local.charts[title].aligner
                    crossSeriesReducer = "REDUCE_SUM"
                    groupByFields      = ["resource.label.${local.charts[title].of}"]
                  }
                }
              }
            }]
          }
        }
      }]
    }
  })
  depends_on = [google_logging_metric.this]
}
