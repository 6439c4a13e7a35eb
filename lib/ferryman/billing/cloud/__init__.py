"""The cost of Google Cloud: the measured use of executions, at list prices."""
