"""transformers.models"""
