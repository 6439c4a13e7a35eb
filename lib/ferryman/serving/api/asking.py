"""Asking: who asks, and whether what is asked for is theirs."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException

from ferryman.domain.execution import Execution
from ferryman.domain.owner import Owner
from ferryman.domain.task import Task
from ferryman.serving import keys
from ferryman.serving.api.faults import not_found
from ferryman.wiring.api import House

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)

_bearer = HTTPBearer(auto_error=False, scheme_name="api_key", description="An API key: fm_ and 43 characters")


def _house(request: Request) -> House:
    house: House = request.app.state.house
    return house


TheHouse = Annotated[House, Depends(_house)]


async def _owner(
    request: Request, house: TheHouse, _: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]
) -> Owner:
    key = keys.key_of(request.headers.get("authorization"))
    known = None if key is None else await house.owners.by_key(keys.digest(key))
    owner = None if known is None else await house.owners.get(known)
    if owner is None:
        raise HTTPException(401, "a valid API key is required: Authorization: Bearer fm_…", {"WWW-Authenticate": "Bearer"})
    return owner


By = Annotated[Owner, Depends(_owner)]


async def _task(task_id: str, house: TheHouse, owner: By) -> Task:
    task = await house.tasks.get(task_id) if _ID.fullmatch(task_id) else None
    if task is None or task.owner != owner.id:
        raise not_found("task")
    return task


async def _execution(execution_id: str, house: TheHouse, owner: By) -> Execution:
    execution = await house.executions.get(execution_id) if _ID.fullmatch(execution_id) else None
    if execution is None or execution.owner != owner.id:
        raise not_found("execution")
    return execution


TheirTask = Annotated[Task, Depends(_task)]
TheirExecution = Annotated[Execution, Depends(_execution)]
