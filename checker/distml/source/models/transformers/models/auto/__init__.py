"""transformers.models.auto"""
