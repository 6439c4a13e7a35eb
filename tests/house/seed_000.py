"""Seed 000, the page of the tools: each of its lines, and the tests that prove it."""

from __future__ import annotations

from tests.house.proofs import Table

BUILTIN = "tools/test_builtin.py::"
REGISTRY = "tools/test_registry.py::"
GATE = "egress/test_gate.py::"
EVERY = "egress/test_every_tool.py::"
HEADERS = "egress/test_headers.py::"
PIN = "egress/test_pin.py::"
WIRE = "egress/test_transport.py::"
FRAME = "egress/test_sanitize.py::"
OUT = "egress/leaks/test_outbound.py::"
URL = "domain/test_url.py::"
HOST = "domain/test_host.py::"
ADDRESS = "domain/test_address.py::"
RATE = "domain/test_rate.py::"
PLAN = "domain/test_plan.py::"
CALL = "domain/test_call.py::"
SAID = "domain/test_refusal.py::"
TASK = "domain/test_task.py::"
KEY = "domain/test_credential.py::"
RUN = "loop/test_run.py::"
LIMITS = "loop/test_limits.py::"
OPENING = "loop/test_opening.py::"
SCAN = "loop/test_scan.py::"
API_TASKS = "serving/test_tasks.py::"
API_KEYS = "serving/test_credentials.py::"
CATALOG = "catalog/test_catalog.py::"
STORY = "journeys/"
DOCS = "house/test_documents.py::"
CARRY = "tools/test_carry.py::"
WORDS = "test_the_sentence_stands_word_for_word"

