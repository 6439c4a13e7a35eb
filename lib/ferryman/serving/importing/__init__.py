"""Importing archives: what strangers' files may say, what of it is stored, and the routes that take them."""
