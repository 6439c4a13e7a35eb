"""The methods of the client that is awaited, one for each route."""

from __future__ import annotations

from ferryman.client.methods import async_method, async_pager
from ferryman.client.routes import (
    account,
    agents,
    catalog,
    conversations,
    credentials,
    executions,
    files,
    imports,
    jobs,
    people,
    tasks,
    tools,
    workspaces,
)


class AsyncMethods:
    """What `AsyncClient` can do beside sending."""

    create_task = async_method(tasks.create_task)
    list_tasks = async_method(tasks.list_tasks)
    iterate_tasks = async_pager(tasks.list_tasks)
    get_task = async_method(tasks.get_task)
    change_task = async_method(tasks.change_task)
    delete_task = async_method(tasks.delete_task)
    set_credential = async_method(credentials.set_credential)
    begin_connection = async_method(credentials.begin_connection)
    finish_connection = async_method(credentials.finish_connection)
    list_credentials = async_method(credentials.list_credentials)
    iterate_credentials = async_pager(credentials.list_credentials)
    delete_credential = async_method(credentials.delete_credential)
    start_execution = async_method(executions.start_execution)
    list_executions = async_method(executions.list_executions)
    iterate_executions = async_pager(executions.list_executions)
    get_execution = async_method(executions.get_execution)
    cancel_execution = async_method(executions.cancel_execution)
    list_calls = async_method(executions.list_calls)
    iterate_calls = async_pager(executions.list_calls)
    list_receipts = async_method(executions.list_receipts)
    iterate_receipts = async_pager(executions.list_receipts)
    list_receipt_keys = async_method(executions.list_receipt_keys)
    get_record = async_method(executions.get_record)
    list_custom_tools = async_method(tools.list_custom_tools)
    iterate_custom_tools = async_pager(tools.list_custom_tools)
    import_tools = async_method(tools.import_tools)
    delete_tool = async_method(tools.delete_tool)
    delete_cluster = async_method(tools.delete_cluster)
    list_integrations = async_method(catalog.list_integrations)
    iterate_integrations = async_pager(catalog.list_integrations)
    list_tools = async_method(catalog.list_tools)
    iterate_tools = async_pager(catalog.list_tools)
    list_agent_templates = async_method(catalog.list_agent_templates)
    iterate_agent_templates = async_pager(catalog.list_agent_templates)
    list_plans = async_method(catalog.list_plans)
    iterate_plans = async_pager(catalog.list_plans)
    list_models = async_method(catalog.list_models)
    iterate_models = async_pager(catalog.list_models)
    set_halt = async_method(account.set_halt)
    get_ledger = async_method(account.get_ledger)
    get_usage = async_method(account.get_usage)
    get_budget = async_method(account.get_budget)
    list_alerts = async_method(account.list_alerts)
    iterate_alerts = async_pager(account.list_alerts)
    get_me = async_method(account.get_me)
    create_agent = async_method(agents.create_agent)
    list_agents = async_method(agents.list_agents)
    iterate_agents = async_pager(agents.list_agents)
    get_agent = async_method(agents.get_agent)
    change_agent = async_method(agents.change_agent)
    archive_agent = async_method(agents.archive_agent)
    restore_agent = async_method(agents.restore_agent)
    delete_agent = async_method(agents.delete_agent)
    list_policy = async_method(agents.list_policy)
    iterate_policy = async_pager(agents.list_policy)
    create_conversation = async_method(conversations.create_conversation)
    list_conversations = async_method(conversations.list_conversations)
    iterate_conversations = async_pager(conversations.list_conversations)
    get_conversation = async_method(conversations.get_conversation)
    rename_conversation = async_method(conversations.rename_conversation)
    delete_conversation = async_method(conversations.delete_conversation)
    list_messages = async_method(conversations.list_messages)
    iterate_messages = async_pager(conversations.list_messages)
    create_message = async_method(conversations.create_message)
    create_answer = async_method(conversations.create_answer)
    cancel_answers = async_method(conversations.cancel_answers)
    create_workspace = async_method(workspaces.create_workspace)
    list_workspaces = async_method(workspaces.list_workspaces)
    iterate_workspaces = async_pager(workspaces.list_workspaces)
    get_workspace = async_method(workspaces.get_workspace)
    change_workspace = async_method(workspaces.change_workspace)
    archive_workspace = async_method(workspaces.archive_workspace)
    restore_workspace = async_method(workspaces.restore_workspace)
    delete_workspace = async_method(workspaces.delete_workspace)
    begin_import = async_method(imports.begin_import)
    get_import = async_method(imports.get_import)
    put_import_file = async_method(imports.put_import_file)
    list_files = async_method(files.list_files)
    iterate_files = async_pager(files.list_files)
    put_file = async_method(files.put_file)
    delete_file = async_method(files.delete_file)
    get_file_link = async_method(files.get_file_link)
    create_direct_link = async_method(files.create_direct_link)

    list_jobs = async_method(jobs.list_jobs)
    iterate_jobs = async_pager(jobs.list_jobs)
    get_job = async_method(jobs.get_job)
    get_deletion_receipt = async_method(jobs.get_deletion_receipt)
    list_members = async_method(people.list_members)
    iterate_members = async_pager(people.list_members)
    get_member = async_method(people.get_member)
    change_member = async_method(people.change_member)
    delete_member = async_method(people.delete_member)
    create_invitation = async_method(people.create_invitation)
    list_invitations = async_method(people.list_invitations)
    iterate_invitations = async_pager(people.list_invitations)
    delete_invitation = async_method(people.delete_invitation)
    join_workspace = async_method(people.join_workspace)
    create_key = async_method(people.create_key)
    list_keys = async_method(people.list_keys)
    iterate_keys = async_pager(people.list_keys)
    delete_key = async_method(people.delete_key)
    list_audit_entries = async_method(people.list_audit_entries)
    iterate_audit_entries = async_pager(people.list_audit_entries)
