"""Libraries bound to the neutral rules: names, parameters, defaults. Each is loaded when a program first names it."""
