"""Credentials over HTTP: a value comes in, is sealed before it is stored, and no route gives it back."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.exceptions import HTTPException

from ferryman.domain import credential as rules
from ferryman.domain.credential import AuthType, Label, Sealed
from ferryman.domain.integration import Integration
from ferryman.domain.problem import Invalid, Problem
from ferryman.domain.task import Task
from ferryman.serving.api.asking import By, TheHouse, TheirTask
from ferryman.serving.api.faults import not_found
from ferryman.serving.api.shapes import credential as shapes
from ferryman.wiring.api import House


class Named(StringConvertor):
    """Any text but the word that stands beside the credentials' names; none of them is in small letters."""

    regex = "(?!connect$)[^/]+"


register_url_convertor("named", Named())
router = APIRouter(prefix="/v1/tasks/{task_id}/credentials", tags=["credentials"])


@router.put("/{name:named}", summary="Store a credential, or replace its value")
async def put(name: str, asked: shapes.NewCredential, task: TheirTask, house: TheHouse, owner: By) -> shapes.CredentialShown:
    value = asked.value.get_secret_value()
    service = house.integrations.get(asked.service) if asked.service in task.integrations else None
    found = [*rules.name_problems(name), *rules.value_problems(value), *_stands_in(task, value)]
    if service is None or not service.allowed_domains:
        found.append(Problem(field="service", message=f"must be one of the task's integrations: {_services(task, house)}"))
        raise Invalid(found)
    auth_type, header, param = _injection(asked, service)
    found += rules.injection_problems(auth_type, header, param)
    if found:
        raise Invalid(found)
    stored = await house.credentials.list(task.id)
    before = next((each for each in stored if each.label.name == name), None)
    if before is None and len(stored) >= rules.CREDENTIALS_PER_TASK_MAX:
        raise HTTPException(409, f"a task may have at most {rules.CREDENTIALS_PER_TASK_MAX} credentials")
    label = Label(
        owner=owner.id,
        task=task.id,
        name=name,
        version=await house.credentials.next_version(task.id, name),
        service=service.id,
        auth_type=auth_type,
        auth_header_name=header,
        auth_param_name=param,
        hosts=service.allowed_domains,
    )
    now = house.clock.now()
    sealed = Sealed(
        label=label,
        ciphertext=house.sealer.seal(value.encode(), house.info(label)),
        key_version=house.sealer.version,
        created_at=now,
        updated_at=now,
    )
    if before is not None:
        sealed = replace(sealed, created_at=before.created_at)
    await house.credentials.put(sealed)
    return shapes.shown(sealed)


@router.get("", summary="A task's credentials, without their values")
async def listed(task: TheirTask, house: TheHouse) -> shapes.CredentialList:
    known = sorted(await house.credentials.list(task.id), key=lambda each: each.label.name)
    return shapes.CredentialList(credentials=tuple(shapes.shown(each) for each in known))


@router.delete("/{name:named}", status_code=204, summary="Delete a credential")
async def delete(name: str, task: TheirTask, house: TheHouse) -> None:
    if not rules.NAME.fullmatch(name) or not await house.credentials.delete(task.id, name):
        raise not_found("credential")


def _injection(asked: shapes.NewCredential, service: Integration) -> tuple[AuthType, str | None, str | None]:
    """How the credential is injected: as asked, and where nothing was asked, as the service wants it."""
    auth_type = asked.auth_type or service.default_auth_type or AuthType.BEARER
    header, param = asked.auth_header_name, asked.auth_param_name
    if auth_type is AuthType.HEADER and header is None:
        header = service.default_auth_header
    if auth_type is AuthType.QUERY_PARAM and param is None:
        param = service.default_auth_param or rules.PARAM_DEFAULT
    return auth_type, header, param


def _stands_in(task: Task, value: str) -> list[Problem]:
    """A value that anyone who reads the task already knows is not a secret."""
    texts = {
        "name": task.name,
        "description": task.description,
        "system_prompt": task.system_prompt,
        "task_prompt": task.task_prompt,
        "webhook_urls": " ".join(task.webhook_urls),
    }
    places = [field for field, text in texts.items() if value and value in text]
    if not places:
        return []
    return [Problem(field="value", message=f"stands in the task's {' and '.join(places)}; take it out there first")]


def _services(task: Task, house: House) -> str:
    known = [each for each in task.integrations if each in house.integrations and house.integrations[each].allowed_domains]
    return ", ".join(known) or "it has none"
