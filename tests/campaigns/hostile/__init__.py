"""A hostile model: scripted attacks through the whole local stack, judged by what arrived where it should not."""
