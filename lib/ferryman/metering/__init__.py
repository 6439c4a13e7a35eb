"""Metering at work: usage events become the weeks of their workspace, in rounds."""
