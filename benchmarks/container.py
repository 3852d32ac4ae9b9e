"""The container image: its size and what starting it costs, next to distml without a container.

    python benchmarks/container.py [--image distml] [--docker podman] [--runs 10]

Prints Markdown. The image has to be there: `docker build -t distml .`
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from process import best, run

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "unet.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--image", default="distml")
    parser.add_argument("--docker", default="podman")
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    inspect = [options.docker, "image", "inspect", options.image]
    (image,) = json.loads(subprocess.run(inspect, capture_output=True, check=True).stdout)
    bare = ["--rm", "--network=none", "--read-only", "--cap-drop=ALL", "-v", f"{EXAMPLE.parent}:/src:ro"]
    contained = [options.docker, "run", *bare, options.image]
    plain = [sys.executable, "-m", "distml.cli"]
    print(f"Image: {image['Size'] / 1e6:.0f} MB.\n")
    print("| | in the container | without |\n|---|---|---|")
    for name, arguments in {"version": ["--version"], "check of a file": ["check", EXAMPLE.name, "--no-cache"]}.items():
        inside, outside = (
            best(run([*start, *arguments], EXAMPLE.parent) for _ in range(options.runs)) for start in (contained, plain)
        )
        print(f"| {name} | {inside.seconds:.2f} s | {outside.seconds:.2f} s |")


if __name__ == "__main__":
    main()