PROOFS: dict[int, tuple[str, ...]] = {
    1: (BUILTIN + "test_there_are_exactly_four",),
    2: (
        EVERY + "test_a_name_with_a_private_address_is_refused_at_every_call",
        EVERY + "test_a_key_in_the_request_is_refused_and_logged",
    ),
    3: (
        REGISTRY + "test_a_tool_the_task_did_not_enable_is_answered_and_not_handled",
        REGISTRY + "test_an_empty_list_enables_nothing",
        CARRY + "test_a_tool_outside_the_remit_is_not_carried_whoever_asks",
    ),
    4: (BUILTIN + "test_the_definition_of_api_call_stands_word_for_word",),
    5: (BUILTIN + "test_http_get_only_gets_and_carries_no_credential",),
    6: (BUILTIN + "test_the_posting_tools_post_their_body_and_carry_no_credential",),
    7: (
        BUILTIN + "test_the_posting_tools_post_their_body_and_carry_no_credential",
        STORY + "test_webhook.py::test_a_registered_webhook_receives_the_body_as_json",
    ),
    8: (DOCS + "test_the_page_of_the_tools_has_a_row_for_each",),
    9: (STORY + "test_credentials.py::test_a_bearer_credential_arrives_in_the_authorization_header",),
    10: (SCAN + "test_the_names_of_the_credentials_are_told_and_nothing_else_of_them",),
    11: (REGISTRY + "test_a_definition_has_exactly_name_description_and_input_schema",),
    **dict.fromkeys((12, 14, 15, 19), (BUILTIN + "test_the_definition_of_api_call_stands_word_for_word",)),
    13: (
        BUILTIN + "test_a_method_outside_the_enum_is_refused_with_the_allowed_ones",
        BUILTIN + "test_a_method_is_read_in_any_case",
    ),
    16: (HEADERS + "test_any_other_is_refused", HEADERS + "test_bearer_stands_in_authorization"),
    17: (BUILTIN + "test_a_body_is_ignored_where_the_method_carries_none", HEADERS + "test_a_body_is_json_and_a_get_has_none"),
    18: (HEADERS + "test_parameters_are_appended_scalars_as_text_lists_repeated_null_left_out",),
    20: (
        STORY + "test_credentials.py::test_a_bearer_credential_arrives_in_the_authorization_header",
        "vault/test_seal.py::test_a_credential_moved_renamed_rolled_back_or_re_aimed_does_not_open",
    ),
    21: (HEADERS + "test_bearer_stands_in_authorization", CATALOG + "test_a_service_is_called_as_its_documentation_says"),
    22: (HEADERS + "test_a_header_credential_stands_raw_in_its_header", KEY + "test_a_header_credential_needs_its_header"),
    23: (
        HEADERS + "test_a_parameter_credential_stands_last",
        HEADERS + "test_a_parameter_credential_stands_alone",
        API_KEYS + "test_a_query_parameter_without_a_name_gets_the_default_one",
    ),
    24: (API_KEYS + "test_a_credential_is_refused_with_the_field_and_the_rule",),
    25: (
        SCAN + "test_the_names_of_the_credentials_are_told_and_nothing_else_of_them",
        STORY + "test_credentials.py::test_an_echoed_credential_is_redacted_for_the_model_and_in_the_record",
    ),
    26: (OPENING + "test_the_safety_preamble_stands_before_the_tasks_own_prompt",),
    **dict.fromkeys((27, 28, 29, 30), (GATE + "test_of_several_faults_the_first_in_the_order_wins",)),
    31: (
        GATE + "test_the_answer_comes_back_framed_and_the_key_only_went_out",
        GATE + "test_a_parameter_credential_is_not_in_the_record",
    ),
    32: (
        GATE + "test_a_private_address_is_refused_after_all_else",
        PIN + "test_in_ten_thousand_schedules_nothing_unvalidated_is_dialled",
    ),
    33: (
        WIRE + "test_the_host_header_is_the_name_and_the_path_goes_out_as_judged",
        WIRE + "test_a_certificate_for_another_name_gets_no_request",
    ),
    34: (
        EVERY + "test_an_answer_larger_than_the_plan_is_cut_and_its_raw_size_told",
        EVERY + "test_the_answer_is_framed_and_measured",
    ),
    35: (LIMITS + "test_the_limit_is_checked_before_the_arguments_are_even_read",),
    **dict.fromkeys((36, 44, 53, 63), (DOCS + "test_every_example_is_read_by_its_tool",)),
    37: (EVERY + "test_the_answer_is_framed_and_measured",),
    **dict.fromkeys((38, 47, 56), (BUILTIN + "test_the_other_schemas_ask_for_what_the_tool_needs",)),
    39: (EVERY + "test_a_plain_http_url_is_refused", EVERY + "test_a_host_nobody_approved_is_refused"),
    40: (EVERY + "test_a_name_with_a_private_address_is_refused_at_every_call",),
    41: (EVERY + "test_only_the_authenticated_tool_carries_the_key",),
    42: (EVERY + "test_an_answer_larger_than_the_plan_is_cut_and_its_raw_size_told",),
    43: (BUILTIN + "test_http_get_only_gets_and_carries_no_credential",),
    45: (EVERY + "test_a_key_in_the_request_is_refused_and_logged",),
    46: (EVERY + "test_a_body_is_sent_as_json",),
    48: (EVERY + "test_a_plain_http_url_is_refused", EVERY + "test_a_host_nobody_approved_is_refused"),
    49: (EVERY + "test_a_name_with_a_private_address_is_refused_at_every_call",),
    50: (EVERY + "test_a_body_is_sent_as_json",),
    51: (EVERY + "test_only_the_authenticated_tool_carries_the_key",),
    52: (EVERY + "test_the_answer_is_framed_and_measured",),
    **dict.fromkeys((54, 55, 57, 58), (GATE + "test_a_webhook_answers_to_what_the_task_registered",)),
    59: (
        TASK + "test_a_fourth_webhook_url_is_refused_with_the_limit_named",
        API_TASKS + "test_a_task_is_refused_with_the_field_and_the_limit",
    ),
    60: (TASK + "test_a_fault_is_named_by_its_field",),
    61: (
        API_TASKS + "test_a_task_is_refused_with_the_field_and_the_limit",
        API_TASKS + "test_a_webhook_at_a_public_host_is_stored",
    ),
    62: (EVERY + "test_a_name_with_a_private_address_is_refused_at_every_call",),
    64: (EVERY + "test_a_body_is_sent_as_json", GATE + "test_a_webhook_answers_to_what_the_task_registered"),
    65: (EVERY + "test_a_name_with_a_private_address_is_refused_at_every_call",),
    66: (PIN + "test_in_ten_thousand_schedules_nothing_unvalidated_is_dialled",),
    67: (
        PIN + "test_as_many_answers_as_allowed_are_taken_and_one_more_is_refused",
        PIN + "test_failover_goes_to_the_next_validated_address",
    ),
    68: (ADDRESS + "test_what_is_not_the_public_internet_is_refused",),
    69: (PIN + "test_failover_goes_to_the_next_validated_address", PIN + "test_a_connection_to_another_peer_is_closed"),
    70: (WIRE + "test_the_host_header_is_the_name_and_the_path_goes_out_as_judged",),
    71: (WIRE + "test_a_certificate_for_another_name_gets_no_request",),
    72: (
        PIN + "test_a_connection_to_another_peer_is_closed",
        PIN + "test_in_ten_thousand_schedules_nothing_unvalidated_is_dialled",
    ),
    73: (WIRE + "test_a_redirect_is_an_answer_and_is_not_followed", WIRE + "test_the_environment_has_no_say"),
    74: (EVERY + "test_a_host_nobody_approved_is_refused",),
    75: (EVERY + "test_a_plain_http_url_is_refused",),
    76: (EVERY + "test_a_name_with_a_private_address_is_refused_at_every_call",),
    77: (HOST + "test_a_pattern_covers_itself_or_exactly_one_more_label", URL + "test_anything_else_is_refused"),
    78: (EVERY + "test_a_host_nobody_approved_is_refused",),
    79: (RUN + "test_an_error_result_is_told_as_an_error_and_the_loop_goes_on",),
    80: (CATALOG + "test_at_least_eighteen_services_are_shipped",),
    **dict.fromkeys(range(81, 91), (ADDRESS + "test_what_is_not_the_public_internet_is_refused",)),
    91: (EVERY + "test_a_name_that_does_not_resolve_is_refused",),
    92: (LIMITS + "test_the_limits_hold_over_an_interruption",),
    93: (
        RATE + "test_guru_admits_twenty_calls_an_execution_and_refuses_the_twenty_first",
        RATE + "test_pro_admits_fifty_calls_an_execution_and_refuses_the_fifty_first",
    ),
    94: (
        RATE + "test_guru_admits_ten_calls_a_minute_and_refuses_the_eleventh",
        RATE + "test_pro_admits_twenty_calls_a_minute_and_refuses_the_twenty_first",
    ),
    95: (PLAN + "test_the_plan_has_the_limits_of_the_specification",),
    96: (LIMITS + "test_an_unknown_tool_does_not_count", RATE + "test_a_refused_call_is_not_counted"),
    97: (LIMITS + "test_a_limit_does_not_end_the_execution",),
    98: (RATE + "test_the_window_resets_only_when_more_than_sixty_seconds_have_passed_since_its_first_call",),
    99: (PLAN + "test_only_guru_and_pro_can_run_tasks", RUN + "test_a_plan_that_cannot_run_tasks_fails_the_execution"),
    100: (REGISTRY + "test_the_built_in_tools_are_registered_at_the_start",),
    101: (REGISTRY + "test_a_definition_has_exactly_name_description_and_input_schema",),
    102: (REGISTRY + "test_a_call_is_handed_to_its_handler",),
    103: (REGISTRY + "test_a_definition_has_exactly_name_description_and_input_schema",),
    104: (BUILTIN + "test_the_other_schemas_ask_for_what_the_tool_needs",),
    105: (REGISTRY + "test_a_tool_that_requires_a_service_is_shown_only_with_its_credential",),
    106: (REGISTRY + "test_only_what_the_task_enabled_is_shown_in_registry_order",),
    107: (REGISTRY + "test_a_name_is_registered_once",),
    108: (REGISTRY + "test_a_call_is_handed_to_its_handler", RUN + "test_every_result_is_in_the_audit_list"),
    109: (RUN + "test_calls_of_one_turn_are_carried_one_after_the_other",),
    110: (
        RUN + "test_the_results_of_a_turn_are_what_the_model_reads_next_in_call_order",
        RUN + "test_every_result_is_in_the_audit_list",
    ),
    111: (
        CALL + "test_an_authenticated_call_that_was_not_blocked_costs_half_a_credit",
        RUN + "test_an_authenticated_call_costs_half_a_credit_on_top_of_the_tokens",
    ),
    112: (CALL + "test_the_other_tools_are_free",),
    113: (CALL + "test_a_blocked_call_is_free", CALL + "test_a_timed_out_call_was_sent_and_costs_half_a_credit"),
    **dict.fromkeys(
        (114, 117, 119),
        (
            CALL + "test_a_result_is_a_dataclass_of_the_ten_fields_in_their_order",
            GATE + "test_the_answer_comes_back_framed_and_the_key_only_went_out",
        ),
    ),
    115: (EVERY + "test_the_answer_is_framed_and_measured",),
    116: (GATE + "test_a_parameter_credential_is_not_in_the_record",),
    118: (EVERY + "test_only_the_authenticated_tool_carries_the_key",),
    120: (EVERY + "test_an_answer_larger_than_the_plan_is_cut_and_its_raw_size_told",),
    121: (EVERY + "test_the_answer_is_framed_and_measured",),
    **dict.fromkeys(
        (122, 123),
        (
            CALL + "test_a_blocked_result_carries_its_reason_and_one_that_merely_failed_has_none",
            SAID + "test_the_sentence_stands_word_for_word",
        ),
    ),
    124: (
        RUN + "test_every_result_is_in_the_audit_list",
        RUN + "test_a_fault_amid_the_calls_still_counts_those_that_were_sent",
        GATE + "test_whatever_the_model_writes_is_a_result",
    ),
    125: (RUN + "test_the_audit_list_ends_at_fifty_and_the_count_goes_on",),
    126: (STORY + "test_secrecy.py::test_the_demo_finds_the_planted_key_nowhere_but_in_the_upstreams_header",),
    127: (WIRE + "test_a_body_longer_than_the_plan_is_cut", FRAME + "test_a_body_is_decoded_by_a_short_list_of_charsets"),
    128: (FRAME + "test_there_is_one_frame_whatever_the_body", FRAME + "test_an_imitation_of_the_frame_does_not_stand"),
    129: (FRAME + "test_fifty_thousand_characters_stay_and_one_more_is_cut",),
    130: (
        FRAME + "test_a_body_that_grows_by_taming_is_cut_again",
        FRAME + "test_fifty_thousand_characters_stay_and_one_more_is_cut",
    ),
    131: (RUN + "test_an_error_result_is_told_as_an_error_and_the_loop_goes_on",),
    132: (SAID + WORDS, STORY + "test_refusals.py::test_a_domain_of_no_approved_integration_is_refused"),
    133: (SAID + WORDS, STORY + "test_refusals.py::test_a_call_without_its_credential_is_refused"),
    134: (SAID + WORDS, STORY + "test_refusals.py::test_a_credential_that_is_not_stored_is_refused"),
    135: (SAID + WORDS, EVERY + "test_a_key_in_the_request_is_refused_and_logged"),
    136: (SAID + WORDS, EVERY + "test_a_name_with_a_private_address_is_refused_at_every_call"),
    137: (SAID + WORDS, LIMITS + "test_the_twenty_first_call_of_an_execution_is_answered_by_guru_with_the_limit"),
    138: (SAID + WORDS, EVERY + "test_a_request_that_takes_too_long_says_so"),
    139: (SAID + WORDS, LIMITS + "test_an_unknown_tool_does_not_count"),
    140: (SAID + WORDS, GATE + "test_a_webhook_answers_to_what_the_task_registered"),
    141: (SAID + WORDS, STORY + "test_webhook.py::test_a_webhook_that_is_not_registered_gets_nothing"),
    143: (SAID + WORDS, WIRE + "test_a_dead_address_is_a_failed_request"),
    142: (GATE + "test_the_error_of_an_upstream_is_its_body", RUN + "test_a_targets_own_error_is_an_ordinary_result"),
}

TABLE = Table(seed=0, lines=range(1, 144), proofs=PROOFS)
