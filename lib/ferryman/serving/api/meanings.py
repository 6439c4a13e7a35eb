"""What the OpenAPI document says beside the shapes: of each tag, operation and path parameter, and examples of bodies."""

from __future__ import annotations

from typing import Any

TAGS = {
    "tasks": "What an agent is to do, with which model, tools and services, and when.",
    "credentials": "The keys that a task's calls are made with. A value goes in, and no route gives it back.",
    "executions": "The runs of a task: started, watched, cancelled, and accounted for to the last call.",
    "approvals": "Calls that wait for a person: exactly what each would send, and what is decided about it.",
    "conversations": "What people and agents say to each other, in branches of messages that never change.",
    "MCP servers": "Servers of strangers whose tools an agent may call, once a person has accepted each as it is.",
    "agents": "Named models with a prompt of their own, and the tools that they may call, in a workspace.",
    "workspaces": "Closed parts of what an owner has: nothing in one is seen, counted or used from another.",
    "people": "Who is in a workspace, as what, with which API keys, and who changed what.",
    "files": "What tasks and people keep in a workspace: listed, downloaded, stored and deleted by key.",
    "jobs": "Long work on what an owner has, done in the background: how far it is, and what it deleted.",
    "kill switch": "Stops everything of an owner's at once.",
    "budgets": "Caps of credits in a month, and what is used and reserved of each.",
    "usage": "Calls, failures, durations and tokens by tool, model, agent and day.",
    "ledger": "Credits, as entries whose postings sum to zero.",
    "tables": "What this deployment offers: services, built-in tools, plans, models. These lists are whole.",
    "custom tools": "Tools that a task's owner declared, or imported from an OpenAPI document. These lists are whole.",
    "about": "What this is, and that it answers.",
}

