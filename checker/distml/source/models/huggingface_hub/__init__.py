"""huggingface_hub: https://huggingface.co/docs/huggingface_hub"""
