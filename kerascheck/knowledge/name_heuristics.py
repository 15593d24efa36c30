"""Guesses from names: patterns for variables, functions, files and messages that show what code is for.

The interpreter follows values, not names. These patterns decide where it knows no value. Each says what it recognises, with
examples, and why a guess is allowed there. Most only silence or soften a finding, so a wrong guess raises no false alarm.
"""

from __future__ import annotations

import re

from kerascheck.knowledge import import_patterns

# --- Models and their training -------------------------------------------------------------------------------------

MODEL_NAMES = re.compile(
    r"model|network|(?<![a-z])(?:net|cnn|rnn|lstm|(?:auto)?encoder|decoder|generator|discriminator)(?![a-z])"
)
"""Names of variables that hold a neural network: ``model``, ``policy_network``, ``generator``, ``cnn``.

A guess is allowed for receivers of unknown origin in files that import Keras: it decides whether ``x.predict()`` is a call of a model.
"""

GAN_NAMES = re.compile(r"(?<!OR)GAN(?![a-z])|(?<![A-Za-z])(?:c|dc|ls|w|[Cc]ycle)?[Gg]an(?![a-z])")
"""Spellings of generative adversarial networks: ``GAN``, ``dcgan``, ``CycleGan``; not ``ORGAN`` and ``organ``.

A guess is allowed because it only silences findings: advice for one model in one training loop does not fit two that alternate.
"""

ADVERSARIES = (re.compile(r"(?:\b|_)generator(?:\b|_)", re.I), re.compile(r"(?:\b|_)discriminator(?:\b|_)", re.I))
"""Names of the two networks of an adversarial training; a module has to name both.

A guess is allowed for the reason given at :data:`GAN_NAMES`.
"""

NEXT_STATE = re.compile(
    r"^(?:next|new)_?(?:state|obs|observation)$|^(?:state|obs|observation)_?(?:next|new|prime|_)$", re.I
)
"""Names of the state after a step: ``next_state``, ``new_obs``, ``state_``. A plural may be a batch of them.

A guess is allowed: the name stands beside other parts of a transition, and the agent learns from it in the same loop.
"""

REINFORCEMENT_LEARNING = re.compile(
    rf"{import_patterns.IMPORTS}(?:gym|gymnasium|gym_\w+|tf_agents|pettingzoo|procgen|dm_env|dm_control|rl|vizdoom|ale_py|retro|nes_py|minerl|"
    r"pybullet_envs|mlagents(?:_envs)?|highway_env)\b|"
    # Those who play a game of their own name what they learn by.
    r"\b(?:(?:replay|experience)_(?:buffer|memory)|Replay(?:Buffer|Memory)|epsilon_decay|exploration_rate|[Aa]ctor_?[Cc]ritic|D?DQN\w*|DDPG)\b",
    re.M,
)
"""Imports and names of reinforcement learning: ``import gymnasium``, ``replay_buffer``, ``ActorCritic``, ``DQN``.

A guess is allowed because it mostly silences findings: such programs step an environment in Python between updates. In
``fit-in-loop`` it only chooses the wording.
"""

ARCHITECTURES = re.compile(
    r"(?:^|[._])(?:tf)?(?:[a-z]*(?:res|dense|mobile|efficient|squeeze|shuffle|retina|reg|nas|dark|seg|psp|hr|wave)net|resnext|convnext|inception|"
    r"xception|deeplab|yolo|transformer|u_?net|vgg|rcnn|ssd|fcn|fpn|crnn|bert|gpt|vit|swin|t5)(?:[bv]?\d\w*)?(?=$|[._])"
)
"""Names of functions and modules that build large architectures: ``resnet50``, ``UNet``, ``vit_b16`` (split at capitals first).

Each has enough convolutions or attention for 16-bit arithmetic to pay. A guess is allowed for models whose layers are not seen:
it decides whether half precision is worth a finding.
"""