OPERATIONS = {
    "createTask": "The plan sets the most for its limits. Tools that are declared in `tools` are stored with the task.",
    "listTasks": "A page of your tasks. None that is there all the while is left out or told twice.",
    "getTask": "The task as it is stored.",
    "changeTask": "What is left out stays. Executions under way go on with what they were opened with.",
    "deleteTask": "Executions that have not ended are stopped; their records stay.",
    "beginConnection": "Answers the page where the service's user consents (OAuth 2 with PKCE). It is good for ten minutes.",
    "finishConnection": "A key holder exchanges the code for a token and seals it. A code is good once.",
    "beginServerConnection": "Finds who authorizes for it, and answers the page where you consent, good for ten minutes.",
    "finishServerConnection": "A key holder exchanges the code for a token of the server's, and seals it. A code is good once.",
    "putCredential": "The value is sealed before it is stored. A value that it replaces is still scanned for, for a day.",
    "listCredentials": "All of them, at most 20, by name.",
    "deleteCredential": "Nothing is sent with its value any more, which is still scanned for, for a day.",
    "startExecution": "It is queued, not awaited: watch its events, or ask for its record.",
    "startCall": (
        "An execution that makes this call and asks no model: it passes the policy, limits and approvals of the task, and has "
        "receipts as any other. What the task does not enable is refused in its result. The arguments count as untrusted."
    ),
    "listTaskExecutions": "A page of the task's executions, by status and from a moment on if you like.",
    "listExecutions": "A page of your executions, by task, by status and from a moment on if you like.",
    "getExecution": "Its status, output, credits and latest calls.",
    "cancelExecution": "One that has not started ends at once. To cancel one that has ended changes nothing.",
    "getCall": "The call, with its result in full.",
    "listCalls": "A page of its calls, in the order in which they were journaled; without `details`, without what is large.",
    "listTurns": "A page of its turns, in order: what the model wrote, its tokens and credits, and which calls it asked for.",
    "getRecord": "All that is stored of it: setup, policy, turns, calls, events and ledger entries.",
    "listReceipts": "The whole chain, with the public keys, as `verify_receipts.py` reads it.",
    "listReceiptKeys": "By version, former ones too.",
    "listApprovals": "A page of the workspace's approvals, by state and by execution if you like; without their forms.",
    "getApproval": (
        "The form is what would be sent, with every secret named in the place of its value; `before` is what was approved last "
        "of the same tool, to compare with."
    ),
    "decideApproval": (
        "Binds the decision to the `digest` that was shown, signs it, and has the execution go on. The same decision again "
        "changes nothing; another one is answered 409, and 410 once the time to decide is over. The call is sent while its "
        "form is the same to the byte; otherwise a person is asked again."
    ),
    "listDecisionKeys": "By version: the newest one, and the one before while it is rotated.",
    "createStandingApproval": (
        "A call of the tool that it covers is sent without asking, until its time or its uses are over. It is signed, as "
        "decisions are."
    ),
    "listStandingApprovals": "All of the workspace, those that are over or revoked, too.",
    "deleteStandingApproval": "What was sent under it stays as it is; nothing more is.",
    "watchEvents": "Ends with the event `finished`. A stream that broke goes on behind `Last-Event-ID`.",
    "createWorkspace": "Only with the owner's own key. It is empty, and has a default agent.",
    "listWorkspaces": "With the owner's own key all of the owner's; with a person's, the one that the key is for.",
    "getWorkspace": "Its settings, and whether it is active or archived.",
    "changeWorkspace": "What is left out stays. An archived workspace is restored first.",
    "archiveWorkspace": "Only with the owner's own key. Executions under way go on; the default workspace is never archived.",
    "restoreWorkspace": "Only with the owner's own key. One that is active stays as it is.",
    "deleteWorkspace": (
        "Only with the owner's own key. It is not found from then on; a job deletes all that is in it. Asked for again, it "
        "answers the same job; the request must not name the deleted workspace in its header."
    ),
    "listMembers": "People with their roles. The owner is none of them, and may do everything with the owner's own key.",
    "getMember": "Their name is stored here alone: all else says their id.",
    "changeMember": "What is left out stays. It acts on their next request, whatever their API keys were made with.",
    "deleteMember": (
        "In one commit their membership, API keys, sessions and invitations end. A job ends the executions that they started, "
        "or hands them over to you. Everybody may leave; the last admin is removed by the owner alone. Asked for again, it "
        "answers the same job."
    ),
    "createInvitation": (
        "Good for seven days, and once, and only while who made it may still give what it gives. The token is shown this "
        "once, and nobody can ask for it again."
    ),
    "listInvitations": "Without their tokens.",
    "deleteInvitation": "Its token is good for nothing from then on.",
    "joinWorkspace": (
        "Needs no API key: the token says who may. With that of a person of the same owner, the person becomes a member "
        "of another workspace. Where the answer is lost, the same token with the same `secret` is answered with the same "
        "API key again, for as long as that is valid; with another one, or none, the invitation is gone."
    ),
    "createKey": "It has at most the rights, and the time, of the API key that asks. The key is shown this once.",
    "listKeys": "Without the keys themselves, of which only digests are stored.",
    "deleteKey": "Open event streams of it end within a second. One of your own, or anybody's with the right manage.",
    "createSignInLink": "Good for ten minutes, and once. Who opens it is in the console with the API key that made it, and its "
    "rights. The link is shown this once; of its code only a digest is stored.",
    "listSessions": "With the owner's own key, those of that key too, in whichever workspace they act.",
    "deleteSession": "One of your own, or anybody's in the workspace with the right manage.",
    "linkIdentity": "With an API key and an access token of the identity together: access tokens of it then act for you at "
    "`/mcp`, and nowhere else. The token is not stored. Its rights are at most those that you have to read and to run.",
    "listIdentities": "Each by the issuer and the subject of its access tokens.",
    "deleteIdentity": "One of your own, or anybody's with the right manage.",
    "listAuditEntries": "Each names the person, the API key, the operation and the ids: never what was written.",
    "createAgent": "A field that is left out is the template's, where there is one; what is given is not added to it.",
    "listAgents": "All of the workspace, the default one and archived ones, too.",
    "getAgent": "Its prompt, model, tools and settings of tools.",
    "changeAgent": "What is left out stays. Executions that have begun keep what they began with.",
    "archiveAgent": "Executions under way go on. The default agent is never archived.",
    "restoreAgent": "One that is active stays as it is.",
    "deleteAgent": (
        "It is not found from then on; a job deletes its executions and, if you say so, its tasks. Asked for again, it "
        "answers the same job."
    ),
    "createMcpServer": (
        "Its tools are listed at once by a key holder, and wait until a person accepts them; `state` says how that ended, and "
        "`detail` what to do next. Values are sealed before they are stored."
    ),
    "listMcpServers": "By name, with how many tools of each are accepted, new, changed, gone, refused and disabled.",
    "getMcpServer": "Where it is, how its requests are authenticated, and what it calls itself.",
    "changeMcpServer": (
        "A server with another `url` is another one: nothing of it is accepted any more, and it has to be connected again. "
        "Executions under way go on with what they began with, but call no tool that has changed since."
    ),
    "deleteMcpServer": "With its tools and its credentials, at once. Executions under way can no longer call it.",
    "listMcpTools": (
        "All texts in it are the server's own. Of one that has changed, `difference` says what, field by field, against what "
        "was accepted."
    ),
    "acceptMcpTools": (
        "Each by the `digest` of the descriptor that was read: where the server lists another one by now, nothing is accepted. "
        "A tool that was disabled is enabled so, too."
    ),
    "refreshMcpServer": "By a key holder, through the gate. New and changed tools wait until a person accepts them.",
    "getAgentPolicy": (
        "A tool may be called where task, agent, workspace, plan and catalog all allow it; `asks` says whether a "
        "person is asked."
    ),
    "listJobs": "With the owner's own key all of the owner's; with a person's, those of its workspace.",
    "getJob": "Its counts grow while it runs. Jobs stay when what they deleted is gone.",
    "getDeletionReceipt": "There is one once the deletion is done. `ferryman verify` verifies it offline.",
    "listFiles": "A page of the files whose keys begin with `prefix`, and how much of the workspace's bytes is used.",
    "getFile": (
        "Sent as an attachment that no browser shows or runs. `Range` asks for one part, `If-Range` for it of one "
        "version only; `If-None-Match` answers 304 where nothing changed."
    ),
    "putFile": (
        "At most 30 MiB, of any type. `If-Match` replaces one version, `If-None-Match: *` no file at all; 412 where that does "
        "not hold. 413 where the workspace has no room for it."
    ),
    "deleteFile": "`If-Match` deletes one version only; 412 where it is of another.",
    "getFileLink": (
        "Good for at most 15 minutes, for one version, and with the API key that asked for it, in the same workspace. A "
        "link that is changed, over or another's is answered 403."
    ),
    "createDirectLink": (
        "Good without an API key, for at most 15 minutes: the bucket's service sends the file itself, as an attachment that no "
        "browser shows. The history says who asked. 404 unless the operator allows such links."
    ),
    "exportWorkspace": (
        "Sent while it is read; the manifest, with the SHA-256 of every file, comes last, so that one that was cut short is "
        "found out. One at a time is made for an owner."
    ),
    "beginImport": (
        "Makes a workspace that nothing is started in until the last file is stored. Asked for again with the same digest, it "
        "answers the import that is not finished. Delete the workspace to give up."
    ),
    "getImport": "`following` is the number of the file to go on with.",
    "putImportFile": (
        "Each line is checked as any request is. The file that was stored last may be sent again; any other than the next one "
        "is refused. Agents, tasks, tools and ended executions get new ids; credentials have to be entered again."
    ),
    "haltExecutions": "What runs ends within two seconds, what waits never starts, and nothing new is started.",
    "resumeExecutions": "What was created before it was turned on, or meanwhile, stays ended.",
    "getLedger": "Tokens and fees in the workspace, the dearest first; by workspace, over all of the owner's.",
    "listAlerts": "One for each 50, 80 and 100 percent of a cap in a month, and for a cap that refuses an execution.",
    "getBudget": "A cap that is changed holds for the executions that begin after. A month ends at midnight UTC.",
    "getUsage": "A day is one of UTC. What is used is in here some seconds later; nothing in it is older than 400 days.",
    "getMe": "Your plan with its limits, and what is used, reserved and left of its credits.",
    "listIntegrations": "The catalog by id: where each service is, and how its credentials are sent.",
    "getIntegration": "Its entry in the catalog.",
    "listTools": "A task may enable those that are implemented; a task's own are listed under the task.",
    "listAgentTemplates": "Give the `id` of one when you create an agent; `waits_for` says what of it does not work yet.",
    "listPlans": "A credit is worth $0.001.",
    "listModels": "Prices are in US dollars for a million tokens.",
    "createConversation": "With the agent's chat task where no task is named; the default agent is the default.",
    "listConversations": "A page of the conversations of everybody in the workspace, by agent if you like.",
    "getConversation": "Its title, the end of the shown branch, and the answers that are waited for.",
    "changeConversation": "Its name is yours from then on: no model writes another title.",
    "deleteConversation": "A job deletes it, with its messages and the executions that answered in it.",
    "cancelAnswers": "What is written until then is kept, and marked as stopped. With `answer` only that one is stopped.",
    "watchConversation": "A stream that broke goes on behind `Last-Event-ID`. To leave it stops nothing.",
    "createChatMessage": "The id is an agent's, or a task's. An answer with `stream` false is waited for up to 50 seconds.",
    "listMessages": "Messages never change: an edit, or another answer, is a branch. One that is waited for is not among them.",
    "createMessage": "Messages that come while one is answered are answered after it, in their order, at most 20.",
    "createAnswer": "`message_number` is an answer's or a person's message. The new answer is a branch, which is shown.",
    "getHealth": "Asks nothing behind it, and needs no API key.",
    "getWelcome": "Needs no API key.",
    "listCustomTools": "Disabled ones too, with the reason.",
    "declareTool": "The body is a declaration of kind http; one of its name is replaced.",
    "importOpenapi": "Gives `url` or `spec`. A cluster of the same name is replaced; with `dry_run` nothing is stored.",
    "deleteTool": "Its id is its name.",
    "deleteCluster": "All tools of one import go at once.",
    "listChatTools": "Built-in tools that the task enables, and its own that are not disabled.",
}
"""By operationId."""

