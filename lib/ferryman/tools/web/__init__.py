"""Public pages: `web_fetch` runs in a function that has no key and no store.

Where a URL comes from is decided when the turn is journaled (`domain/urls`). `hook`, in the orchestrator, refuses a URL that is
not to be fetched, and tells the function where redirects may lead.
"""
