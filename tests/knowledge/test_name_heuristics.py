"""Each pattern recognises the examples that its documentation gives, and not their neighbours."""

import ast
import re
from pathlib import Path

import pytest

from kerascheck.knowledge import name_heuristics

PATTERNS = sorted(name for name in vars(name_heuristics) if name.isupper())


def documented():
    """The constants that a docstring follows."""
    body = ast.parse(Path(name_heuristics.__file__).read_text(encoding="utf-8")).body
    for statement, below in zip(body, body[1:]):
        if isinstance(statement, ast.Assign) and isinstance(below, ast.Expr):
            yield statement.targets[0].id, below.value.value


def test_each_pattern_says_what_it_recognises_and_why_a_guess_is_allowed():
    found = dict(documented())
    assert sorted(found) == PATTERNS
    assert [name for name, text in found.items() if "A guess is allowed" not in text] == []


@pytest.mark.parametrize(
    "name, recognised, ignored",
    [
        ("MODEL_NAMES", "model policy_network generator cnn", "planet scaler"),
        ("GAN_NAMES", "GAN dcgan CycleGan", "ORGAN organ began"),
        ("REINFORCEMENT_LEARNING", "replay_buffer ActorCritic DQN", "buffer critic"),
        ("ARCHITECTURES", "resnet50 u_net vit_b16", "dense netting"),
        ("ENVIRONMENTS", "env test_envs environment2", "envelope environ"),
        ("EPISODE_ENDS", "done terminated game_over", "undone determined"),
        ("EAGER_NAMES", "train_step_eager no_graph without_tf_function", "train_step eagerness"),
        ("EXECUTION_MODES", "executing_eagerly is_symbolic_tensor in_tf_function jax", "training"),
        ("UNBUILT_STATE", "None not hasattr first", "training rate"),
        ("CHANGING_CONDITIONS", "None self.built self.step is_first", "training self.rate"),
        ("TRACING_WORDS", "Tracing compiling", "loss"),
        ("TRACING_MESSAGES", "graph called once", "loss"),
        ("SEQUENCE_LENGTHS", "x.shape timesteps seq_len max_len batch_size", "layers"),
        ("BATCH_ITERABLES", "loader test_batches dataset val_ds", "images dataset.items()"),
        ("BATCH_NAMES", "batch x_batch batch_images", "image"),
        ("UPLOADS", "uploaded_file uploader", "file"),
        ("KEY_PRESSES", 'cv2.waitKey(1) ord("q") pygame.K_LEFT', "key"),
        ("PLOT_AXES", "ax axs axes ax1", "image maxima"),
        ("MOUNTED_DRIVES", "/content/drive/MyDrive gs://bucket", "https://x /drive"),
        ("TABLE_FILES", "train.csv x.npy data.h5", "image.png"),
        ("GPU_LISTS", "gpus physical_devices", "use_gpu"),
        ("MEMORY_LIMITS", "set_memory_growth allow_growth memory_limit", "memory"),
        ("SEVERAL_DEVICES", "num_replicas_in_sync multi_gpu num_gpus TF_CONFIG", "gpu"),
        ("GLOBAL_BATCH_SIZES", "num_replicas global_batch n_gpus len(gpus)", "batch_size"),
        ("DEVICE_BATCH_SIZES", "batch_size_per_replica per_gpu replica_batch", "batch_size"),
        ("CI_NAMES", "ci-linux tests_ci", "circle"),
        ("SPEED_WORDS", "fps latency average inference", "duration"),
        ("FIRST_RUN_WORDS", "first cold warm-up tracing compile_time", "again"),
        ("PRECISION_OPTIONS", 'mixed_precision fp16 amp "--dtype args.precision', "dtype example"),
        ("DIAGNOSTIC_OPTIONS", "debug profile histograms verbose", "epochs"),
    ],
)
def test_the_examples_of_a_pattern(name, recognised, ignored):
    pattern = getattr(name_heuristics, name)
    assert [word for word in recognised.split() if not pattern.search(word)] == []
    assert [word for word in ignored.split() if pattern.search(word)] == []


def test_an_adversarial_training_names_both_networks():
    generator, discriminator = name_heuristics.ADVERSARIES
    assert generator.search("generator_loss") and discriminator.search("the discriminator")
    assert not generator.search("generators2")


def test_a_full_batch_is_a_remainder():
    assert name_heuristics.FULL_BATCHES.search("(i + 1) % args.batch_size == 0")
    assert not name_heuristics.FULL_BATCHES.search("i % 10 == 0")


def test_patterns_are_compiled():
    values = [getattr(name_heuristics, name) for name in PATTERNS if name != "ADVERSARIES"]
    assert all(isinstance(value, re.Pattern) for value in values)