AGENT = (
    "The same as `{path}`, under the address that the tool-calling page gives it: a task is its agent. It stays; "
    "new clients use the other."
)

PARAMETERS = {
    "key": ("A file's key; its slashes stand as they are", "reports/trip.md"),
    "task_id": ("A task's id", "task_2b525468e13227c127f103c34f5e4e"),
    "execution_id": ("An execution's id", "exec_67ec551ec9450d2efb780e96f8ac1a"),
    "person_id": ("A person's id", "person_8277e0910d750195b448797616e091"),
    "invitation_id": ("An invitation's id", "inv_e1671797c52e15f763380b45e841ec"),
    "identity_id": ("The id of a link between an identity and a person", "identity_8fa14cdd754f91cc6554c9e71929cc"),
    "key_id": ("An API key's id, which is no part of the key", "key_8fa14cdd754f91cc6554c9e71929cc"),
    "workspace_id": ("A workspace's id", "ws_5d41402abc4b2a76b9719d911017c5"),
    "server_id": ("An MCP server's id", "mcp_3f8a7c1d09b2e4a6f5c8d7e6b1a203"),
    "agent_id": ("An agent's id", "agent_3f8a7c1d09b2e4a6f5c8d7e6b1a203"),
    "conversation_id": ("A conversation's id", "conv_9a1fd20bc0de8f4470e9d3c1ab52f6"),
    "message_number": ("A message's number", 2),
    "seq": ("The number of a call, from 0", 0),
    "approval_id": ("An approval's id", "appr_0f4be6c2a917d3582c61b07e94aa51"),
    "standing_approval_id": ("A standing approval's id", "stand_4d0e8b7712c9a6f3508b1de2740c39"),
    "job_id": ("A job's id", "job_7d793037a0760186574b0282f2f435"),
    "integration_id": ("A service's id in the catalog", "coingecko"),
    "session_id": ("The id of a session of the console", "session_8fa14cdd754f91cc6554c9e71929cc"),
    "name": ("A credential's name, in capitals", "COINGECKO_API_KEY"),
}
CLUSTER = ("A cluster's name, any text", "Pet store")

