output "url" {
  description = "The API's address."
  value       = local.urls["api"]
}

output "urls" {
  description = "The address of each function."
  value       = local.urls
}

output "reported_urls" {
  description = "The addresses as Google reports them, to compare with those the functions were told."
  value       = { for name, function in google_cloudfunctions2_function.this : name => function.service_config[0].uri }
}

output "secrets" {
  description = "The secrets that need a version before the first execution."
  value       = sort(local.secrets)
}
