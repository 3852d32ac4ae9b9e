"""torchvision.models"""
