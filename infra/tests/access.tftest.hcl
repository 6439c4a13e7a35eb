# The same promises in Terraform's own words, for whoever has only Terraform.
mock_provider "google" {
  mock_data "google_project" {
    defaults = {
      number = "123456789012"
    }
  }
}

run "as_it_comes" {
  command = apply

  assert {
    condition     = length(distinct([for account in google_service_account.function : account.account_id])) == length(google_cloudfunctions2_function.this)
    error_message = "Each function has an account of its own."
  }

  assert {
    condition     = [for key, binding in google_cloud_run_v2_service_iam_member.calls : binding.name if binding.member == "allUsers"] == ["ferryman-api"]
    error_message = "Only the API is open to anyone."
  }

  assert {
    condition     = [for key, binding in google_cloud_run_v2_service_iam_member.calls : key if binding.name == "ferryman-orchestrator"] == ["ferryman-api>orchestrator", "ferryman-queue>orchestrator"]
    error_message = "Nobody but the queue's account and the API calls the orchestrator."
  }

  assert {
    condition     = toset([for key, binding in google_secret_manager_secret_iam_member.reads : split(">", key)[0] if binding.secret_id == "ferryman-sealing-key"]) == toset([for name, row in local.functions : name if row.unseals])
    error_message = "Those that unseal read the unsealing key, and nobody else."
  }

  assert {
    condition     = [for key, binding in google_secret_manager_secret_iam_member.reads : split(">", key)[0] if binding.secret_id == "ferryman-api-key"] == ["api"]
    error_message = "Only the API reads the key that decisions of people are signed with."
  }

  assert {
    condition     = [for key, binding in google_storage_bucket_iam_member.files : key] == ["files>ferryman-files"]
    error_message = "One function may use the bucket of files, and nobody else."
  }

  assert {
    condition     = length(google_service_account_iam_member.signs) == 0
    error_message = "Nobody signs links that nobody allowed."
  }

  assert {
    condition     = keys(google_project_iam_member.model) == ["orchestrator"]
    error_message = "Only the orchestrator asks models."
  }

  assert {
    condition     = alltrue([for queue in google_cloud_tasks_queue.this : queue.retry_config[0].max_attempts == -1])
    error_message = "A queue must outlast the longest lease."
  }

  assert {
    condition     = google_firestore_database.this.delete_protection_state == "DELETE_PROTECTION_ENABLED"
    error_message = "The database withstands destroy."
  }
}

run "with_a_model_key" {
  command = plan

  variables {
    model_key_version = "3"
  }

  assert {
    condition     = length(google_project_iam_member.model) == 0 && length(google_secret_manager_secret_iam_member.model_key) == 1
    error_message = "With a key of its own, the orchestrator needs no role on the project."
  }
}

run "with_keys_for_models_of_ones_own" {
  command = plan

  variables {
    settings           = { FERRYMAN_MODELS = jsonencode({ a = { url = "https://a.test", input = 0, output = 0, key = "MODEL_KEY_A" }, b = { url = "https://b.test", input = 0, output = 0, key = "MODEL_KEY_B" }, c = { url = "https://c.test", input = 0, output = 0 } }) }
    model_key_versions = { MODEL_KEY_A = "2" }
  }

  assert {
    condition     = keys(google_secret_manager_secret.model_key) == ["MODEL_KEY_A", "MODEL_KEY_B", "ferryman-model-key"]
    error_message = "Each key that a model names has a secret, empty at first."
  }

  assert {
    condition     = keys(google_secret_manager_secret_iam_member.own_key) == ["orchestrator>MODEL_KEY_A"]
    error_message = "The orchestrator alone reads a key, and none that has no version."
  }

  assert {
    condition     = [for name, function in google_cloudfunctions2_function.this : name if length([for item in function.service_config[0].secret_environment_variables : item if item.key == "MODEL_KEY_A" && item.version == "2"]) == 1] == ["orchestrator"]
    error_message = "The orchestrator alone is given the key."
  }

  assert {
    condition     = alltrue([for function in google_cloudfunctions2_function.this : function.service_config[0].environment_variables.FERRYMAN_MODEL_KEYS_SET == jsonencode(["MODEL_KEY_A"])])
    error_message = "Every function is told which keys are set."
  }
}

run "a_key_that_no_model_names" {
  command = plan

  variables {
    model_key_versions = { MODEL_KEY_A = "1" }
  }

  expect_failures = [var.model_key_versions]
}

run "with_operators" {
  command = plan

  variables {
    operators = ["user:ann@example.com"]
  }

  assert {
    condition     = [for key, binding in google_service_account_iam_member.operates : "${key} ${binding.role}"] == ["ferryman-keys>user:ann@example.com roles/iam.serviceAccountTokenCreator"]
    error_message = "Operators may act as the account that rotates keys, and as no other."
  }
}

run "with_direct_links" {
  command = plan

  variables {
    settings = { FERRYMAN_DIRECT_LINKS = "1" }
  }

  assert {
    condition     = [for key, binding in google_service_account_iam_member.signs : "${key} ${binding.role}"] == ["files roles/iam.serviceAccountTokenCreator"]
    error_message = "The function that keeps files signs links, and nobody else."
  }
}

run "an_operator_that_is_everybody" {
  command = plan

  variables {
    operators = ["allAuthenticatedUsers"]
  }

  expect_failures = [var.operators]
}

run "a_setting_that_is_none" {
  command = plan

  variables {
    settings = { FIRESTORE_EMULATOR_HOST = "localhost:8080" }
  }

  expect_failures = [var.settings]
}

run "a_key_that_is_none" {
  command = plan

  variables {
    sealing_public_key = "latest"
  }

  expect_failures = [var.sealing_public_key]
}

run "a_version_that_moves" {
  command = plan

  variables {
    model_key_version = "latest"
  }

  expect_failures = [var.model_key_version]
}
