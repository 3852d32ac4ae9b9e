"""What every training program needs, whatever its loop: start-up, output, downloads."""
