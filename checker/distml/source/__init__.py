"""Files, parsing, imports between the files of a project, suppressions. May import `distml.diagnostics`."""
