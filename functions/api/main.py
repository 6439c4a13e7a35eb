"""The function api: tasks, credentials and executions over HTTP."""

from ferryman.serving import api

main = api.serve()
