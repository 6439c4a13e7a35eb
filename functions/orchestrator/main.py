"""The orchestrator as a function: Cloud Tasks calls it, and nobody else."""

from ferryman.serving import orchestrator

main = orchestrator.serve()