# --- Steps and environments ----------------------------------------------------------------------------------------

ENVIRONMENTS = re.compile(r"(?:^|_)env(?:s|ironment|ironments)?\d*$", re.I)
"""Names of variables that hold an environment of reinforcement learning: ``env``, ``test_envs``, ``environment2``.

A guess is allowed because it only silences findings: a step that drives an environment cannot be compiled as a whole.
"""

EPISODE_ENDS = re.compile(r"\b(?:done|dones|terminal|terminated|truncated|game_over)\b")
"""Names of flags that end an episode: ``done``, ``terminated``, ``game_over``.

A guess is allowed because it only silences findings: an agent that learns at the end of an episode calls ``fit`` as rarely as it can.
"""

EAGER_NAMES = re.compile(r"(?:^|_)(?:eager(?:ly)?|no_?(?:tf|graph)|(?:no|without)_tf_?function)(?:_|$)", re.I)
"""Names of functions that say that they run eagerly: ``train_step_eager``, ``no_graph``, ``without_tf_function``.

A guess is allowed because it only softens a finding: the author may compare with compiled code.
"""

# --- Tracing -------------------------------------------------------------------------------------------------------

EXECUTION_MODES = re.compile(
    r"eager|symbolic|is_(?:\w+_)?tensor\b|in_tf_function|\bbackend\b|torch|jax|numpy|ndarray|KerasTensor", re.I
)
"""Words in conditions that ask for the execution mode or the backend: ``executing_eagerly``, ``is_symbolic_tensor``, ``in_tf_function``, ``jax``.

A guess is allowed because it only silences findings: a branch for eager code may never be traced.
"""

UNBUILT_STATE = re.compile(r"\bNone\b|\bnot\b|\bin\b|hasattr|built|init|first|creat|exist|made|done|ready|setup", re.I)
"""Words in conditions that ask whether state exists already: ``is None``, ``not self.built``, ``hasattr(...)``, ``if first:``.

A guess is allowed because such code creates variables in the first trace only, which ``tf.function`` permits. A wrong guess takes
code for compilable that raises in its first trace.
"""

CHANGING_CONDITIONS = re.compile(
    r"\bNone\b|\bnot\b|\bin\b|\bis\b|\w\(|==|!=|<|built|build|init|first|creat|exist|cache|step|count|made|done|ready|setup",
    re.I,
)
"""Words in conditions that may change between the first trace and the next: None, members, attributes, counters and states of building.

A guess is allowed because it only silences findings: what it does not match compares settings, which hold in every trace or in none.
"""

TRACING_WORDS = re.compile(r"trac|追踪|跟踪|compil", re.I)
"""Words that say that a print is meant for the trace: ``"Tracing with"``, ``"compiling"``, and in Chinese.

A guess is allowed because it only silences findings.
"""

TRACING_MESSAGES = re.compile(
    r"trac|追踪|跟踪|compil|graph|build|creat|construct|python|side.?effect|once|first|eager|execut|called|debug|test",
    re.I,
)
"""Words of messages without values that may be meant for the trace: ``"build graph"``, ``"called once"``, ``"Python side effect"``.

A guess is allowed because it only silences findings. It matches more than :data:`TRACING_WORDS`: no tensor shows what the print is for.
"""

SEQUENCE_LENGTHS = re.compile(
    r"\.shape\b|int_shape\(|time_?steps|seq(?:uence)?_?len|num_steps|max_?len|batch_size|\bseq\b", re.I
)
"""Expressions for the length of an axis: ``x.shape[1]``, ``timesteps``, ``seq_len``, ``max_len``, ``batch_size``.

A guess is allowed for loops over a ``range`` of unknown length that also index a tensor by the loop variable.
"""

# --- Data and batches ----------------------------------------------------------------------------------------------

