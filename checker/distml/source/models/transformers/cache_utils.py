"""transformers.cache_utils: keys and values of tokens before."""

import torch
from _elsewhere import resolved


class Cache:
    """Keys and values by layer."""

    def __init__(self, *args, **kwargs):
        self.kept = {}

    def update(self, key_states, value_states, layer_idx, *args, **kwargs):
        if layer_idx in self.kept:
            keys, values = self.kept[layer_idx]
            key_states = torch.cat([keys, key_states], dim=-2)
            value_states = torch.cat([values, value_states], dim=-2)
        self.kept[layer_idx] = (key_states, value_states)
        return key_states, value_states

    def get_seq_length(self, layer_idx=0):
        return self.kept[layer_idx][0].shape[-2] if layer_idx in self.kept else 0

    def __getattr__(self, name):
        return resolved(name)


class DynamicCache(Cache):
    """DynamicCache(config=None)"""


class EncoderDecoderCache(Cache):
    """EncoderDecoderCache(self_attention_cache, cross_attention_cache)"""

    def __init__(self, *caches):
        super().__init__()
        self.self_attention_cache = caches[0] if len(caches) > 0 else DynamicCache()
        self.cross_attention_cache = caches[1] if len(caches) > 1 else DynamicCache()
        self.is_updated = {}

    def get_seq_length(self, layer_idx=0):
        return self.self_attention_cache.get_seq_length(layer_idx)
