"""Seed 001, the page of declared HTTP tools: each of its lines, the tests that prove it, and what was decided of it."""

from __future__ import annotations

from tests.house.proofs import Decision, Table

ENTRY = "declared/test_entry.py::"
URLS = "declared/test_urls.py::"
TEMPLATES = "declared/test_templates.py::"
REQUEST = "declared/test_request.py::"
WIRE = "egress/test_declared.py::"
EMBEDDED = "egress/test_embedded.py::"
DOCS = "house/test_documents.py::"
ASKING = "tokens/test_asking.py::"
APPLY = "tokens/test_apply.py::"
ANSWER = "tokens/test_answer.py::"
FLIGHT = "tokens/test_flight.py::"
AGAIN = "tokens/test_again.py::"
SILENCE = "tokens/test_silence.py::"
STORY = "journeys/test_custom_tools.py::"
LOGIN = "journeys/test_tool_tokens.py::"
PAGE = "docs/tools.md"

PROOFS: dict[int, tuple[str, ...]] = {
    1: (
        STORY + "test_a_declared_tool_is_called_with_its_secret_and_no_record_shows_it",
        EMBEDDED + "test_a_tool_is_called_with_its_variable_and_the_answer_is_framed",
    ),
    2: (ENTRY + "test_each_placeholder_is_a_parameter_and_a_text",),
    3: (
        ENTRY + "test_each_method_may_be_declared",
        ENTRY + "test_an_entry_says_little_and_the_rest_has_its_default",
        WIRE + "test_each_method_goes_out",
    ),
    4: (WIRE + "test_an_entry_sends_the_same_hosted_and_embedded",),
    5: (
        DOCS + "test_the_fields_of_a_declaration_are_those_of_the_page",
        DOCS + "test_every_declaration_that_is_shown_is_read",
        ENTRY + "test_what_is_wrong_is_named_with_its_place",
    ),
    6: (
        ENTRY + "test_no_tool_takes_the_name_of_a_built_in_one",
        "doors/test_clusters.py::test_a_name_is_taken_by_one_cluster_only",
        "openapi/test_operations.py::test_names_that_others_have_are_not_taken",
    ),
    7: (
        URLS + "test_each_form_of_a_placeholder_is_read",
        ENTRY + "test_each_placeholder_is_a_parameter_and_a_text",
        REQUEST + "test_what_does_not_fit_is_refused_by_its_name",
    ),
    8: (
        URLS + "test_what_is_refused_when_it_is_stored",
        REQUEST + "test_what_is_optional_and_absent_leaves_nothing_behind",
    ),
    9: (ENTRY + "test_each_placeholder_is_a_parameter_and_a_text", REQUEST + "test_a_call_has_everything_in_its_place"),
    10: (
        ENTRY + "test_each_placeholder_is_a_parameter_and_a_text",
        URLS + "test_each_form_of_a_placeholder_is_read",
        REQUEST + "test_a_call_has_everything_in_its_place",
    ),
    11: (ENTRY + "test_each_placeholder_is_a_parameter_and_a_text",),
    12: (
        ENTRY + "test_a_parameter_may_have_a_type_a_default_and_a_style",
        REQUEST + "test_defaults_are_filled_in_and_scalars_become_texts",
    ),
    13: (
        ENTRY + "test_a_pinned_parameter_disappears",
        REQUEST + "test_a_pin_is_filled_in_and_wins_over_what_the_model_says",
    ),
    14: (
        URLS + "test_no_value_changes_the_path",
        URLS + "test_what_could_climb_or_cut_a_path_is_refused",
        REQUEST + "test_no_argument_gets_out_of_its_place",
        REQUEST + "test_what_does_not_fit_is_refused_by_its_name",
        ENTRY + "test_a_name_that_stands_twice_is_one_parameter_and_required_where_one_is",
        WIRE + "test_a_body_of_type_query_goes_out_in_the_query_and_nowhere_else",
    ),
    15: (REQUEST + "test_a_call_has_everything_in_its_place", REQUEST + "test_a_header_value_stays_on_its_line"),
    16: (
        REQUEST + "test_the_environment_is_read_in_embedded_mode",
        EMBEDDED + "test_a_tool_is_called_with_its_variable_and_the_answer_is_framed",
        EMBEDDED + "test_what_is_wrong_with_a_declaration_or_a_variable_is_named",
    ),
    17: (
        WIRE + "test_a_secret_goes_into_the_header_that_names_it_and_nowhere_else",
        WIRE + "test_a_secret_that_is_not_there_is_an_error_and_nothing_is_sent",
        ENTRY + "test_embedded_mode_has_the_environment_and_no_secrets",
        ENTRY + "test_what_is_wrong_is_named_with_its_place",
    ),
    18: (
        TEMPLATES + "test_what_a_template_means",
        TEMPLATES + "test_what_is_no_template",
        TEMPLATES + "test_no_value_is_read_as_a_template",
    ),
    19: (WIRE + "test_a_body_goes_out_as_its_type_says", ENTRY + "test_what_is_wrong_is_named_with_its_place"),
    20: (
        WIRE + "test_a_body_goes_out_as_its_type_says",
        ENTRY + "test_an_entry_says_little_and_the_rest_has_its_default",
    ),
    21: (WIRE + "test_a_body_goes_out_as_its_type_says",),
    22: (
        WIRE + "test_a_body_of_type_query_goes_out_in_the_query_and_nowhere_else",
        REQUEST + "test_a_body_of_type_query_is_appended_with_any_method",
    ),
    23: (REQUEST + "test_a_call_has_everything_in_its_place", STORY + "test_a_body_is_written_from_its_template"),
    24: (ENTRY + "test_what_a_template_names_is_a_parameter_but_for_what_has_a_value",),
    25: (ENTRY + "test_what_a_template_names_is_a_parameter_but_for_what_has_a_value",),
    26: (
        TEMPLATES + "test_a_template_that_is_nothing_but_a_name_keeps_the_type",
        REQUEST + "test_a_call_has_everything_in_its_place",
        WIRE + "test_a_body_goes_out_as_its_type_says",
    ),
    27: (
        ENTRY + "test_both_ways_to_a_token_are_read",
        ASKING + "test_id_and_secret_go_into_the_header_as_the_standard_has_them",
        ASKING + "test_id_and_secret_go_into_the_body_where_that_is_declared",
    ),
    28: (
        AGAIN + "test_a_good_token_is_sent_once",
        AGAIN + "test_a_call_that_got_401_is_sent_once_more_with_a_new_token",
        FLIGHT + "test_a_token_is_kept_for_the_next_call_of_any_instance",
        APPLY + "test_a_bearer_token_goes_into_authorization",
    ),
    29: (
        ENTRY + "test_both_ways_to_a_token_are_read",
        ASKING + "test_a_login_is_asked_as_it_is_declared",
        ASKING + "test_a_login_may_be_a_get_whose_answer_is_the_token",
        ANSWER + "test_a_token_is_found_where_the_declaration_says",
        APPLY + "test_the_format_says_what_stands_around_it",
        APPLY + "test_a_token_goes_into_the_query_as_it_is",
    ),
    30: (
        ANSWER + "test_how_long_a_token_is_used",
        ANSWER + "test_what_the_owner_says_goes_before_what_the_endpoint_says",
        ANSWER + "test_no_token_is_used_longer_than_it_lives_less_the_margin",
    ),
    31: (
        FLIGHT + "test_owners_never_share_a_token",
        SILENCE + "test_a_sealed_token_opens_only_for_its_owner_its_key_and_its_fetch",
    ),
    32: (
        FLIGHT + "test_fifty_tools_at_once_fetch_one_token",
        FLIGHT + "test_two_instances_fetch_one_token",
        LOGIN + "test_many_calls_and_executions_at_once_share_one_token",
    ),
    33: (
        AGAIN + "test_a_second_401_is_the_answer",
        LOGIN + "test_a_token_that_is_no_good_any_more_is_fetched_anew_and_the_call_sent_once_more",
    ),
    34: (
        EMBEDDED + "test_a_token_is_fetched_once_for_many_calls_and_is_redacted",
        SILENCE + "test_nothing_of_a_token_is_logged_or_shown",
        LOGIN + "test_a_login_that_fails_is_told_without_what_was_sent",
        WIRE + "test_the_body_of_an_error_is_redacted_before_it_is_cut",
    ),
    35: (
        LOGIN + "test_many_calls_and_executions_at_once_share_one_token",
        EMBEDDED + "test_a_variable_that_comes_back_is_redacted",
        WIRE + "test_the_body_of_an_error_is_redacted_before_it_is_cut",
    ),
    36: (
        WIRE + "test_a_secret_goes_into_the_header_that_names_it_and_nowhere_else",
        STORY + "test_a_declared_tool_is_called_with_its_secret_and_no_record_shows_it",
    ),
    37: (
        "loop/test_spans.py::test_an_answer_that_is_an_error_by_its_declaration_is_one_by_its_status",
        "loop/test_spans.py::test_a_call_tells_what_came_of_it_and_a_refusal_is_an_error_by_its_rule",
        "telemetry/test_traces.py::test_what_was_said_is_kept_only_where_it_is_asked_for",
    ),
    38: (
        WIRE + "test_the_body_of_an_error_is_redacted_before_it_is_cut",
        STORY + "test_an_answer_that_is_not_2xx_is_an_error",
        "loop/test_run.py::test_an_error_result_is_told_as_an_error_and_the_loop_goes_on",
    ),
    39: (
        WIRE + "test_what_is_not_2xx_is_an_error_with_its_body",
        WIRE + "test_a_status_that_is_declared_to_be_none_is_no_error",
        "loop/test_run.py::test_an_answer_that_is_an_error_by_its_declaration_is_told_as_one",
    ),
    40: (WIRE + "test_it_is_over_after_thirty_seconds_like_any_call",),
}

