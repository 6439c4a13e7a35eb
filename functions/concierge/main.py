"""Local functions that keep something for a user, as a function of their own: no key, no model."""

from ferryman.serving import concierge

main = concierge.serve()
