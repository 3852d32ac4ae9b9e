"""What several flows say of their changes in the same words."""

from __future__ import annotations

from distml.rewrites.patch import Note

FEWER = Note(
    "steps divided by the number of ranks",
    "a step of all ranks together uses the data of as many steps",
    "divide-steps",
)
DEALT = Note(
    "batches dealt out to the ranks in turn",
    "ranks that draw the same batches compute one gradient many times",
    "shard-data",
)
WRITTEN = Note("written by rank 0", "all ranks would write the same file at the same time", "rank-zero-output")
WAIT = Note(
    "all ranks wait until rank 0 has written",
    "the other ranks would read a missing or half-written file",
    "file-race",
)
READ = Note(
    "all ranks wait until each has read",
    "rank 0 writes the file anew, and the other ranks would read a half-written one",
    "file-race",
)
ONE_GPU = Note("one GPU for each process", "all processes of a machine would take all of its GPUs", "visible-device")
