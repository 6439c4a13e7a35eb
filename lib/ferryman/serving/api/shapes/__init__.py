"""Shapes: the JSON that goes in and out, a file per noun. What goes in is strict and takes no field it does not know."""
