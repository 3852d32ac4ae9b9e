"""Files written for people: inside a folder, whole, all or none. May import nothing of ours."""
