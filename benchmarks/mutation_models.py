"""The models that benchmarks/mutation.py breaks: what each is made of and given, kept small."""

TORCHVISION = {
    "alexnet.alexnet": "1, 3, 224, 224",
    "vgg.vgg11_bn": "1, 3, 224, 224",
    "resnet.resnet18": "2, 3, 224, 224",
    "resnet.resnet50": "2, 3, 224, 224",
    "squeezenet.squeezenet1_0": "1, 3, 224, 224",
    "densenet.densenet121": "1, 3, 224, 224",
    "shufflenetv2.shufflenet_v2_x0_5": "1, 3, 224, 224",
    "mobilenetv2.mobilenet_v2": "1, 3, 224, 224",
    "mobilenetv3.mobilenet_v3_small": "1, 3, 224, 224",
    "mnasnet.mnasnet0_5": "1, 3, 224, 224",
    "googlenet.googlenet": "2, 3, 224, 224",
    "inception.inception_v3": "2, 3, 299, 299",
    "efficientnet.efficientnet_b0": "1, 3, 224, 224",
    "convnext.convnext_tiny": "1, 3, 224, 224",
    "regnet.regnet_y_400mf": "1, 3, 224, 224",
    "vision_transformer.vit_b_16": "1, 3, 224, 224",
    "swin_transformer.swin_t": "1, 3, 224, 224",
    "segmentation.fcn.fcn_resnet50": "1, 3, 64, 64",
    "segmentation.deeplabv3.deeplabv3_resnet50": "1, 3, 64, 64",
    "video.resnet.r3d_18": "1, 3, 8, 64, 64",
    "segmentation.lraspp.lraspp_mobilenet_v3_large": "1, 3, 64, 64",
    "video.s3d.s3d": "1, 3, 16, 224, 224",
    "video.mvit.mvit_v2_s": "1, 3, 16, 224, 224",
    "maxvit.maxvit_t": "1, 3, 224, 224",
    "efficientnet.efficientnet_v2_s": "1, 3, 64, 64",
}
TIMM = {
    "mlp_mixer.MlpMixer": "img_size=64, patch_size=16, num_blocks=2, embed_dim=64",
    "vision_transformer.VisionTransformer": "img_size=64, patch_size=16, embed_dim=64, depth=2, num_heads=4",
    "convmixer.ConvMixer": "dim=32, depth=2",
    "convnext.ConvNeXt": "depths=(1, 1, 1, 1), dims=(16, 32, 64, 128)",
    "xception.Xception": "",
    "visformer.Visformer": "img_size=64, embed_dim=64, depth=(1, 1, 1), num_heads=2",
    "densenet.DenseNet": "block_config=(2, 2)",
    "metaformer.MetaFormer": "depths=(1, 1), dims=(16, 32)",
    "cait.Cait": "img_size=64, patch_size=16, embed_dim=48, depth=2, num_heads=4",
    "pit.PoolingVisionTransformer": "img_size=64, patch_size=16, stride=8, stem_type='overlap', base_dims=(16, 16), "
    "depth=(1, 1), heads=(1, 2), mlp_ratio=4",
    "edgenext.EdgeNeXt": "dims=(16, 32, 48, 64), depths=(1, 1, 1, 1)",
    "tnt.TNT": "img_size=64, embed_dim=64, inner_dim=12, depth=2, num_heads_inner=4, num_heads_outer=4",
    "convit.ConVit": "img_size=64, patch_size=16, embed_dim=48, depth=2, num_heads=4, local_up_to_layer=1",
    "beit.Beit": "img_size=64, patch_size=16, embed_dim=64, depth=2, num_heads=4",
    "xcit.Xcit": "img_size=64, patch_size=16, embed_dim=64, depth=2, num_heads=4, cls_attn_layers=1, eta=1.0",
    "swin_transformer.SwinTransformer": "img_size=64, patch_size=2, embed_dim=16, depths=(1, 1), num_heads=(2, 2), "
    "window_size=4",
    "pvt_v2.PyramidVisionTransformerV2": "depths=(1, 1, 1, 1), embed_dims=(16, 32, 48, 64), num_heads=(1, 2, 4, 4)",
    "nest.Nest": "img_size=64, embed_dims=(16, 32, 64), num_heads=(1, 2, 4), depths=(1, 1, 1)",
    "vgg.VGG": "cfg=[8, 'M', 16, 'M', 32]",
    "crossvit.CrossVit": "img_size=64, img_scale=(1.0, 1.0), patch_size=(8, 16), embed_dim=(16, 32), depth=((1, 1, 0),), "
    "num_heads=(2, 2), mlp_ratio=(2.0, 2.0, 1.0)",
    "twins.Twins": "img_size=64, embed_dims=(16, 32, 48, 64), num_heads=(1, 2, 3, 4), depths=(1, 1, 1, 1)",
    "volo.VOLO": "layers=(1, 1), img_size=64, embed_dims=(32, 64), num_heads=(2, 4), downsamples=(True, False), "
    "outlook_attention=(True, False)",
    "davit.DaVit": "depths=(1, 1), embed_dims=(16, 32), num_heads=(2, 4)",
    "focalnet.FocalNet": "embed_dim=16, depths=(1, 1), focal_levels=(2, 2), focal_windows=(3, 3)",
    "sequencer.Sequencer2d": "img_size=64, layers=(1, 1), patch_sizes=(8, 2), embed_dims=(16, 32), hidden_sizes=(8, 8), "
    "mlp_ratios=(2.0, 2.0)",
    "hiera.Hiera": "img_size=(64, 64), embed_dim=16, num_heads=1, stages=(1, 1), mask_unit_size=(4, 4), q_pool=1",
    "repvit.RepVit": "embed_dim=(16, 32), depth=(1, 1)",
    "ghostnet.GhostNet": "cfgs=[[[3, 16, 16, 0, 1]], [[3, 48, 24, 0.25, 2]]]",
    "dla.DLA": "levels=(1, 1, 1, 1, 1, 1), channels=(8, 8, 16, 32, 32, 64)",
    "dpn.DPN": "k_sec=(1, 1, 1, 1), inc_sec=(16, 32, 32, 64), k_r=32, groups=8, num_init_features=16",
    "mambaout.MambaOut": "depths=(1, 1, 1, 1), dims=(16, 32, 48, 64)",
    "inception_next.MetaNeXt": "depths=(1, 1, 1, 1), dims=(16, 32, 48, 64)",
}
_IDS, _IMAGE = "torch.zeros(2, 8, dtype=torch.long)", "torch.zeros(1, 3, 64, 64)"
TRANSFORMERS = {
    "albert.AlbertForSequenceClassification": "AlbertConfig(vocab_size=50, embedding_size=8, hidden_size=16, "
    f"num_hidden_layers=1, num_attention_heads=2, intermediate_size=32) | {_IDS}",
    "electra.ElectraForTokenClassification": "ElectraConfig(vocab_size=50, embedding_size=8, hidden_size=16, "
    f"num_hidden_layers=1, num_attention_heads=2, intermediate_size=32) | {_IDS}",
    "distilbert.DistilBertForQuestionAnswering": f"DistilBertConfig(vocab_size=50, dim=16, "
    f"n_layers=1, n_heads=2, hidden_dim=32) | {_IDS}",
    "mpnet.MPNetModel": "MPNetConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, "
    f"intermediate_size=32) | {_IDS}",
    "gpt_neo.GPTNeoForCausalLM": "GPTNeoConfig(vocab_size=50, hidden_size=16, num_layers=1, num_heads=2, "
    f"attention_types=[[['global'], 1]], max_position_embeddings=32) | {_IDS}",
    "opt.OPTForCausalLM": "OPTConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, ffn_dim=32, num_attention_heads=2, "
    f"word_embed_proj_dim=16, max_position_embeddings=32) | {_IDS}",
    "qwen2.Qwen2ForCausalLM": "Qwen2Config(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, "
    f"num_key_value_heads=1, intermediate_size=32) | {_IDS}",
    "convnextv2.ConvNextV2ForImageClassification": f"ConvNextV2Config(hidden_sizes=[8, 16, 24, 32], "
    f"depths=[1, 1, 1, 1]) | {_IMAGE}",
    "poolformer.PoolFormerModel": "PoolFormerConfig(depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32]) | " + _IMAGE,
    "levit.LevitForImageClassification": "LevitConfig(image_size=64, hidden_sizes=[16, 32, 48], num_attention_heads=[1, 2, 3], "
    f"depths=[1, 1, 1], key_dim=[8, 8, 8]) | {_IMAGE}",
    "mobilevit.MobileViTModel": f"MobileViTConfig(hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, "
    f"16, 24, 32, 32, 64]) | {_IMAGE}",
    "deit.DeiTForImageClassification": "DeiTConfig(image_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, "
    f"intermediate_size=32) | {_IMAGE}",
    "yolos.YolosForObjectDetection": "YolosConfig(image_size=[64, 64], hidden_size=16, "
    "num_hidden_layers=1, num_attention_heads=2, "
    f"intermediate_size=32, num_detection_tokens=5) | {_IMAGE}",
    "glpn.GLPNForDepthEstimation": "GLPNConfig(depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32], "
    "num_attention_heads=[1, 1, 2, 4], "
    f"decoder_hidden_size=8) | {_IMAGE}",
    "upernet.UperNetForSemanticSegmentation": "UperNetConfig(hidden_size=16, pool_scales=[1, 2], auxiliary_channels=16) | "
    + _IMAGE,
}
KERAS = {
    "resnet.ResNet50": "",
    "mobilenet.MobileNet": "",
    "mobilenet_v2.MobileNetV2": "",
    "mobilenet_v3.MobileNetV3Small": "",
    "densenet.DenseNet121": "",
    "efficientnet.EfficientNetB0": "",
    "xception.Xception": "",
    "inception_v3.InceptionV3": "",
    "vgg16.VGG16": "",
    "convnext.ConvNeXtTiny": "",
}
_TEXT = "jnp.ones((2, 8), jnp.int32)"
FLAX = {
    "imagenet.models.ResNet18": "num_classes=10 | jnp.zeros((1, 32, 32, 3)), train=False",
    "imagenet.models.ResNet50": "num_classes=10 | jnp.zeros((1, 32, 32, 3)), train=False",
    "mnist.train.CNN": " | jnp.zeros((1, 28, 28, 1))",
    "vae.models.VAE": "latents=4 | jnp.zeros((2, 784)), jax.random.key(1)",
    "ppo.models.ActorCritic": "num_outputs=4 | jnp.zeros((1, 84, 84, 4))",
    "wmt.models.Transformer": "config=TransformerConfig(12, 12, emb_dim=16, num_heads=2, num_layers=1, qkv_dim=16, "
    f"mlp_dim=32, max_len=16, deterministic=True) | {_TEXT}, {_TEXT}",
    "lm1b.models.TransformerLM": "config=TransformerConfig(12, 12, emb_dim=16, num_heads=2, num_layers=1, qkv_dim=16, "
    f"mlp_dim=32, max_len=16, deterministic=True) | {_TEXT}",
    "nlp_seq.models.Transformer": "config=TransformerConfig(12, 12, emb_dim=16, num_heads=2, num_layers=1, qkv_dim=16, "
    f"mlp_dim=32, max_len=16) | inputs={_TEXT}, train=False",
}
TABLES = {
    "torchvision": (
        TORCHVISION,
        (
            "import torch\nfrom torchvision.models.{module} import {maker}\n\n"
            "model = {maker}(weights=None)\nmodel.eval()\nmodel(torch.zeros({given}))\n"
        ),
    ),
    "timm": (
        TIMM,
        (
            "import torch\nfrom timm.models.{module} import {maker}\n\n"
            "model = {maker}({given})\nmodel.eval()\nmodel(torch.zeros(1, 3, 64, 64))\n"
        ),
    ),
    "transformers": (
        TRANSFORMERS,
        (
            "import torch\nfrom transformers import {config}\nfrom modeling.modeling_{module} import {maker}\n\n"
            "model = {maker}({given})\nmodel.eval()\nmodel({rest})\n"
        ),
    ),
    "keras": (
        KERAS,
        (
            "import keras\nfrom applications.{module} import {maker}\n\n"
            "model = {maker}(weights=None, input_shape=(96, 96, 3))\nmodel(keras.Input((96, 96, 3)))\n"
        ),
    ),
    "flax": (
        FLAX,
        (
            "import jax\nimport jax.numpy as jnp\nfrom {module} import *\n\n"
            "model = {maker}({given})\njax.eval_shape(lambda: model.init_with_output(jax.random.key(0), {rest})[0])\n"
        ),
    ),
}
"""The programs over a package: what each model is made of or given, by module and name, and the text around it."""
