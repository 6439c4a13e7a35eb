"""Files of a workspace: read, written, listed, edited and searched by tools, in the function that may use the bucket.

Each tool has a file. `workspace_files` alone knows the bucket and the prefixes of workspaces; `file_call` is all that a tool is
given. `hook` runs in the orchestrator: it reserves the bytes of a write and counts them, since the function `files` reads no
Firestore.
"""