DECIDED: dict[int, Decision] = {
    6: Decision(
        why="A name that is taken is refused with its place where the owner wrote it, and gets a number where a document did; "
        "a prefix would have the model call a tool by a name that nobody wrote.",
        file=PAGE,
        words="at most 64, no built-in tool's",
    ),
    14: Decision(
        why="A space in the query is %20 and not +: whoever decodes a form reads both alike, and whoever decodes a URI only "
        "the first.",
        file=PAGE,
        words="weather?city=S%C3%A3o%20Paulo&units=metric",
    ),
    16: Decision(
        why="A variable that is not set is refused before any call, as a secret that is not stored is, and does not read as "
        "nothing: it is a credential, and without it another request would go out than the owner wrote.",
        file=PAGE,
        words="So it has to be set",
    ),
    34: Decision(
        why="The mark names the credential, as for any other call, so that the model can tell what was taken out. No value is "
        "too short to be redacted, since none under 16 characters is taken.",
        file=PAGE,
        words="searched for the task's credentials (`[redacted:NAME]`)",
    ),
    37: Decision(
        why="The span is called by OpenTelemetry's names for agents, as the others are, and so are its attributes: its "
        "duration is the span's own, and the body stands in it only where content is asked for.",
        file="README.md",
        words="spans by OpenTelemetry's GenAI names (`invoke_agent`, `chat`, `execute_tool`)",
    ),
}

TABLE = Table(seed=1, lines=range(1, 41), proofs=PROOFS, decided=DECIDED)
