"""Streams of generated answers: judged by the protocols' own clients, and resumed wherever they break off."""
