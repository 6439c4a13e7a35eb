"""Workspaces, the people who are members of them, and the agents that act in them.

Decided: a workspace belongs to one owner, who pays, and everything else belongs to one workspace. The default workspace of an
owner and the default agent of a workspace have ids that derive from those of the owner and the workspace, and exist without a
document. A person belongs to one owner, and an API key of a person to one workspace: rights are read with each request.
"""
