"""The rules for Python that Bazel 4 has built in, under the names by which newer ones load them."""

py_binary = native.py_binary
py_library = native.py_library
py_test = native.py_test
