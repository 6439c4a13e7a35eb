"""Seed 003, the page of tool calling: its lines on imported APIs, the tests that prove each, and what was decided of it."""

from __future__ import annotations

from tests.house.proofs import Decision, Table

OPERATIONS = "openapi/test_operations.py::"
SERVERS = "openapi/test_servers.py::"
SWAGGER = "openapi/test_swagger.py::"
REFERENCES = "openapi/test_references.py::"
REQUEST = "declared/test_request.py::"
WIRE = "egress/test_declared.py::"
API = "serving/test_custom.py::"
CLI = "cli/test_tools.py::"
STORY = "journeys/test_custom_tools.py::"
DOORS = "doors/test_clusters.py::"
README = "journeys/test_readme.py::test_an_api_becomes_tools_as_typed"
PAGE = "docs/tools.md"

PROOFS: dict[int, tuple[str, ...]] = {
    45: (
        SWAGGER + "test_the_pet_store_has_twenty_operations",
        OPERATIONS + "test_versions_three_nought_and_three_one_are_read",
        OPERATIONS + "test_methods_that_no_tool_has_are_left_out",
    ),
    46: (
        API + "test_an_import_by_url_answers_the_tools_it_made",
        CLI + "test_an_import_tells_how_many_tools_it_made_how_many_are_disabled_why_and_what_they_cost",
        README,
    ),
    47: (
        OPERATIONS + "test_the_cluster_is_the_title_where_none_is_named",
        API + "test_the_cluster_is_called_as_the_document_where_none_is_named",
    ),
    48: (API + "test_an_import_by_url_answers_the_tools_it_made",),
    49: (STORY + "test_an_imported_tool_is_called_in_the_same_execution",),
    50: (SWAGGER + "test_the_pet_store_has_twenty_operations", README),
    51: (
        SWAGGER + "test_a_pet_is_looked_up_by_its_number",
        SWAGGER + "test_a_pet_is_looked_up_by_what_its_number_is_usually_called",
        REQUEST + "test_no_other_argument_stands_for_a_name_of_the_path",
        STORY + "test_an_imported_tool_is_called_in_the_same_execution",
        OPERATIONS + "test_the_operation_id_made_to_fit_is_the_name",
        OPERATIONS + "test_names_are_told_apart_by_a_number",
    ),
    52: (
        API + "test_a_cluster_is_deleted_with_all_its_tools_and_no_other",
        STORY + "test_a_deleted_cluster_is_gone_for_the_next_call",
        DOORS + "test_a_cluster_goes_with_all_its_tools",
    ),
    53: (CLI + "test_the_tools_of_a_task_are_listed_by_cluster",),
    54: (CLI + "test_the_tools_of_a_task_are_listed_by_cluster",),
    55: (
        API + "test_a_tool_is_shown_with_its_base_url_and_its_path",
        SERVERS + "test_a_server_is_taken_as_its_url_says",
        OPERATIONS + "test_parameters_go_where_they_are_declared",
    ),
    56: (
        OPERATIONS + "test_parameters_go_where_they_are_declared",
        OPERATIONS + "test_a_value_does_not_leave_its_segment",
    ),
    57: (
        OPERATIONS + "test_parameters_go_where_they_are_declared",
        OPERATIONS + "test_what_is_declared_for_the_query_goes_there_for_every_method",
    ),
    58: (OPERATIONS + "test_get_delete_and_head_send_no_body",),
    59: (
        OPERATIONS + "test_fields_of_a_body_are_arguments",
        OPERATIONS + "test_what_is_declared_for_the_query_goes_there_for_every_method",
        OPERATIONS + "test_get_delete_and_head_send_no_body",
        OPERATIONS + "test_parameters_go_where_they_are_declared",
        WIRE + "test_a_body_goes_out_as_its_type_says",
    ),
    61: (
        REFERENCES + "test_parameters_bodies_and_path_items_are_referred_to",
        REFERENCES + "test_other_documents_are_asked_for_one_after_the_other",
        SERVERS + "test_a_relative_server_starts_from_the_document",
        API + "test_importing_a_cluster_again_replaces_it",
        DOORS + "test_what_is_stored_again_replaces_all_that_was_there",
        "declared/test_texts.py::test_a_text_that_is_too_long_is_not_read",
        "openapi/test_hostile.py::test_a_document_has_a_budget_of_schemas",
        SWAGGER + "test_a_body_that_is_a_list_is_one_argument",
        SWAGGER + "test_a_body_is_said_field_by_field",
        OPERATIONS + "test_any_other_body_is_one_argument",
    ),
    108: (
        API + "test_a_chat_is_told_name_description_and_parameters_of_each_tool",
        API + "test_a_chat_is_not_told_of_a_tool_that_is_disabled",
    ),
}

DECIDED: dict[int, Decision] = {
    45: Decision(
        why="OPTIONS and TRACE ask about a server and do nothing that an agent is for; the import notes that they are left "
        "out. YAML and Swagger 2.0 are read, too: the page's own example is one.",
        file=PAGE,
        words="but for `OPTIONS` and `TRACE`",
    ),
    46: Decision(
        why="There is no page in a browser: the steps of importing are one command and its options.",
        file=PAGE,
        words="They are one cluster, named by `--cluster` or the document's title",
    ),
    51: Decision(
        why="`id` is taken for `petId`, as the page's example has it, but not any unknown argument for any missing one: a flag "
        "that an operation does not have must not become the number of what is deleted.",
        file=PAGE,
        words="`id` is taken for `petId` where that is the one name of the path that was not said",
    ),
    53: Decision(
        why="The sections are those of the command's list, where nothing collapses; there is no page in a browser.",
        file="lib/ferryman/cli/tools.py",
        words="A cluster as the page of tools has it (S3-53, S3-54)",
    ),
    60: Decision(
        why="Words in messages enable nothing: a task enables its tools one by one, as seed 000 has it (S0-3), and nobody "
        "chats with it. What does not fit into a prompt is named to the model, whatever was said.",
        file=PAGE,
        words="Tools are enabled one by one in a task's `tools`",
    ),
}

TABLE = Table(seed=3, lines=(*range(45, 62), 108), proofs=PROOFS, decided=DECIDED)
