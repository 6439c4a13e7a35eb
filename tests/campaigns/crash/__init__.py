"""Kill it anywhere: executions that are killed, delayed, doubled and lied to at every crossing of every port."""
