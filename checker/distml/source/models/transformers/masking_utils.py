"""transformers.masking_utils: a mask, or none where all may be seen."""

from _elsewhere import resolved


def _mask(config=None, inputs_embeds=None, attention_mask=None, *args, encoder_hidden_states=None, **kwargs):
    """A row for each token that asks, a column for each that may be seen, those of before included."""
    asking = kwargs.get("input_embeds") if inputs_embeds is None else inputs_embeds
    if asking is None or args:
        return resolved(config)
    if attention_mask is not None and attention_mask.dim() == 4:
        return attention_mask
    kept = kwargs.get("cache", kwargs.get("past_key_values"))
    before = 0 if kept is None else kept.get_seq_length()
    seen = asking if encoder_hidden_states is None else encoder_hidden_states
    return asking.new_zeros((asking.shape[0], 1, asking.shape[1], before + seen.shape[1]))


create_causal_mask = _mask
create_bidirectional_mask = _mask
create_sliding_window_causal_mask = _mask
create_chunked_causal_mask = _mask


def create_masks_for_generate(*args, **kwargs):
    return resolved(args)
