"""The rules of agents, which take those of tasks and of tools together."""
