"""The command line: parses, calls the engine, prints, sets the exit code. May import all rooms."""
