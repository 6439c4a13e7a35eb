"""Models: the Model port on a provider's client. A process that imports this package holds no key of any task."""
