"""Tools: what the model may ask for. Definitions and the reading of arguments are pure; a handler is given by the wiring."""
