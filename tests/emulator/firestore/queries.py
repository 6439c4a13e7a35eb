"""Queries: what runs each query of the library over Firestore, by the method that has it."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.occupancy import Occupancy
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.jobs.parts import MEMBERS, list_parts
from ferryman.domain.owners.owner import Owner
from ferryman.domain.page import Position
from ferryman.domain.tasks.firing import Fire
from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.domain.tasks.task import TaskFilter
from ferryman.domain.workspaces.adoption import Adoption, AdoptionStage
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.member import Membership, Role
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.domain.workspaces.person import Invitation
from ferryman.domain.workspaces.workspace import Workspace
from ferryman.gcp import documents
from ferryman.gcp.adoption import FirestoreAdoption
from ferryman.gcp.agents import FirestoreAgents
from ferryman.gcp.alerts import FirestoreAlerts
from ferryman.gcp.api_keys import FirestoreApiKeys
from ferryman.gcp.audit import FirestoreAuditEntries
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.clusters import FirestoreClusters
from ferryman.gcp.connections import FirestoreConnections
from ferryman.gcp.conversations import FirestoreConversations
from ferryman.gcp.credentials import FirestoreCredentials
from ferryman.gcp.execution_documents import write_execution
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.invitations import FirestoreInvitations
from ferryman.gcp.job_work import FirestoreJobWork
from ferryman.gcp.jobs import FirestoreJobs
from ferryman.gcp.members import FirestoreMembers
from ferryman.gcp.owners import FirestoreLedger, FirestoreOwners
from ferryman.gcp.past_messages import FirestorePastMessages
from ferryman.gcp.places import Places
from ferryman.gcp.remote_servers import FirestoreRemoteServers
from ferryman.gcp.schedules import FirestoreSchedules
from ferryman.gcp.sealed_inventory import FirestoreSealedInventory
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.gcp.tokens import FirestoreTokens
from ferryman.gcp.usage import FirestoreUsage
from ferryman.gcp.user_documents import FirestoreUserDocuments
from ferryman.gcp.workspaces import FirestoreWorkspaces
from ferryman.ports.executions import Filter
from tests.builders import build_execution, build_label, build_lease, build_task, build_ticket
from tests.remote_servers import build_server

from .approval_queries import approvals_listed, standing_approvals_listed
from .session_queries import console_sessions_read

NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def list_everything(clients: GoogleClients) -> None:
    await FirestoreExecutions(clients).list("w")


async def listed_by_task(clients: GoogleClients) -> None:
    await FirestoreExecutions(clients).list("w", which=Filter(task="t"))
    await FirestoreExecutions(clients).list("w", which=Filter(is_waiting=True))


async def listed_by_agent(clients: GoogleClients) -> None:
    await FirestoreExecutions(clients).list("w", which=Filter(agent="a"))
    await FirestoreTasks(clients).list("w", which=TaskFilter(agent="a"))


async def listed_by_status(clients: GoogleClients) -> None:
    for task in (None, "t"):
        await FirestoreExecutions(clients).list("w", which=Filter(task=task, status=Status.FAILED, since=NOW))


async def next_page_listed(clients: GoogleClients) -> None:
    await FirestoreExecutions(clients).list("w", after=Position(NOW, "e"))
    await FirestoreTasks(clients).list("w", after=Position(NOW, "t"))


async def claimed_again(clients: GoogleClients) -> None:
    lost = build_lease(holder="dead", expires_at=NOW)
    execution = build_execution(owner="ann", created_at=NOW, status=Status.RUNNING, lease=lost)
    admitted = Occupancy().enqueue(execution, most=1)
    await Places(clients.firestore()).locate_occupancy("ann").create({"queued": dict(admitted.queued)})
    await Places(clients.firestore()).locate_execution("e").set(write_execution(execution))
    ticket = build_ticket(tool="webhook", created_at=NOW)
    await Places(clients.firestore()).locate_call("e", 0).set(documents.write(ticket))
    _, is_claimed = await FirestoreExecutions(clients).claim(
        "e", slice=0, holder="b", now=NOW + timedelta(seconds=1), lease=timedelta(seconds=9)
    )
    assert is_claimed


async def clusters_listed(clients: GoogleClients) -> None:
    await FirestoreClusters(clients).list("t")


async def cluster_stored(clients: GoogleClients) -> None:
    clustered = build_task(id="task_own", owner="ann", created_at=NOW)
    await FirestoreTasks(clients).create(clustered)
    await FirestoreClusters(clients).put(clustered.id, "pets", [], since=0)


async def connection_begun(clients: GoogleClients) -> None:
    requested = build_task(id="task_asked", owner="ann", created_at=NOW)
    await FirestoreTasks(clients).create(requested)
    begun = Connection(
        digest="d",
        label=build_label(owner="ann", task=requested.id),
        redirect_uri="http://127.0.0.1/",
        token_url="https://login.example.com/token",
        client_id="c",
        creds_location="body",
        scopes=(),
        expires_at=NOW,
    )
    await FirestoreConnections(clients).put(begun, now=NOW, most=9)


async def tokens_of_a_task(clients: GoogleClients) -> None:
    await FirestoreTokens(clients).list("ann", "t")


async def entries_of_an_execution(clients: GoogleClients) -> None:
    await FirestoreLedger(clients).of_execution("e")


async def entries_of_an_owner(clients: GoogleClients) -> None:
    await FirestoreLedger(clients).of_owner("ann", since=NOW, until=NOW)


async def conversations_of_a_workspace(clients: GoogleClients) -> None:
    await FirestoreLedger(clients).list_conversations("w", most=9)


async def sealed_anywhere(clients: GoogleClients) -> None:
    await FirestoreSealedInventory(clients, len).list_credentials()


async def sealed_tokens(clients: GoogleClients) -> None:
    await FirestoreSealedInventory(clients, len).list_tokens()


async def tokens_to_reseal(clients: GoogleClients) -> None:
    await FirestoreTokens(clients).list_for_task("t")


async def calls_under_way(clients: GoogleClients) -> None:
    await FirestoreSealedInventory(clients, len).count_calls()


async def begun(clients: GoogleClients) -> None:
    await FirestoreSealedInventory(clients, len).count_begun_before(NOW)


async def stepped(clients: GoogleClients) -> None:
    await FirestoreExecutions(clients).steps("e")


async def ticketed(clients: GoogleClients) -> None:
    await FirestoreExecutions(clients).tickets("e")


async def stepped_in_brief(clients: GoogleClients) -> None:
    await FirestoreExecutions(clients).brief_steps("e", after=1, most=1)


async def ticketed_in_brief(clients: GoogleClients) -> None:
    await FirestoreExecutions(clients).brief_tickets("e", first=1, most=1)


async def receipted(clients: GoogleClients) -> None:
    await FirestoreExecutions(clients).receipts("e", first=1, most=1)


async def tasks_listed(clients: GoogleClients) -> None:
    for which in (TaskFilter(), TaskFilter(enabled=True), TaskFilter(name="x"), TaskFilter(enabled=True, name="x")):
        await FirestoreTasks(clients).list("w", which=which)


async def credentials_listed(clients: GoogleClients) -> None:
    await FirestoreCredentials(clients).list("t")
    await FirestoreCredentials(clients).read_all("t")


async def mcp_servers_read(clients: GoogleClients) -> None:
    servers, workspace = FirestoreRemoteServers(clients), derive_default_workspace("ann")
    place = {"owner": "ann", "workspace": workspace}
    await servers.create(build_server(**place, agent=derive_default_agent(workspace)))
    await servers.list("a", **place)
    await servers.find("a", "tracker", **place)
    await servers.list_versions("a", **place)


async def credential_stored(clients: GoogleClients) -> None:
    task = build_task(id="task_keyed", owner="ann", created_at=NOW)
    await FirestoreTasks(clients).create(task)
    label = build_label(owner="ann", task=task.id)
    sealed = SealedCredential(label=label, ciphertext=b"", key_version=1, created_at=NOW, updated_at=NOW)
    await FirestoreCredentials(clients).put(sealed)


async def owners_listed(clients: GoogleClients) -> None:
    await FirestoreOwners(clients).list()


async def rekeyed(clients: GoogleClients) -> None:
    await FirestoreOwners(clients).put(Owner(id="ann", plan="pro", created_at=NOW))
    await FirestoreOwners(clients).rekey("ann", "d", NOW)


async def fired(clients: GoogleClients) -> None:
    due = {"schedule_generation": 1, "next_fire_at": NOW}
    task = build_task(id="task_due", owner="ann", created_at=NOW, **due)
    await FirestoreTasks(clients).create(task)
    fired = await FirestoreSchedules(clients).fire(Fire(task=task.id, generation=1, at=NOW), now=NOW)
    assert fired.execution is not None


async def scheduled(clients: GoogleClients) -> None:
    cron = {"schedule": Schedule(type=ScheduleType.CRON, cron="0 * * * *")}
    task = build_task(id="task_timed", owner="ann", created_at=NOW, **cron)
    await FirestoreTasks(clients).create(task)


async def overdue(clients: GoogleClients) -> None:
    await FirestoreSchedules(clients).overdue(before=NOW)


async def documents_of_users(clients: GoogleClients) -> None:
    for after in ("", "concierge/u/user_memory/taste"):
        await FirestoreUserDocuments(clients).list("w", "user_memory", after=after, most=1)
    await FirestoreUserDocuments(clients).delete("w", collections=["user_memory"], most=1)


async def switches_read(clients: GoogleClients) -> None:
    assert not await FirestoreHalts(clients).find_halt_reasons([("ann", NOW)])


async def armed(clients: GoogleClients) -> None:
    await FirestoreSchedules(clients).armed()


async def agents_listed(clients: GoogleClients) -> None:
    await FirestoreAgents(clients).list("ann", "w")


async def agent_created(clients: GoogleClients) -> None:
    await FirestoreAgents(clients).create(
        Agent(id="agent_1", owner="ann", workspace=derive_default_workspace("ann"), name="a", created_at=NOW, updated_at=NOW)
    )


async def workspaces_listed(clients: GoogleClients) -> None:
    await FirestoreWorkspaces(clients).list("ann")


async def workspace_created(clients: GoogleClients) -> None:
    await FirestoreWorkspaces(clients).create(Workspace(id="ws", owner="ann", name="w", created_at=NOW, updated_at=NOW))


async def jobs_listed(clients: GoogleClients) -> None:
    for workspace in (None, "w"):
        await FirestoreJobs(clients).list("ann", workspace=workspace)
    await FirestoreJobs(clients).find("ann", workspace="w", subject="agent_1")


async def job_at_work(clients: GoogleClients) -> None:
    lease = timedelta(seconds=9)
    kinds = {JobKind.DELETE_WORKSPACE: "ws", JobKind.DELETE_AGENT: "agent", JobKind.DELETE_CONVERSATION: "conv"}
    for kind, subject in kinds.items():
        job = Job(id=subject, owner="ann", workspace="w", kind=kind, subject=subject, created_at=NOW)
        await Places(clients.firestore()).locate_job(subject).set(documents.write(job))
        claimed, _ = await FirestoreJobs(clients).claim(subject, slice=0, holder="h", now=NOW, lease=lease)
        work = FirestoreJobWork(clients)
        await work.disable_tasks(claimed, most=9, now=NOW, lease=lease)
        for part in list_parts(kind):
            await work.delete(claimed, part, most=9, now=NOW, lease=lease)


async def agent_deletion_begun(clients: GoogleClients) -> None:
    place = {"owner": "ann", "workspace": derive_default_workspace("ann"), "created_at": NOW}
    await FirestoreAgents(clients).create(Agent(id="agent_gone", name="a", updated_at=NOW, **place))
    job = Job(id="job_agent", kind=JobKind.DELETE_AGENT, subject="agent_gone", **place)
    await FirestoreJobs(clients).start(job, spares_tasks=True)


async def older_documents_adopted(clients: GoogleClients) -> None:
    marker = Places(clients.firestore()).locate_adoption()
    for stage in [stage for stage in AdoptionStage if stage is not AdoptionStage.DONE]:
        for after in ("", "zzz"):
            await marker.set(documents.write(Adoption(stage=stage, after=after, begun_at=NOW)))
            await FirestoreAdoption(clients).advance(page=1, now=NOW)


async def member_gone_with_workspace(clients: GoogleClients) -> None:
    membership = Membership(owner="ann", workspace="ws_gone", person="p", role=Role.VIEWER, created_at=NOW)
    await Places(clients.firestore()).locate_membership("ws_gone", "p").set(documents.write(membership))
    job = Job(id="job_gone", owner="ann", workspace="ws_gone", kind=JobKind.DELETE_WORKSPACE, subject="ws_gone", created_at=NOW)
    await Places(clients.firestore()).locate_job(job.id).set(documents.write(job))
    lease = timedelta(seconds=9)
    claimed, _ = await FirestoreJobs(clients).claim(job.id, slice=0, holder="h", now=NOW, lease=lease)
    await FirestoreJobWork(clients).delete(claimed, MEMBERS, most=9, now=NOW, lease=lease)


async def people_met(clients: GoogleClients) -> None:
    keys, members, invitations = FirestoreApiKeys(clients), FirestoreMembers(clients), FirestoreInvitations(clients)
    await keys.list("ann", "w")
    place = {"owner": "ann", "workspace": derive_default_workspace("ann"), "created_at": NOW}
    until = NOW + timedelta(days=7)
    invitation = Invitation(id="inv", name="Eve", role=Role.VIEWER, invited_by="", expires_at=until, **place)
    await invitations.create("d", invitation, now=NOW)
    await invitations.withdraw("inv_other", owner="ann", workspace="w")
    joined = await invitations.take("d", person="p", is_new=True, key="k", key_digest="d", now=NOW)
    assert joined is not None
    await members.update(joined[0], ["approves"])
    await members.remove("p", owner="ann", workspace=joined[0].workspace)
    # an entry of the audit stays; without it the same invitation can be taken for the next query
    await Places(clients.firestore()).locate_audit_entry("audit_inv").delete()


async def usage_listed(clients: GoogleClients) -> None:
    usage = FirestoreUsage(clients)
    await usage.list_events("w", most=1)
    await usage.roll_up("w", most=1, now=NOW)
    await usage.list_late(before=NOW, most=1)


async def alerts_listed(clients: GoogleClients) -> None:
    await FirestoreAlerts(clients).list("ann", "w")
    await FirestoreAlerts(clients).overdue(before=NOW, most=1)
    await FirestoreExecutions(clients).list_unsent_alerts("e")


async def audited(clients: GoogleClients) -> None:
    await FirestoreAuditEntries(clients).list("ann", "w", most=1)


async def chats_listed(clients: GoogleClients) -> None:
    conversations = FirestoreConversations(clients)
    for agent, after in ((None, None), ("a", Position(NOW, "c"))):
        await conversations.list("ann", "w", agent=agent, after=after)
        await FirestorePastMessages(clients).find(["ferry"], workspace="w", conversation=agent)
    await conversations.list_messages("c", after=1, most=9)


QUERIES: dict[str, tuple[Callable[[GoogleClients], Awaitable[None]], ...]] = {
    "FirestoreAgents.list": (agents_listed,),
    "FirestoreApprovals.list": (approvals_listed,),
    "FirestoreApprovals.list_of": (approvals_listed,),
    "FirestoreApprovals.find_last": (approvals_listed,),
    "FirestoreApprovals.withdraw": (approvals_listed,),
    "FirestoreApprovals.add_standing": (standing_approvals_listed,),
    "FirestoreApprovals.list_standing": (standing_approvals_listed,),
    "FirestoreAgents._create": (agent_created,),
    "FirestoreWorkspaces.list": (workspaces_listed,),
    "FirestoreWorkspaces._create": (workspace_created,),
    "FirestoreJobs.find": (jobs_listed,),
    "FirestoreJobs.list": (jobs_listed,),
    "FirestoreJobs._has_tasks": (agent_deletion_begun,),
    "FirestoreAdoption._read_page": (older_documents_adopted,),
    "FirestoreJobWork.disable_tasks": (job_at_work,),
    "FirestoreJobWork.delete": (job_at_work,),
    "FirestoreJobWork._collect_below": (job_at_work, member_gone_with_workspace),
    "FirestoreApiKeys._find_all": (people_met,),
    "FirestoreInvitations._find_open": (people_met,),
    "FirestoreInvitations.take": (people_met,),
    "FirestoreInvitations.withdraw": (people_met,),
    "FirestoreMembers._find_all": (people_met,),
    "FirestoreMembers._find_belonging": (people_met,),
    "FirestoreMembers.remove": (people_met,),
    "FirestoreConsoleSessions.create": (console_sessions_read,),
    "FirestoreConsoleSessions.list": (console_sessions_read,),
    "FirestoreConsoleSessions.put_link": (console_sessions_read,),
    "FirestoreAlerts.list": (alerts_listed,),
    "FirestoreUsage.list_events": (usage_listed,),
    "FirestoreUsage.roll_up": (usage_listed,),
    "FirestoreUsage.list_late": (usage_listed,),
    "FirestoreAlerts.overdue": (alerts_listed,),
    "FirestoreExecutions.list_unsent_alerts": (alerts_listed,),
    "FirestoreAuditEntries.list": (audited,),
    "FirestoreClusters._documents": (clusters_listed,),
    "FirestoreClusters._put": (cluster_stored,),
    "FirestoreConnections.put": (connection_begun,),
    "FirestoreExecutions.list": (list_everything, listed_by_task, listed_by_agent, listed_by_status, next_page_listed),
    "FirestoreExecutions.claim": (claimed_again,),
    "FirestoreConversations.list": (chats_listed,),
    "FirestoreConversations.list_messages": (chats_listed,),
    "FirestorePastMessages.find": (chats_listed,),
    "FirestoreJournal.steps": (stepped,),
    "FirestoreJournal.tickets": (ticketed,),
    "FirestoreJournal.brief_steps": (stepped_in_brief,),
    "FirestoreJournal.brief_tickets": (ticketed_in_brief,),
    "FirestoreJournal.receipts": (receipted,),
    "FirestoreSealedInventory.list_credentials": (sealed_anywhere,),
    "FirestoreSealedInventory.count_calls": (calls_under_way,),
    "FirestoreSealedInventory._list_under_way": (begun,),
    "FirestoreHalts.find_halt_reasons": (switches_read,),
    "FirestoreLedger.of_execution": (entries_of_an_execution,),
    "FirestoreLedger.of_owner": (entries_of_an_owner,),
    "FirestoreLedger.list_conversations": (conversations_of_a_workspace,),
    "FirestoreOwners.list": (owners_listed,),
    "FirestoreOwners.rekey": (rekeyed,),
    "FirestoreRemoteServers.list": (mcp_servers_read,),
    "FirestoreRemoteServers.find": (mcp_servers_read,),
    "FirestoreRemoteServers.list_versions": (mcp_servers_read,),
    "FirestoreRemoteServers._create": (mcp_servers_read,),
    "FirestoreSchedules.armed": (armed,),
    "FirestoreSchedules._fire": (fired,),
    "FirestoreSchedules.overdue": (overdue,),
    "FirestoreSealedInventory.list_tokens": (sealed_tokens,),
    "FirestoreUserDocuments.delete": (documents_of_users,),
    "FirestoreUserDocuments.list": (documents_of_users,),
    "FirestoreTokens.list": (tokens_of_a_task,),
    "FirestoreTokens.list_for_task": (tokens_to_reseal,),
    "FirestoreTokens._read_slots": (tokens_of_a_task,),
    "FirestoreTasks._check_scheduled": (scheduled,),
    "FirestoreTasks._create": (fired,),
    "FirestoreTasks.list": (tasks_listed,),
    "FirestoreCredentials.list": (credentials_listed,),
    "FirestoreCredentials.put": (credential_stored,),
    "FirestoreCredentials.read_all": (credentials_listed,),
}
