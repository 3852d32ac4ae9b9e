"""absl: https://abseil.io/docs/python/"""
