"""Credentials over HTTP: a value comes in, is sealed before it is stored, and no route gives it back."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.convertors import StringConvertor, register_url_convertor

from ferryman.domain.credentials import credential as rules
from ferryman.domain.credentials.credential import AuthType, Label, SealedCredential
from ferryman.domain.credentials.integration import Integration
from ferryman.domain.credentials.value import find_pair_problems, find_value_problems, get_secret_half
from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.tasks.task import Task
from ferryman.serving.api.access import MANAGES, READS, CurrentOwner, Dependencies, OwnedTask, name_services
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.paging import ByName, cut_by_name
from ferryman.serving.api.shapes import credential as shapes
from ferryman.serving.api.shapes.shape import select


class CredentialNameConvertor(StringConvertor):
    """Any text but the word `connect`, which is a route of its own; no credential is named in lower case."""

    regex = r"(?!connect\Z)[^/]+"


register_url_convertor("named", CredentialNameConvertor())
router = APIRouter(prefix="/v1/tasks/{task_id}/credentials", tags=["credentials"])


@router.put("/{name:named}", dependencies=[MANAGES], summary="Store a credential, or replace its value")
async def put_credential(
    name: str, body: shapes.NewCredential, task: OwnedTask, deps: Dependencies, owner: CurrentOwner
) -> shapes.CredentialResponse:
    value = body.value.get_secret_value()
    service = deps.integrations.get(body.service) if body.service in task.integrations else None
    auth_type = _choose_type(body, service)
    problems = [*rules.find_name_problems(name), *_find_value_problems(task, value, auth_type)]
    if service is None or not service.allowed_domains:
        problems.append(
            Problem(
                field="service",
                message=f"must be one of the task's integrations: {name_services(task, deps, 'allowed_domains')}",
            )
        )
        raise InvalidInputError(problems)
    header, param = _injection(body, service, auth_type)
    problems += rules.find_injection_problems(auth_type, header, param)
    if problems:
        raise InvalidInputError(problems)
    stored = await deps.credentials.list(task.id)
    before = next((sealed_before for sealed_before in stored if sealed_before.label.name == name), None)
    label = Label(
        owner=owner.id,
        task=task.id,
        name=name,
        version=await deps.credentials.next_version(task.id, name),
        service=service.id,
        auth_type=auth_type,
        auth_header_name=header,
        auth_param_name=param,
        hosts=service.allowed_domains,
    )
    now = deps.clock.now()
    sealed = SealedCredential(
        label=label,
        ciphertext=deps.sealer.seal(value.encode(), deps.info(label)),
        key_version=deps.sealer.version,
        created_at=now if before is None else before.created_at,
        updated_at=now,
    )
    await deps.credentials.put(sealed)
    return shapes.to_response(sealed)


@router.get("", dependencies=[READS], summary="A task's credentials, without their values")
async def list_credentials(task: OwnedTask, deps: Dependencies, paging: ByName) -> shapes.CredentialList:
    here, following = cut_by_name(await deps.credentials.list(task.id), paging, lambda sealed: sealed.label.name)
    return shapes.CredentialList(credentials=tuple(map(shapes.to_response, here)), next=following)


@router.delete("/{name:named}", dependencies=[MANAGES], status_code=204, summary="Delete a credential")
async def delete_credential(name: str, task: OwnedTask, deps: Dependencies) -> None:
    if not rules.NAME.fullmatch(name) or not await deps.credentials.delete(task.id, name, now=deps.clock.now()):
        raise NotFoundError("credential")


def _choose_type(body: shapes.NewCredential, service: Integration | None) -> AuthType:
    """Return how the credential is injected: as the body says, else as the service's entry says."""
    default = service.default_auth_type if service is not None else None
    return body.auth_type or default or AuthType.BEARER


def _injection(body: shapes.NewCredential, service: Integration, auth_type: AuthType) -> tuple[str | None, str | None]:
    """Return the header or the parameter that the credential is injected into, chosen likewise."""
    header, param = body.auth_header_name, body.auth_param_name
    if auth_type is AuthType.HEADER and header is None:
        header = service.default_auth_header
    if auth_type is AuthType.QUERY_PARAM and param is None:
        param = service.default_auth_param or rules.PARAM_DEFAULT
    return header, param


def _find_value_problems(task: Task, value: str, auth_type: AuthType) -> list[Problem]:
    """Return the problems of a value, also where the task's own texts contain it: anyone who reads the task knows it then."""
    if auth_type is AuthType.BASIC:
        return [*find_pair_problems(value), *_find_leaks(task, get_secret_half(value))]
    return [*find_value_problems(value), *_find_leaks(task, value)]


def _find_leaks(task: Task, value: str) -> list[Problem]:
    texts = select(task, "name", "description", "system_prompt", "task_prompt")
    texts["webhook_urls"] = " ".join(task.webhook_urls)
    places = [field for field, text in texts.items() if value and value in text]
    if not places:
        return []
    return [Problem(field="value", message=f"is in the task's {' and '.join(places)}; remove it there first")]
