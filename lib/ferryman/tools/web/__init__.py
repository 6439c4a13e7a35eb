"""Public pages: `web_fetch` runs in a function that has no key and no store; `hook` decides before what it is asked."""