_TASK = {
    "name": "daily price",
    "task_prompt": "Tell the price of bitcoin in euros on {{date}}.",
    "model": "scripted/hello",
    "tools": ["http_get", "api_call"],
    "integrations": ["coingecko"],
    "max_credits": 100,
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "NewTask": _TASK,
    "TaskChange": {"enabled": False},
    "MemberChange": {"role": "operator"},
    "NewInvitation": {"name": "Bea", "role": "operator"},
    "TakenInvitation": {"token": "fi_" + "x" * 43},
    "NewIdentity": {"access_token": "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.…"},
    "NewKey": {"name": "my laptop", "scopes": ["read", "run"], "expires_in_days": 90},
    "NewWorkspace": {"name": "Kitchen", "max_credits_month": 500},
    "NewAgent": {"template": "wally", "model": "claude-haiku-4-5", "max_credits_month": 500},
    "NewConversation": {"agent_id": "agent_3f8a7c1d09b2e4a6f5c8d7e6b1a203", "title": "Ferries"},
    "ConversationChange": {"title": "Ferries in winter"},
    "NewMessage": {"content": "And on Sundays?"},
    "NewChatMessage": {"content": "When does the ferry leave?", "enableTools": True},
    "AnswerRequest": {"model": "claude-haiku-4-5"},
    "NewRemoteServer": {
        "name": "books",
        "url": "https://mcp.books.example/mcp",
        "headers": {"X-Api-Key": "bk_3a1c5e7092b4d6f8"},
        "credentials": {"X-Api-Key": "BOOKS_KEY"},
    },
    "RemoteServerChange": {"enabled": True, "disable": ["delete_book"]},
    "Acceptance": {"digests": {"search": "3f1c9a0b5d7e2846c1b3a5f7e9d0c2b4a6f8e1d3c5b7a9f0e2d4c6b8a1f3e5d7"}},
    "AgentChange": {"allowed_tools": ["api_call", "http_get"], "tool_settings": {"http_get": {"calls_max": 5}}},
    "WorkspaceChange": {"allowed_tools": ["http_get", "calculator"]},
    "DirectLinkRequest": {"expires_in_s": 300},
    "DirectCallRequest": {"tool": "http_get", "arguments": {"url": "https://api.coingecko.com/api/v3/ping"}},
    "StartRequest": {"input": "in Swiss francs, too"},
    "NewDecision": {
        "verdict": "approve",
        "digest": "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b",
        "sends": 1,
    },
    "NewStandingApproval": {
        "tool": "http_post",
        "hosts": ["api.example.com"],
        "methods": ["POST"],
        "arguments": {"url": "https://api.example.com/orders"},
        "uses": 20,
        "expires_in_days": 30,
    },
    "NewCredential": {"value": "CG-a1B2c3D4e5F6g7H8i9J0k1L2", "service": "coingecko"},
    "NewServerConnection": {"redirect_uri": "http://127.0.0.1:8400/callback/mcp"},
    "NewConnection": {"service": "dropbox", "client_id": "an-app-key", "redirect_uri": "http://127.0.0.1:8400/callback"},
    "ConsentAnswer": {"state": "r1c0v2ZpQq3mYb5tXn8sKw7uHa4dLe6fGi9jOo0PzTk", "code": "AQD0x1"},
    "ImportBody": {"url": "https://api.coingecko.com/openapi.json", "cluster": "prices", "dry_run": True},
    "NewImport": {
        "format": "ferryman-workspace/1",
        "workspace": "ws_5d41402abc4b2a76b9719d911017c5",
        "name": "Kitchen",
        "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "files": 4,
        "file_bytes": 2_048,
        "counts": {"workspace": 1, "agents": 1, "tasks": 1, "executions": 40},
        "keys": {"1": "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"},
    },
    "ImportFile": {
        "name": "tools-000001.jsonl",
        "sha256": "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356",
        "content": "{}\n",
    },
    "ProblemDetails": {
        "type": "about:blank",
        "title": "Unprocessable Content",
        "status": 422,
        "detail": "some fields are not accepted; nothing was done",
        "errors": [{"field": "webhook_urls.1", "message": "must resolve, and to public addresses only"}],
    },
    "Welcome": {
        "name": "Ferryman",
        "version": "1",
        "about": "Agent tasks whose keys never leak and whose calls never leave their policy.",
        "reference": "/docs",
        "openapi": "/openapi.json",
    },
    "Health": {"status": "ok"},
    "Halt": {"halted": None},
    "Deleted": {"deleted": "look_up"},
    "ChatTool": {"name": "look_up", "description": "Look up a coin.", "parameters": {"type": "object", "properties": {}}},
    "TokenCounts": {"input_tokens": 600, "output_tokens": 47, "cache_read_tokens": 0, "cache_write_tokens": 0},
}
"""By shape."""

TOOL = {
    "kind": "http",
    "name": "look_up",
    "url": "https://api.coingecko.com/api/v3/coins/{coin}",
    "description": "Look up a coin.",
}
"""The body of declareTool, which is of no shape: its rules are in docs/declared-tools.md."""
