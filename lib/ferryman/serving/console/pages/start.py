"""The first run: a template is chosen, and becomes a task, which is started on its own page and finishes before your eyes."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.first_tasks import SCRIPTED, list_first_tasks
from ferryman.serving.console.form_fields import list_problems
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect

PATH = f"{ROOT}/start"
MODELS_MAX = 100


async def show_start(request: ConsoleRequest) -> ConsolePage:
    """Show the templates, and the models that can run them."""
    return await _show(request)


async def create_first_task(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Store the task of the template that was chosen, with the model that was chosen or the script that plays it."""
    known = {first.id: first for first in list_first_tasks(await _list_models(request))}
    first = known.get(request.read_field("template"))
    if first is None:
        raise HTTPException(422, f"template: must be one of {', '.join(known)}")
    body = {**first.body, "model": request.read_field("model") or first.script}
    try:
        created = await request.api.post("/v1/tasks", body, once=request.read_field("once"))
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=f"{ROOT}/tasks/{created['task_id']}", done="created-first")


async def _list_models(request: ConsoleRequest) -> list[str]:
    listed = await request.api.get("/v1/models", limit=MODELS_MAX)
    return [model["name"] for model in listed["models"]]


async def _show(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    models = await _list_models(request)
    named = [(name, name) for name in models if name != SCRIPTED]
    scripts = [("", "a script of the local stack: needs no key")] if SCRIPTED in models else []
    values = {
        "templates": list_first_tasks(models),
        "options": [*scripts, *named],
        "template": request.read_field("template") or "hello",
        "model": request.read_field("model"),
        "errors": list_problems(refused),
    }
    return ConsolePage(
        template="start.html", title="First task", values=values, status=200 if refused is None else refused.status
    )


ROUTES = (ConsoleRoute(path=PATH, show=show_start, section="overview", actions={"create": create_first_task}),)
