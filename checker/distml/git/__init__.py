"""git as a process, the only room that starts it. May import nothing of ours."""
