"""Journeys: whole executions through the whole local stack, a story a file."""
