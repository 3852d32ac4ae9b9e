"""What every training program has, whatever its loop: start-up, output, downloads, rates, pipelines, checkpoints."""
