"""Worst: texts made to take as long as they can to check, beside a neighbour whose POST is under way in the same functions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from tests.campaigns.hostile.scenario import PUBLIC, Act, Answer, Scenario, call, call_tools, finish, import_document
from tests.campaigns.hostile.scenarios.greed import START

URL = f"https://{PUBLIC}/{{token}}"
TEXTS: Mapping[str, str] = {
    "backslashes": "\\" * 24_000,
    "a bracket and blanks": "<" + " " * 24_000,
    "percents in percents": "%25" * 8_000,
    "letters that unfold": "ﷺ" * 24_000,
}
AT_ONCE = replace(START, times=3, at_once=3)


def _worst(what: str, *turns: Mapping[str, object], acts: tuple[Act, ...] = (AT_ONCE,), body: str = "") -> Scenario:
    return Scenario(
        name=f"worst: {what}",
        victim=True,
        victim_s=9.0,
        acts_alone=True,
        plan="guru",
        tools=("http_post",),
        turns=(*turns, finish()),
        answers={"/worst": Answer(body=body)},
        acts=acts,
    )


def _document(text: str) -> str:
    operation = {"summary": text[:2_000], "description": text, "responses": {}}
    about = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "servers": [{"url": f"https://{PUBLIC}"}]}
    return json.dumps({**about, "paths": {f"/{number}": {"get": operation} for number in range(20)}})


SCENARIOS = (
    *(
        _worst(
            f"{what}, as an answer",
            call_tools(*(call("http_post", url=f"{URL}/worst", body={"n": n}) for n in range(3))),
            body=text,
        )
        for what, text in TEXTS.items()
    ),
    *(
        _worst(
            f"{what}, as arguments", call_tools(*(call("http_post", url=URL, body={"n": n, "text": text}) for n in range(3)))
        )
        for what, text in TEXTS.items()
    ),
    *(
        _worst(f"{what}, as what the model says", call_tools(call("http_post", url=URL, body={}), text=text), finish(text))
        for what, text in TEXTS.items()
    ),
    *(
        _worst(f"{what}, in a document", acts=(replace(import_document(spec=_document(text)), times=3, at_once=3),))
        for what, text in TEXTS.items()
    ),
)
