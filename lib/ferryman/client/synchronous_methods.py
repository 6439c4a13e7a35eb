"""The methods of the client that blocks, one for each route."""

from __future__ import annotations

from ferryman.client.methods import method, pager
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


class Methods:
    """What `Client` can do beside sending."""

    create_task = method(tasks.create_task)
    list_tasks = method(tasks.list_tasks)
    iterate_tasks = pager(tasks.list_tasks)
    get_task = method(tasks.get_task)
    change_task = method(tasks.change_task)
    delete_task = method(tasks.delete_task)
    set_credential = method(credentials.set_credential)
    begin_connection = method(credentials.begin_connection)
    finish_connection = method(credentials.finish_connection)
    list_credentials = method(credentials.list_credentials)
    iterate_credentials = pager(credentials.list_credentials)
    delete_credential = method(credentials.delete_credential)
    start_execution = method(executions.start_execution)
    list_executions = method(executions.list_executions)
    iterate_executions = pager(executions.list_executions)
    get_execution = method(executions.get_execution)
    cancel_execution = method(executions.cancel_execution)
    list_calls = method(executions.list_calls)
    iterate_calls = pager(executions.list_calls)
    list_receipts = method(executions.list_receipts)
    iterate_receipts = pager(executions.list_receipts)
    list_receipt_keys = method(executions.list_receipt_keys)
    get_record = method(executions.get_record)
    list_custom_tools = method(tools.list_custom_tools)
    iterate_custom_tools = pager(tools.list_custom_tools)
    import_tools = method(tools.import_tools)
    delete_tool = method(tools.delete_tool)
    delete_cluster = method(tools.delete_cluster)
    list_integrations = method(catalog.list_integrations)
    iterate_integrations = pager(catalog.list_integrations)
    list_tools = method(catalog.list_tools)
    iterate_tools = pager(catalog.list_tools)
    list_agent_templates = method(catalog.list_agent_templates)
    iterate_agent_templates = pager(catalog.list_agent_templates)
    list_plans = method(catalog.list_plans)
    iterate_plans = pager(catalog.list_plans)
    list_models = method(catalog.list_models)
    iterate_models = pager(catalog.list_models)
    set_halt = method(account.set_halt)
    get_ledger = method(account.get_ledger)
    get_usage = method(account.get_usage)
    get_budget = method(account.get_budget)
    list_alerts = method(account.list_alerts)
    iterate_alerts = pager(account.list_alerts)
    get_me = method(account.get_me)
    create_agent = method(agents.create_agent)
    list_agents = method(agents.list_agents)
    iterate_agents = pager(agents.list_agents)
    get_agent = method(agents.get_agent)
    change_agent = method(agents.change_agent)
    archive_agent = method(agents.archive_agent)
    restore_agent = method(agents.restore_agent)
    delete_agent = method(agents.delete_agent)
    list_policy = method(agents.list_policy)
    iterate_policy = pager(agents.list_policy)
    create_conversation = method(conversations.create_conversation)
    list_conversations = method(conversations.list_conversations)
    iterate_conversations = pager(conversations.list_conversations)
    get_conversation = method(conversations.get_conversation)
    rename_conversation = method(conversations.rename_conversation)
    delete_conversation = method(conversations.delete_conversation)
    list_messages = method(conversations.list_messages)
    iterate_messages = pager(conversations.list_messages)
    create_message = method(conversations.create_message)
    create_answer = method(conversations.create_answer)
    cancel_answers = method(conversations.cancel_answers)
    create_workspace = method(workspaces.create_workspace)
    list_workspaces = method(workspaces.list_workspaces)
    iterate_workspaces = pager(workspaces.list_workspaces)
    get_workspace = method(workspaces.get_workspace)
    change_workspace = method(workspaces.change_workspace)
    archive_workspace = method(workspaces.archive_workspace)
    restore_workspace = method(workspaces.restore_workspace)
    delete_workspace = method(workspaces.delete_workspace)
    begin_import = method(imports.begin_import)
    get_import = method(imports.get_import)
    put_import_file = method(imports.put_import_file)
    list_files = method(files.list_files)
    iterate_files = pager(files.list_files)
    put_file = method(files.put_file)
    delete_file = method(files.delete_file)
    get_file_link = method(files.get_file_link)
    create_direct_link = method(files.create_direct_link)

    list_jobs = method(jobs.list_jobs)
    iterate_jobs = pager(jobs.list_jobs)
    get_job = method(jobs.get_job)
    get_deletion_receipt = method(jobs.get_deletion_receipt)
    list_members = method(people.list_members)
    iterate_members = pager(people.list_members)
    get_member = method(people.get_member)
    change_member = method(people.change_member)
    delete_member = method(people.delete_member)
    create_invitation = method(people.create_invitation)
    list_invitations = method(people.list_invitations)
    iterate_invitations = pager(people.list_invitations)
    delete_invitation = method(people.delete_invitation)
    join_workspace = method(people.join_workspace)
    create_key = method(people.create_key)
    list_keys = method(people.list_keys)
    iterate_keys = pager(people.list_keys)
    delete_key = method(people.delete_key)
    list_audit_entries = method(people.list_audit_entries)
    iterate_audit_entries = pager(people.list_audit_entries)
