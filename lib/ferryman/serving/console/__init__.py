"""The console: pages for people, served by the API's function, each a client of the API in the same process.

A page asks the API's own routes, so that rights, limits, audit entries and numbers are theirs. Templates are the one rendering:
what is live is sent as trees of elements and text, which scripts build without ever parsing markup (trusted types).
Jinja2 renders: autoescape, StrictUndefined, no build step and no Node; scripts and styles are small files of ours.
"""
