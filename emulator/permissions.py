"""Permissions: what each caller may do, by its row in the table of functions, and the gRPC handlers that hold it to that."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

import grpc

from emulator.table import Row, account

FIRESTORE = "google.firestore.v1.Firestore"
SECRETS = "google.cloud.secretmanager.v1.SecretManagerService"
TASKS = "google.cloud.tasks.v2.CloudTasks"
ACCESS = f"/{SECRETS}/AccessSecretVersion"
CREATE = f"/{TASKS}/CreateTask"

SECRET = re.compile(r"projects/([^/]+)/secrets/([^/]+)/versions/[^/]+")
QUEUE = re.compile(r"projects/([^/]+)/locations/[^/]+/queues/([^/]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """What a caller may do in a project: all that can be done with documents, or nothing; access these secrets; put
    tasks into these queues, to be delivered as these accounts (production's actAs)."""

    project: str
    firestore: bool
    secrets: frozenset[str]
    queues: frozenset[str]
    accounts: frozenset[str] = frozenset()

    def may_access(self, request: Any) -> bool:
        """Whether it may read the version of a secret that is asked for."""
        return self._within(SECRET, request.name, self.secrets)

    def may_enqueue(self, request: Any) -> bool:
        """Whether it may put this task into this queue, and have it delivered as the account it names."""
        as_whom = request.task.http_request.oidc_token.service_account_email
        return self._within(QUEUE, request.parent, self.queues) and (not as_whom or as_whom in self.accounts)

    def _within(self, form: re.Pattern[str], name: str, granted: frozenset[str]) -> bool:
        parts = form.fullmatch(name)
        return parts is not None and parts[1] == self.project and parts[2] in granted


def granted(row: Row, project: str) -> Grants:
    """What the row of a function grants it."""
    return Grants(
        project=project,
        firestore=row.firestore,
        secrets=frozenset(row.secrets),
        queues=frozenset(row.enqueues),
        accounts=frozenset(account(name, project) for name in row.acts_as),
    )


class Guarded(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """Handlers of the three services, for one caller: what is not granted is answered PERMISSION_DENIED."""

    def __init__(self, handlers: Iterable[grpc.GenericRpcHandler], grants: Grants) -> None:
        self._handlers = tuple(handlers)
        self._grants = grants

    def service(self, details: Any) -> Any:
        """The handler of one call, None for a service that is not known."""
        grants, method = self._grants, details.method
        if method == ACCESS:
            return checked(self._found(details), lambda request: request.name, grants.may_access)
        if method == CREATE:
            return checked(self._found(details), lambda request: request.parent, grants.may_enqueue)
        called = method.removeprefix("/").partition("/")[0]
        if called == FIRESTORE and grants.firestore:
            return self._found(details)
        return DENIED if called in (FIRESTORE, SECRETS, TASKS) else None

    def _found(self, details: Any) -> Any:
        return next((found for each in self._handlers if (found := each.service(details))), None)


def checked(handler: Any, resource: Callable[[Any], str], may: Callable[[Any], bool]) -> Any:
    """A handler that answers the requests its caller may make; `resource` names what one is about."""
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


async def denied(_: Any, context: Any) -> None:
    await context.abort(grpc.StatusCode.PERMISSION_DENIED, "Missing or insufficient permissions.")


# On the wire every call is a stream, so that this one answers all kinds, before it has read anything.
DENIED = grpc.stream_stream_rpc_method_handler(denied)
