"""einops: rearrange, reduce, repeat and their layers."""
