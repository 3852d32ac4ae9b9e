"""Libraries as short programs: what they do with plain objects is written here in Python, and followed as any module is.

A file stands for the library of its name where the project has no such module. It says what the library's page says of
the names in it; a name that is not in it is unknown. Nothing here is imported.
"""
