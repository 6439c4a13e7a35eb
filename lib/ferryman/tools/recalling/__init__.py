"""The tool that reads an earlier result of a conversation again: of what the model is shown a part, or a reference."""
