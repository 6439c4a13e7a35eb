"""Permissions: who calls, by a token, what that one may do, by its row in the table, and handlers that hold it to both."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

import grpc

from emulator.access import PortToken
from emulator.table import FunctionRow, account, name_bucket

FIRESTORE = "google.firestore.v1.Firestore"
SECRETS = "google.cloud.secretmanager.v1.SecretManagerService"
TASKS = "google.cloud.tasks.v2.CloudTasks"
ACCESS = f"/{SECRETS}/AccessSecretVersion"
CREATE = f"/{TASKS}/CreateTask"
READING = frozenset(
    f"/{FIRESTORE}/{name}"
    for name in (
        *("BatchGetDocuments", "BeginTransaction", "GetDocument", "ListCollectionIds", "ListDocuments", "Listen"),
        *("PartitionQuery", "Rollback", "RunAggregationQuery", "RunQuery"),
    )
)
"""What roles/datastore.viewer allows."""

SECRET = re.compile(r"projects/([^/]+)/secrets/([^/]+)/versions/[^/]+")
QUEUE = re.compile(r"projects/([^/]+)/locations/[^/]+/queues/([^/]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """What a caller may do in a project: with documents `all` that can be done, `read` them, or nothing (`-`); access these
    secrets; put tasks into these queues, to be delivered as these accounts (production's actAs); administer the objects of
    these buckets (roles/storage.objectAdmin), and sign with its own key (`signs`)."""

    project: str
    firestore: str
    secrets: frozenset[str]
    queues: frozenset[str]
    accounts: frozenset[str] = frozenset()
    buckets: frozenset[str] = frozenset()
    signs: bool = False

    def may_access(self, request: Any) -> bool:
        """Return whether it may read the version of a secret that is asked for."""
        return self._within(SECRET, request.name, self.secrets)

    def may_enqueue(self, request: Any) -> bool:
        """Return whether it may put this task into this queue, to be delivered as the account it names."""
        as_whom = request.task.http_request.oidc_token.service_account_email
        return self._within(QUEUE, request.parent, self.queues) and (not as_whom or as_whom in self.accounts)

    def _within(self, form: re.Pattern[str], name: str, granted: frozenset[str]) -> bool:
        parts = form.fullmatch(name)
        return parts is not None and parts[1] == self.project and parts[2] in granted


def read_grants(row: FunctionRow, project: str) -> Grants:
    """Return what the row of a function grants it."""
    return Grants(
        project=project,
        firestore=row.firestore,
        secrets=frozenset(row.secrets),
        queues=frozenset(row.enqueues),
        accounts=frozenset(account(name, project) for name in row.acts_as),
        buckets=frozenset(name_bucket(name, project) for name in row.buckets),
        signs=row.signs,
    )


class PermissionCheck(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """Handlers of the three services, for one caller: what is not granted is answered PERMISSION_DENIED."""

    def __init__(self, handlers: Iterable[grpc.GenericRpcHandler], grants: Grants) -> None:
        self._handlers = tuple(handlers)
        self._grants = grants

    def service(self, details: Any) -> Any:
        """Return the handler of one call, None for a service that is not known."""
        grants, method = self._grants, details.method
        if method == ACCESS:
            return check_requests(self._find_handler(details), lambda request: request.name, grants.may_access)
        if method == CREATE:
            return check_requests(self._find_handler(details), lambda request: request.parent, grants.may_enqueue)
        called = _service(details)
        if called == FIRESTORE and (grants.firestore == "all" or (grants.firestore == "read" and method in READING)):
            return self._find_handler(details)
        return DENIED if called in (FIRESTORE, SECRETS, TASKS) else None

    def _find_handler(self, details: Any) -> Any:
        return next((method_handler for handler in self._handlers if (method_handler := handler.service(details))), None)


class TokenCheck(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """Handlers for calls that bear a token, or are of a service `without` one. Decided before a request is read."""

    def __init__(
        self, handlers: Iterable[grpc.GenericRpcHandler], token: PortToken, *, without: frozenset[str] = frozenset()
    ) -> None:
        self._handlers = tuple(handlers)
        self._token = token
        self._without = without

    def service(self, details: Any) -> Any:
        """Return the handler of one call, None for an unknown service, as every service is to a caller without a token."""
        if _service(details) not in self._without and not any(
            self._token.is_borne(str(value)) for name, value in details.invocation_metadata or () if name == "authorization"
        ):
            return UNAUTHENTICATED
        return next((method_handler for handler in self._handlers if (method_handler := handler.service(details))), None)


def _service(details: Any) -> str:
    return str(details.method).removeprefix("/").partition("/")[0]


def check_requests(handler: Any, resource: Callable[[Any], str], may: Callable[[Any], bool]) -> Any:
    """Return a handler that answers the requests its caller may make; `resource` names what one is about."""
    call: Callable[[Any, Any], Awaitable[Any]] = handler.unary_unary

    async def guarded(request: Any, context: Any) -> Any:
        if not may(request):
            await deny(context, resource(request))
        return await call(request, context)

    return grpc.unary_unary_rpc_method_handler(
        guarded, request_deserializer=handler.request_deserializer, response_serializer=handler.response_serializer
    )


async def deny(context: Any, resource: str) -> NoReturn:
    text = f"Permission denied on resource '{resource}' (or it may not exist)."
    await context.abort(grpc.StatusCode.PERMISSION_DENIED, text)
    raise AssertionError("abort raises")


async def answer_denied(_: Any, context: Any) -> None:
    await context.abort(grpc.StatusCode.PERMISSION_DENIED, "Missing or insufficient permissions.")


async def answer_unauthenticated(_: Any, context: Any) -> None:
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, "The call does not bear the token of this local cloud.")


# On the wire every call is a stream, so that this one answers all kinds, before it has read anything.
DENIED = grpc.stream_stream_rpc_method_handler(answer_denied)
UNAUTHENTICATED = grpc.stream_stream_rpc_method_handler(answer_unauthenticated)
