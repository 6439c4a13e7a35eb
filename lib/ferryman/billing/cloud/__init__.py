"""The cloud's cost: what executions ask of Google Cloud, as measured, at list prices."""