BATCH_ITERABLES = re.compile(r"(?:loader|batches|dataset|_ds)\b(?!\.(?:items|values)\()", re.I)
"""Names of iterables that give batches: ``loader``, ``test_batches``, ``dataset``, ``val_ds``; no dict's ``.items()``.

A guess is allowed because it only softens or silences a finding: predicting batch by batch costs less than item by item.
"""

BATCH_NAMES = re.compile(r"(?:\b|_)batch", re.I)
"""Names of batches: ``batch``, ``x_batch``, ``batch_images``.

A guess is allowed for the reason given at :data:`BATCH_ITERABLES`.
"""

FULL_BATCHES = re.compile(r"%\s*(?:\w+\.)*batch_?size\b", re.I)
"""Conditions that wait for a full batch: ``len(items) % args.batch_size``.

A guess is allowed for the reason given at :data:`BATCH_ITERABLES`.
"""

UPLOADS = re.compile(r"\bupload", re.I)
"""Names of files that a user uploads: ``uploaded_file``, ``uploader``.

A guess is allowed because it only silences findings: the user uploads a handful of files, one at a time.
"""

KEY_PRESSES = re.compile(r"\bord\(|waitKey\(|\bK_\w+\b|key_?pressed", re.I)
"""Code that waits for a key: ``cv2.waitKey(1)``, ``ord("q")``, ``pygame.K_LEFT``.

A guess is allowed because it only silences findings: a person sets the pace of what such a condition guards.
"""

PLOT_AXES = re.compile(r"ax(?:s|es|is)?\d*\b")
"""Names of the axes of a plot: ``ax``, ``axs``, ``axes``, ``ax1``.

A guess is allowed because it only silences findings: a loop that draws in each turn shows a few results to a person.
"""

MOUNTED_DRIVES = re.compile(
    r"(?:\.?/?(?:content/)?g?drive/(?:My ?Drive|Shareddrives)\b|/content/g?drive/|/gdrive/|gs://|s3://)"
)
"""Paths on a mounted network drive: ``/content/drive/MyDrive``, ``gdrive/``, ``gs://``.

A guess is allowed because the paths are those of Google Drive in Colab and of buckets; a local folder rarely has such a name.
"""

TABLE_FILES = re.compile(r"\.(?:csv|tsv|txt|json|xlsx?|pkl|pickle|parquet|feather|h5|np[yz])$", re.I)
"""Names of single files that hold a whole table: ``train.csv``, ``x.npy``, ``data.h5``.

A guess is allowed because it only silences findings: a table on a drive does not show where the files that it lists are.
"""

# --- Devices -------------------------------------------------------------------------------------------------------

GPU_LISTS = re.compile(r"gpus\b|devices", re.I)
"""Names of lists of devices: ``gpus``, ``physical_devices``.

A guess is allowed because it only tells a question for the hardware (``if gpus:``) from a choice of the user's.
"""

MEMORY_LIMITS = re.compile(
    r"memory_growth|TF_FORCE_GPU_ALLOW_GROWTH|allow_growth|logical_device_conf|virtual_device_conf|gpu_memory_fraction|memory_limit|cap_memory"
)
"""Names of functions, settings and variables that limit GPU memory: ``set_memory_growth``, ``allow_growth``, ``memory_limit``.

A guess is allowed because it only silences findings: the program cares for its memory already.
"""

SEVERAL_DEVICES = re.compile(
    r"num_replicas_in_sync|(?:logical|virtual)_device|cross_device_ops|nccl|multi_?gpu|num_gpus?\b|n_gpus?\b|len\(gpus\)|MultiWorker|TF_CONFIG",
    re.I,
)
"""Names that show that a program is meant for several devices: ``num_replicas_in_sync``, ``multi_gpu``, ``num_gpus``, ``TF_CONFIG``.

A guess is allowed because it only silences findings.
"""

