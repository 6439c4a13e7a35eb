"""Models: the Model port on a provider's own client. Whoever imports from here holds no key of any task."""
