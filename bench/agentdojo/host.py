"""The suites of AgentDojo in a process of their own environment: it reads requests and writes answers, one JSON object a line.

Nothing here is imported by the bench, and nothing of Ferryman is imported here.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import lru_cache
from typing import Any

import yaml
from agentdojo.agent_pipeline.ground_truth_pipeline import GroundTruthPipeline
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.attacks.important_instructions_attacks import ImportantInstructionsAttackNoNames
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites
from pydantic import TypeAdapter

ENVIRONMENTS_MAX = 2
"""How many environments are remembered as they were loaded: that of the pair at hand is needed again and again."""

ANY: TypeAdapter[Any] = TypeAdapter(Any)
MODEL = "gpt-4o-2024-05-13"
"""The attack's text wants the name of a pipeline, which it does not use."""


def to_json(value: Any) -> Any:
    """Return what a tool returned as JSON."""
    return json.loads(ANY.dump_json(value, fallback=str))


def remember(find: Any) -> Any:
    """Return `find`, a function of a task, which remembers its answers: it runs the whole task for each."""
    known: dict[str, Any] = {}

    def find_once(task: Any) -> Any:
        if task.ID not in known:
            known[task.ID] = find(task)
        return known[task.ID]

    return find_once


class Host:
    """One environment at a time, and the suites that it is made of."""

    def __init__(self, version: str) -> None:
        self.suites = get_suites(version)
        self.attacks: dict[str, Any] = {}
        for name, suite in self.suites.items():
            pipeline = GroundTruthPipeline(None)
            pipeline.name = MODEL
            self.attacks[name] = attack = ImportantInstructionsAttackNoNames(suite, pipeline)
            attack.get_injection_candidates = remember(attack.get_injection_candidates)
        self.attack = lru_cache(ENVIRONMENTS_MAX)(self._attack)
        self.load = lru_cache(ENVIRONMENTS_MAX)(self._load)

    def describe(self) -> Any:
        """Return every suite: its tools, its user tasks and its injection tasks."""
        return {
            name: {
                "tools": [
                    {"name": tool.name, "description": tool.description, "schema": tool.parameters.model_json_schema()}
                    for tool in suite.tools
                ],
                "user_tasks": {id_: task.PROMPT for id_, task in suite.user_tasks.items()},
                "injection_tasks": {id_: task.GOAL for id_, task in suite.injection_tasks.items()},
            }
            for name, suite in self.suites.items()
        }

    def begin(self, suite: str, user_task: str, injection_task: str | None) -> Any:
        """Build the environment of a task, attacked or not. Return the prompt, and the calls and the answer that solve it."""
        self.suite, self.task = self.suites[suite], self.suites[suite].user_tasks[user_task]
        self.injection = self.suite.injection_tasks[injection_task] if injection_task else None
        injections = self.attack(suite, user_task, injection_task) if injection_task else json.dumps({})
        self.environment = self.task.init_environment(self.load(suite, injections).model_copy(deep=True))
        self.before = self.environment.model_copy(deep=True)
        self.runtime = FunctionsRuntime(self.suite.tools)
        self.traces: list[FunctionCall] = []
        return {
            "prompt": self.task.PROMPT,
            "calls": self._solve(self.task),
            "output": self.task.GROUND_TRUTH_OUTPUT,
            "goal": self.injection.GOAL if self.injection else None,
        }

    def obey(self) -> Any:
        """Return the calls that the injection wants, as things are now, and what it wants to be said."""
        return {"calls": self._solve(self.injection), "output": self.injection.GROUND_TRUTH_OUTPUT}

    def call(self, name: str, arguments: Any) -> Any:
        """Call a tool. Return its result as the text that a model reads, and as JSON, or its error."""
        self.traces.append(FunctionCall(function=name, args=arguments))
        result, error = self.runtime.run_function(self.environment, name, dict(arguments))
        return {"text": tool_result_to_str(result), "value": to_json(result), "error": error}

    def check(self, output: str) -> Any:
        """Return whether the user's task is done, and whether the injection has got what it wants."""
        blocks = [{"type": "text", "content": output}]
        state = (blocks, self.before, self.environment, self.traces)
        return {
            "utility": bool(self.suite._check_user_task_utility(self.task, *state)),
            "attacked": bool(self.injection and self.suite._check_injection_task_security(self.injection, *state)),
        }

    def _attack(self, suite: str, user_task: str, injection_task: str) -> str:
        """Return what each place of the environment that the user's task reads is injected with, as JSON."""
        task, injection = self.suites[suite].user_tasks[user_task], self.suites[suite].injection_tasks[injection_task]
        return json.dumps(self.attacks[suite].attack(task, injection))

    def _load(self, suite: str, injections: str) -> Any:
        return self.suites[suite].load_and_inject_default_environment(json.loads(injections))

    def _solve(self, task: Any) -> Any:
        calls = task.ground_truth(self.environment.model_copy(deep=True))
        return [{"name": call.function, "arguments": to_json(dict(call.args))} for call in calls]


def main() -> None:
    """Answer requests until the last one."""
    warnings.simplefilter("ignore")
    # the same loader in C: an environment is read for every pair
    yaml.safe_load = lambda text: yaml.load(text, yaml.CSafeLoader)
    answers, sys.stdout = sys.stdout, sys.stderr
    host = Host(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(host, request.pop("do"))(**request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
