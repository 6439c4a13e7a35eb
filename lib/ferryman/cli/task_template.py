"""The file of a task that `ferryman task init` writes: every field, with what it is for; it can be created as it is."""

from __future__ import annotations

TEMPLATE = """\
# A task of Ferryman. What is commented out has the value that is shown.
#   ferryman task create --file {file}
#   ferryman task update TASK --file {file}

name: {name}
description: ""

# The agent that runs it, of `ferryman agent list`: its prompt comes before this one's, and its limits hold.
# agent_id: agent_...      # without it, the workspace's default agent

# One of `ferryman models`; scripted/hello needs no provider: it plays a script of the local stack. null: its agent's.
model: scripted/hello

# What is to be done. May use {{{{date}}}}, {{{{datetime}}}}, {{{{execution_id}}}} and {{{{task_name}}}}.
task_prompt: |
  Say hello to CoinGecko.

# How it is to be done.
system_prompt: ""

# What it may use, of `ferryman tools`; an object declares a tool of its own (docs/declared-tools.md).
tools:
  - http_get
  - api_call
  # - kind: http
  #   name: getWeather
  #   url: https://api.example.com/weather?city={{city}}

# Which of them the model is shown: all, or those that the prompt asks for; it searches the others with find_tools.
# tool_loading: all        # all or context-aware

# The services it may reach, of `ferryman integrations`. Their keys: ferryman credential set TASK NAME --service SERVICE
integrations:
  - coingecko

# Where it may post to with the tool webhook, which needs the integration webhook; at most three https URLs.
# webhook_urls:
#   - https://hooks.slack.com/services/T000/B000/XXXX
# webhook_match: host      # url: only these very URLs, not any on their hosts

# Which calls wait for a person (docs/approvals.md): the first rule that matches counts. always, when_untrusted or never.
# Where none matches, when_untrusted: name in the prompt where effects go, and nobody is asked.
# approvals:
#   - mode: always
#     tools: [http_post]
#     amount: {{argument: body.amount, above: 100}}

# When it runs by itself, in UTC; one of the three.
# schedule: {{type: cron, cron: "0 9 * * MON-FRI"}}
# schedule: {{type: once, at: "2027-01-31T09:00:00Z"}}
# schedule: {{type: delayed, after_s: 3600}}

# Limits of an execution; the plan sets the most (`ferryman plans`).
# max_iterations: 8        # turns of the model
# max_credits: 100         # a credit is worth $0.001
# max_credits_month: 1000  # of all executions of a month; without it, only the plan's limit
# max_tokens: 4096         # of one reply
# temperature: 0.3         # 0 to 1; null for models that do not take one

# enabled: true            # false: it cannot be run
"""


def write_template(file: str, name: str) -> str:
    """Return the text for a file of this name, of a task called `name`, which is written as a text of YAML."""
    quoted = "'" + name.replace("'", "''") + "'"
    return TEMPLATE.format(file=file, name=quoted)
