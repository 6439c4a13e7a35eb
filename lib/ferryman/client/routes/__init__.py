"""The routes of the API, a module for each thing: what each method of the clients asks for, and how the answer is read."""
