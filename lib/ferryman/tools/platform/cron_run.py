"""The tool `cron_run`: run a schedule that an agent added now, besides its times."""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.occupancy import TooManyQueuedError
from ferryman.domain.workspaces.member import Right
from ferryman.ports.errors import TaskDisabledError
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.platform.call import PlatformCall, register_tool
from ferryman.tools.platform.scheduling import find_scheduled


async def cron_run(*, id: str, db: PlatformCall, **_: Any) -> str:  # noqa: A002 - the argument's name to the model
    """Start one execution of it, however often the call comes, and return its id as JSON. Raise `LocalFunctionError`."""
    db.check_right(Right.RUN)
    deps, name = db.deps, db.derive_name("exec_cron")
    if await deps.executions.get(name) is None:
        task, plan, now = await find_scheduled(db, id), await db.find_plan(), deps.clock.now()
        if (reason := await deps.halts.find_halt_reason(db.owner)) is not None:
            raise LocalFunctionError(f"nothing is started: {reason}", code="conflict")
        execution = Execution(
            id=name,
            task=task.id,
            owner=task.owner,
            workspace=task.workspace,
            agent=task.agent,
            person=db.execution.person,
            created_at=now,
        )
        try:
            await deps.executions.start(execution, most=plan.executions_queued)
        except (TaskDisabledError, TooManyQueuedError) as error:
            raise LocalFunctionError(f"nothing is started: {error}", code="conflict") from None
    await deps.queue.enqueue(name, slice=0)
    return json.dumps({"id": id, "execution_id": name})


register_tool("cron_run", cron_run)
