"""Python itself: built-in functions, methods of its types, the standard library."""
