"""What operations do to shapes, whoever calls them: one law in one place, with its formula and its source.

Nothing here knows a library: bindings read their library's arguments and hand over sizes; where libraries answer
differently, the dialect of the call is asked.
"""