GLOBAL_BATCH_SIZES = re.compile(
    r"\breplicas\b|num_replicas|num_workers|n_workers|global_?batch|num_?gpus?|n_?gpus?\b|gpu_?count|len\((?:\w*gpus|.*devices)",
    re.I,
)
"""Names in the size of a batch that count devices: ``num_replicas``, ``global_batch``, ``n_gpus``, ``len(gpus)``.

A guess is allowed because it only silences findings: the batch grows with the number of devices.
"""

DEVICE_BATCH_SIZES = re.compile(r"batch_?size_?per|per_?(?:replica|gpu|device|core|worker)|replica_?batch", re.I)
"""Names of the size of a batch on one device: ``batch_size_per_replica``, ``per_gpu``, ``replica_batch``.

A guess is allowed because the name states the intent: a size for one device has to be multiplied by their number.
"""

CI_NAMES = re.compile(r"ci[-_].*|.*[-_]ci")
"""Names of environments and files for continuous integration: ``ci-linux``, ``tests_ci``.

A guess is allowed because it only silences findings: runners have no GPU.
"""

# --- Measurements and options --------------------------------------------------------------------------------------

SPEED_WORDS = re.compile(
    r"fps|latenc|throughput|speed|benchmark|inference|run.?time|(?:process|predict)\w*[_ ]time|per[_ ](?:step|image|frame|sample|example|token|batch|second|call|item)|average|mean",
    re.I,
)
"""Words around a measurement of speed: ``fps``, ``latency``, ``images per second``, ``average``, ``inference time``.

A guess is allowed where nothing divides the time by a number of items: a benchmark needs a warm-up, the time of a whole program does not.
"""

FIRST_RUN_WORDS = re.compile(r"\bfirst|cold|warm|trac(?:e|ing)|compil(?:e|ation)_?(?:time|s)|start.?up|\binit", re.I)
"""Words that say that the first run is the one to measure: ``first``, ``cold``, ``warm-up``, ``tracing``, ``compile time``.

A guess is allowed because it only silences findings.
"""

PRECISION_OPTIONS = re.compile(
    r"mixed_precision|float16|bfloat16|dtype_?polic|fp16|\bamp\b|half_precision|set_policy|LossScaleOpt|\bloss_scale|"
    r"""\bset_floatx\((?!\s*["'])|"""
    r"""(?:["']--?|\bDEFINE_\w+\(\s*["']|\b(?:args|opts?|flags|cfg|conf|config|params|hparams|settings)(?:\.|\[["']))"""
    r"\b(?:precision|dtype|half|amp)\b",
    re.I,
)
"""Names that show that a program chooses its precision: ``mixed_precision``, ``fp16``, ``amp``, ``--dtype``, ``args.precision``.

A guess is allowed because it only silences findings: a type that an option chooses is as good as a policy, whatever the code
behind it does.
"""

DIAGNOSTIC_OPTIONS = re.compile(r"debug|profil|histogram|verbose", re.I)
"""Names of options that ask for diagnostics: ``debug``, ``profile``, ``histograms``, ``verbose``.

A guess is allowed because it only silences findings: whoever sets the option accepts the cost.
"""

SIDE_OPTIONS = re.compile(
    r"(?:^|_)(?:debug(?:ging)?|(?:micro)?benchmark(?:ing)?|profil(?:e|er|ing)|smoke_?test)(?:_mode|_only)?$", re.I
)
"""Names of options that turn on side code: ``debug``, ``FLAGS.benchmark``, ``run_profiler``, ``DEBUG_MODE``, ``smoke_test``.

A guess is allowed because it only silences findings: the speed of code for debugging and measurements rarely matters.
"""

SIDE_FUNCTIONS = re.compile(r"_*(?:(?:micro)?benchmark|bench|profile|debug)(?:_|$)|\w+_(?:micro)?benchmark$", re.I)
"""Names of functions of side code: ``benchmark_pipeline``, ``bench``, ``profile_input``, ``debug_step``, ``run_benchmark``.

A guess is allowed for the reason given at :data:`SIDE_OPTIONS`.
"""
