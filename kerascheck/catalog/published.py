"""Published speed-ups of fixes, mostly on GPUs, with sources; kerascheck measured none of them.

A rule's page shows them until kerascheck's own table has a GPU measurement of the rule. All were read in November 2026.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """One published comparison."""

    codes: tuple[str, ...]
    """The rules whose pages show it."""
    figure: str
    """Ratios or times from the source; a ratio may be the quotient of two of its numbers."""
    compared: str
    """The comparison: model, batch size and setting."""
    card: str
    """The GPU, or the processor of a measurement without one."""
    software: str
    """Framework or container, with version and date."""
    source: str
    """The publication."""
    by: str
    """The kind of author: "vendor", "official guide", "maintainer" or "user report"."""

    def __str__(self) -> str:
        return f"{self.figure}: {self.compared} ({self.card}; {self.software}; {self.by}: {self.source})"


_EXAMPLES = "NVIDIA/DeepLearningExamples"

PUBLISHED = (
    Published(
        ("KC301", "KC302", "KC313"),
        "2.23 times faster on the A100 (float32 there is TF32), 3.12 times on the V100",
        "mixed precision against float32, U-Net medical, batch 8 in both",
        "A100 80 GB, V100 16 GB",
        "TensorFlow 2, NGC 21.02",
        f"{_EXAMPLES}, TensorFlow2/Segmentation/UNet_Medical",
        "vendor",
    ),
    Published(
        ("KC301", "KC302", "KC313"),
        "0.97 times at batch 2, 1.33 at 8, 1.44 at 32",
        "mixed precision against float32, V-Net",
        "V100 16 GB",
        "TensorFlow 1, NGC 20.06",
        f"{_EXAMPLES}, TensorFlow/Segmentation/VNet",
        "vendor",
    ),
    Published(
        ("KC310", "KC505"),
        "1.38 times faster (TF32) and 1.47 times (mixed precision) on the A100, 1.18 times (float32) on the V100",
        "training with XLA against without, Wide & Deep in Keras, batch 131072",
        "A100 80 GB, V100 32 GB",
        "TensorFlow 2, NGC Merlin 22.03",
        f"{_EXAMPLES}, TensorFlow2/Recommendation/WideAndDeep",
        "vendor",
    ),
    Published(
        ("KC121", "KC417"),
        "9565 ms for the first call, 6815 ms again for a prompt one token longer, 19.3 ms if both are padded to 8",
        "text generation with GPT-2 compiled by XLA",
        "RTX 3090",
        "TensorFlow, transformers 4.21, July 2022",
        "huggingface.co/blog/tf-xla-generate",
        "maintainer",
    ),
    Published(
        ("KC411",),
        "3.8 times as many images per second with batches of 32 as with 2",
        "training a V-Net in float32",
        "V100 16 GB",
        "TensorFlow 1, NGC 20.06",
        f"{_EXAMPLES}, TensorFlow/Segmentation/VNet",
        "vendor",
    ),
    Published(
        ("KC208",),
        "about 25 times slower (40 s against 17 min per epoch)",
        "recurrent_dropout=0.1 against 0.0, which leaves the cuDNN kernel; LSTM(128) over 1000 steps, batch 10",
        "RTX 2080",
        "TensorFlow 2.1, April 2020",
        "tensorflow/tensorflow issue 38236",
        "user report",
    ),
    Published(
        ("KC402",),
        "1.04 times faster",
        "float(loss) in each step removed, PyTorch MLP, batch 50,000",
        "RTX 3090",
        "PyTorch, August 2026",
        "lnccbrown/LANfactory pull request 120",
        "user report",
    ),
    Published(
        ("KC412",),
        "up to 5 times slower",
        "TensorBoard(histogram_freq=1) against none",
        "GTX 1060",
        "TensorFlow 1.11, December 2018",
        "tensorflow/tensorflow issue 24643",
        "user report",
    ),
    Published(
        ("KC213",),
        "no significant gain",
        "token axis padded to a multiple of 8, AllenNLP with PyTorch's mixed precision",
        "Titan V",
        "PyTorch, January 2021",
        "allenai/allennlp pull request 4929",
        "user report",
    ),
    Published(
        ("KC213",),
        "about 35 ms less per step",
        "vocabulary of 33708 padded to 33712, TF Official Transformer in float16",
        "Volta or newer",
        "TensorFlow, August 2019",
        "tensorflow/models pull request 7407",
        "maintainer",
    ),
    Published(
        ("KC116",),
        "0.20 s, 0.11 s and 0.09 s",
        "a map of tf.string_split with num_parallel_calls of 1, 2 and 3",
        "8 CPU cores",
        "TensorFlow 2.3, September 2020",
        "tensorflow/tensorflow issue 42917",
        "maintainer",
    ),
    Published(
        ("KC501",),
        "7.70 times as many images per second (TF32), 7.32 times (mixed precision)",
        "8 GPUs against 1 with Horovod, ResNet-50, batch 256 per GPU",
        "A100 40 GB",
        "TensorFlow 1, NGC 20.06",
        f"{_EXAMPLES}, TensorFlow/Classification/ConvNets/resnet50v1.5",
        "vendor",
    ),
    Published(
        ("KC502",),
        "only 3.27 times as fast (TF32), 2.48 times (mixed precision)",
        "8 GPUs against 1 with Horovod and the same global batch of 131072, Wide & Deep in Keras",
        "A100 80 GB",
        "TensorFlow 2, NGC Merlin 22.03",
        f"{_EXAMPLES}, TensorFlow2/Recommendation/WideAndDeep",
        "vendor",
    ),
    Published(
        ("KC503",),
        "0.795 s compiled against 4.10 s eager (5.2 times)",
        "1000 calls of 100 products of 10x10 matrices, without a strategy",
        "device not named",
        "TensorFlow 2",
        "tensorflow.org/guide/intro_to_graphs",
        "official guide",
    ),
    Published(
        ("KC702",),
        "214 ms per step on TensorFlow, 222 on JAX, 809 on PyTorch (BERT); 233, 274 and 525 (Gemma 7B with LoRA)",
        "fit with each backend of Keras, batches of 32 and 8",
        "A100 40 GB",
        "Keras 3",
        "keras-team/keras-io, templates/getting_started/benchmarks.md",
        "official guide",
    ),
)
"""Published figures; each names the card, the version and the setting."""


def for_rule(code: str) -> tuple[Published, ...]:
    """The published figures that a rule's page shows."""
    return tuple(each for each in PUBLISHED if code in each.codes)
