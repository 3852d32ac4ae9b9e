"""hydra.core: https://hydra.cc/docs/"""
