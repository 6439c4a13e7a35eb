"""The tool that finds others: which of a task's tools the model is shown beside those that it was shown at first."""
