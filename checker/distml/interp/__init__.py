"""The abstract interpreter: runs a program on abstract values, without running it.

`check.check_file` is the entry. `machine` holds the state of one run; the other
modules are functions over it, one language feature each. An abrupt end of a path
(return, break, raise) is the exception `PathEnd`; what happens where several
paths meet is in `state` (stores) and `join` (values).
"""
