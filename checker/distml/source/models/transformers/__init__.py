"""transformers: https://huggingface.co/docs/transformers; what its models stand on, which is long and says little about sizes.

The models are followed where they are installed, and so is what is left out here.
"""
