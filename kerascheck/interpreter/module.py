"""One module of the linted tree: its text, its tree, and what running it would mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import libcst as cst

from kerascheck.config import Machine
from kerascheck.knowledge.namespaces import TENSORFLOW
from kerascheck.knowledge.runtime import ONLY_TENSORFLOW_1, Runtime
from kerascheck.syntax.edits import imports_as_written, names_as_written
from kerascheck.meaning.data.image_flows import flows_of
from kerascheck.interpreter import Interpreter
from kerascheck.meaning.models.models import Model, models_of
from kerascheck.meaning.data.pipelines import Pipelines
from kerascheck.interpreter.place import stands_for_versions
from kerascheck.meaning.program.program import Program
from kerascheck.syntax.tree import Tree
from kerascheck.interpreter.values import Call
from kerascheck.source.code import compact, without_comments, without_strings
from kerascheck.source.importers import added_folders
from kerascheck.source.requirements import Pin, Stated, command_versions, pinned_versions, script_versions
from kerascheck.source.text import read_bytes
from kerascheck.interpreter.target import Signs, Target, target_of

# Names that a file of the tree may not take from the libraries they belong to.
_LIBRARIES = frozenset(
    "tensorflow keras tf_keras numpy jax torch pandas sklearn scipy matplotlib cv2 PIL tqdm os sys re json random time math typing "
    "collections functools itertools logging argparse pathlib abc datetime pickle copy glob shutil subprocess warnings transformers "
    "tensorflow_datasets tensorflow_addons tensorflow_probability tensorflow_hub absl flask dataclasses enum csv string".split()
)
_MAX_IMPORTED = 80
_LARGEST_SCRIPT = 300_000
_SHARE_BESIDE = 0.1
"""What looking for words in the modules beside one takes, of what analysing them would."""
# Characters of code, white space aside: a text of 4000 has as many (median of 522 modules of ten repositories).
_SHORT = 2300
_NAMES_KERAS = re.compile("keras|tensorflow")
_ACTS_ON_IMPORT = (
    "set_memory_growth", "set_visible_devices", "set_global_policy", "set_policy", "set_dtype_policy", "os.environ",
    "run_functions_eagerly", "set_logical_device_configuration", "set_virtual_device_configuration", "enable_debug_mode",
)

# A module without any of these holds nothing that a rule asks about: its functions are not followed into.
_WORTH_FOLLOWING = re.compile(
    r"tf\.data\b|Dataset|GradientTape|apply_gradients|memory_growth|set_(?:global_|dtype_)?policy|\.fit\(|\.batch\(|py_function|"
    r"numpy_function|tf\.image|tf\.random|parse_single|layers\.Random[A-Z]|@tf\.function|tf\.config|environ\[|Sequential\(|Model\(inputs|"
    r"Model\(\[|load_model|layers\.Input\(|Input\(shape|\bSequence\b|PyDataset|ImageDataGenerator|imread|load_img|Image\.open|\byield\b|keras\.(?:models\.)?Model\)|\(Model\)"
)

_IMPORT_LINE = re.compile(r"^[ \t]*(?:from[ \t]+(?P<base>[.\w]+)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#;]+)|import[ \t]+(?P<plain>[^\n#;(]+))", re.M)
_GRAPH_SWITCH = re.compile(r"\bdisable_(?:eager_execution|v2_behavior)\(")
_GRAPH_CODE = re.compile(
    r"\bsess(?:ion)?\.run\(|\b_make_predict_function\(|with tf\.(?:compat\.v1\.)?Session|tensorflow\.contrib\b|"
    r"\btf\.(?:compat\.v1\.)?(?:placeholder|estimator|contrib|truncated_normal|get_variable|get_collection|add_to_collection|"
    r"trainable_variables|global_variables|global_variables_initializer)\b|"
    r"\b(?:(?:Singular)?Monitored(?:Training)?Session|SessionRunHook|import_meta_graph|feed_dict\s*=)"
)
# A function that loads or runs a saved graph, beside which others run Keras.
_FUNCTION = re.compile(r"^def .*?(?=^[^\s)#]|\Z)", re.M | re.S)
_RUNS_SAVED_GRAPH = re.compile(r"\bSession\(\s*graph\s*=\s*(\w+)")
# tensorflow.contrib went with TensorFlow 2 (RELEASE.md of 2.0); there its package has tensorflow/_api/v2 in the place of v1.
_CONTRIB = re.compile(r"^[ \t]*(?:import|from)[ \t]+tensorflow\.(?:contrib|_api\.v1)\b", re.M)
_NEEDS_CONTRIB = re.compile(r"^(?:(?:import|from)[ \t]+tensorflow\.contrib\b|[^\s@].*\btf\.contrib\.)", re.M)
# The last TensorFlow Addons, 0.23, and keras_contrib fail to import beside Keras 3; bert4keras asks for this one in its setup.py.
_BOUND_BY = {"tensorflow_addons": ("tensorflow", "<2.16"), "keras_contrib": ("keras", "<3"), "bert4keras": ("keras", "<=2.3.1")}
_ANYTHING = re.compile("")
_SHOWS_ONE_GPU = re.compile(r"""CUDA_VISIBLE_DEVICES["']\]?\s*[=,]\s*["']\d+["']""")
# Only TensorFlow 1 has sessions under this name, but for programs that import its interface from a later one.
_OPENS_SESSION = re.compile(r"(?m)^\w+[ \t]*=[ \t]*(?:tf|tensorflow)\.(?:Interactive)?Session\(")
_SWITCHES_EAGER = re.compile(r"(?m)^[ \t]*[\w.]+\brun_functions_eagerly\((?:run_eagerly=)?True\)")
_NAMES_OF_1 = "|".join(ONLY_TENSORFLOW_1)
_MAY_BE_OF_1 = re.compile(rf"\b(?:tf|tensorflow)\.(?:{_NAMES_OF_1})\b|^[ \t]*from[ \t]+tensorflow[ \t]+import\b[^\n]*\b(?:{_NAMES_OF_1})\b", re.M)
# The last two are in TensorFlow 1, too, in programs that build no graphs.
_OF_TENSORFLOW_2 = re.compile(r"GradientTape|tf\.function|enable_eager_execution")
_SESSION = re.compile(r"\bSession\(")
_DIRECTIVE = re.compile(r"#\s*(?:noqa|kerascheck|KC\d|type:|pylint|pragma|ruff)", re.I)
# Arguments and modules that went with Keras 2: what uses them runs with Keras 1, or with a package of Keras 2 that still translates them.
_MAY_BE_OF_KERAS_1 = re.compile(r"nb_epoch|samples_per_epoch|nb_val_samples|border_mode|visualize_util|inner_init|\b(?:Dense|GRU|LSTM)\([^()\n=]*,\s*\d")
_OF_KERAS_1 = re.compile(
    r"\.fit(?:_generator)?\((?:[^()]|\([^()]*\))*?[(,\s](?:nb_epoch|samples_per_epoch|nb_val_samples)\s*="
    r"|\b(?:Convolution|Conv|MaxPooling|AveragePooling)\w*\((?:[^()]|\([^()]*\))*?[(,\s]border_mode\s*="
    r"|\bkeras\.utils\.visualize_util\b|[(,\s]inner_init\s*=\s*[\"']"
    # Until 0.1 the sizes of input and output came first.
    r"|\b(?:Dense|GRU|LSTM)\(\s*[^(),=]+,\s*\d+\s*[,)]"
)
_BACKEND = re.compile(r"""KERAS_BACKEND["']\]?\s*[=,:]\s*["'](tensorflow|jax|torch)["']""")
# These backends went with Keras 2.3, the last that had several before version 3. What is indented may be one way of several.
_BACKEND_OF_2 = re.compile(r"""^\S.*KERAS_BACKEND["']\]?\s*[=,:]\s*["'](?:theano|cntk|mxnet|plaidml)|^(?:import|from)[ \t]+plaidml\.keras\b""", re.M)
# What makes models in tensorflow.python.keras is a copy of Keras 2 inside of TensorFlow, whatever version of Keras is beside it.
_LEGACY = re.compile(
    r"""^\s*(?:import|from)\s+tf_keras\b|TF_USE_LEGACY_KERAS["']\]?\s*[=,]\s*["'](?:1|true)["']"""
    r"|^\s*(?:import|from)\s+tensorflow\.python\.keras(?:\.(?:models|layers|engine|applications)\b|\s+import\s+.*\b(?:models|layers|applications|Model|Sequential|Input)\b|\s+as\b|\s*$)"
    r"|^\s*from\s+tensorflow\.python\s+import\s+keras\b",
    re.M | re.I,
)


class Module:
    """A parsed module.

    Attributes:
        source: its :class:`kerascheck.source.Source`.
        tree: its :class:`Tree`.
        project: the tree of modules that it belongs to.
    """

    def __init__(self, source, project: Project, tree: Tree | None = None):
        self.source, self.project = source, project
        if tree is not None:
            self.tree = tree

    @cached_property
    def tree(self) -> Tree:
        """Parsed when it is first needed: most imported modules never are. Raises :class:`SyntaxProblem`."""
        return Tree(self.source.without_data)

    def __repr__(self) -> str:
        return f"<Module {self.source.path}>"

    @property
    def text(self) -> str:
        return self.source.text

    @cached_property
    def code(self) -> str:
        """The text with comments and docstrings blanked out: offsets are those of the text. Whatever looks for words looks here."""
        return without_comments(self.source.without_data)

    @cached_property
    def bare_code(self) -> str:
        """The code with empty strings, for what looks for names alone: what a message says is not done. Offsets differ."""
        return without_strings(self._compact_code)

    @cached_property
    def _compact_code(self) -> str:
        return compact(self.code)

    def range_of(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where a finding about ``node`` stands: its range, of a compound statement its header, of a method call from the method's name on."""
        start, end = self.tree.range_of(node)
        if isinstance(node, cst.BaseCompoundStatement):
            return start, self.tree.statement_range(node)[1]
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            name = self.tree.range_of(node.func.attr)[0]
            is_on_another_line = "\n" in self.text[start:name] or "\r" in self.text[start:name]
            if is_on_another_line or not self._is_imported(node.func.value):
                return name, end
        return start, end

    def _is_imported(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a name that an import binds, or a dotted one that begins with it: what it names is no object of the program."""
        while isinstance(node, cst.Attribute):
            node = node.value
        return isinstance(node, cst.Name) and any(node.value == name.partition(".")[0] for name in self.tree.imported_names)

    def statement_range(self, node: cst.CSTNode) -> tuple[int, int]:
        """See :meth:`Tree.statement_range`."""
        return self.tree.statement_range(node)

    def is_commented(self, node: cst.CSTNode, about: re.Pattern[str]) -> bool:
        """Whether a comment explains a node: any on the line where it, its statement or that statement's end stands, or one above that speaks of it.

        Args:
            about: what is found in a comment that speaks of it. It may head the lines without a gap that the statement stands in.
        """
        start, end = self.statement_range(node)
        for above in reversed(self.text[:start].rstrip(" \t").splitlines()):
            above = above.lstrip()
            if above.startswith("#") and about.search(above):
                return True
            if not above:
                break
        lines = [self.text[at:].splitlines()[0] for at in (start, self.range_of(node)[0], end - 1)]
        return any("#" in line and not _DIRECTIVE.search(line) for line in lines)

    @cached_property
    def path(self) -> Path:
        """Where its file is, without links."""
        return Path(self.source.path).resolve()

    @cached_property
    def search_path(self) -> list[Path]:
        """The folders that its code adds to ``sys.path``."""
        return [Path(folder).resolve() for folder in added_folders(self.code, self.folder)]

    @cached_property
    def folder(self) -> str:
        return str(self.path.parent)

    @property
    def dotted(self) -> str:
        return Path(self.source.path).stem

    @property
    def is_package(self) -> bool:
        return Path(self.source.path).name == "__init__.py"

    @cached_property
    def acts_on_import(self) -> bool:
        """Whether importing it may do more than define things."""
        return any(word in self.code for word in _ACTS_ON_IMPORT)

    @cached_property
    def memory(self) -> dict:
        """Answers about nodes and texts that are asked for again."""
        return {}

    def mentions(self, pattern: re.Pattern[str]) -> bool:
        """Whether a pattern is found in the code, strings included."""
        if pattern not in self.memory:
            self.memory[pattern] = pattern.search(self._compact_code) is not None
        return self.memory[pattern]

    @cached_property
    def import_names(self) -> list[tuple[str, int]]:
        """What the import lines of the code may name: dotted names with their number of leading dots."""
        found: dict[tuple[str, int], None] = {}
        for match in _IMPORT_LINE.finditer(self.bare_code):
            base, names, plain = match["base"], match["names"], match["plain"]
            if plain:
                found.update(dict.fromkeys((part.split()[0], 0) for part in plain.split(",") if part.split()))
            elif base is not None:
                dotted = base.lstrip(".")
                level = len(base) - len(dotted)
                found[dotted, level] = None
                for name in names.strip("( )").split(","):
                    if name.split():
                        found[f"{dotted}.{name.split()[0]}" if dotted else name.split()[0], level] = None
        return list(found)

    @cached_property
    def is_graph_code(self) -> bool:
        """Whether it is written for the graphs and sessions of TensorFlow 1, of which the rules on loops and pipelines do not speak.

        A session alone may be there for its options; it runs a graph where a module whose names are used builds one.
        """
        if _GRAPH_SWITCH.search(self._beside_saved_graphs):
            return True
        return self._builds_graph or "GradientTape" not in self.bare_code and self.mentions(_SESSION) and any(module._builds_graph for module in self._used_modules())

    @cached_property
    def _builds_graph(self) -> bool:
        """Whether placeholders, collections or the runs of a session stand in its own code."""
        code = self._beside_saved_graphs
        if "GradientTape" in self.bare_code:
            return False
        # Who asks tensors for their values only resets what is not there.
        return _GRAPH_CODE.search(code) is not None or "reset_default_graph" in code and ".numpy()" not in self.bare_code

    @cached_property
    def _beside_saved_graphs(self) -> str:
        """Its code, without strings, but for the functions that load a graph, or run one they are given, as programs that try each format of a saved model have them."""
        if not self.mentions(_RUNS_SAVED_GRAPH):
            return self.bare_code

        def kept(function: re.Match[str]) -> str:
            if "GraphDef" in function[0]:
                return ""
            graph = _RUNS_SAVED_GRAPH.search(function[0])
            header = function[0].partition(":\n")[0]
            return "" if graph is not None and re.search(rf"[(,]\s*{graph[1]}\s*[,)=:]", header) else function[0]

        return _FUNCTION.sub(kept, self.bare_code)

    @cached_property
    def builds_graphs(self) -> bool:
        """Whether its code is not traced but run once, to build a graph of TensorFlow 1.

        A pin of another part of the project does not make it so where the module itself is written for TensorFlow 2.
        """
        return self.is_graph_code or self.runtime.builds_graphs and not self.mentions(_OF_TENSORFLOW_2)

    @cached_property
    def is_of_tensorflow_1(self) -> bool:
        """Whether it uses or imports what only TensorFlow 1 has, so that it cannot run under another; not where the version chooses."""
        if _CONTRIB.search(self.bare_code):
            return True
        if self.mentions(_OF_TENSORFLOW_2) or not _MAY_BE_OF_1.search(self.bare_code):
            return False
        named = [(alias, name) for alias, _, name in imports_as_written(self.tree)] + list(names_as_written(self.tree, ONLY_TENSORFLOW_1))
        gone = {f"{TENSORFLOW}{name}" for name in ONLY_TENSORFLOW_1}
        return any(name in gone and not stands_for_versions(self.tree, node) for node, name in named)

    def _used_modules(self) -> Iterator[Module]:
        """The modules of the tree that it imports and whose names stand in it again, as its code says."""
        for match in _IMPORT_LINE.finditer(self.bare_code):
            base = match["base"]
            for part in (match["names"] or match["plain"]).strip("( )").split(","):
                name, bound = part.split()[:1], part.split()[-1:]
                if not name or bound != ["*"] and len(re.findall(rf"\b{re.escape(bound[0].partition('.')[0])}\b", self.bare_code)) < 2:
                    continue
                dotted = (base or "").lstrip(".")
                level = len(base or "") - len(dotted)
                for each in [f"{dotted}.{name[0]}".lstrip("."), dotted]:
                    module = self.project.find(self, each, level)
                    if module is not None:
                        yield module

    @cached_property
    def worth_following(self) -> bool:
        """Whether it may do or hold anything that matters to the modules that import it: short ones may hold settings, and
        one that does not name Keras may lead to others that do, as an agent that plays with two networks."""
        if self.mentions(_WORTH_FOLLOWING) or sum(map(len, self.code.split())) < _SHORT:
            return True
        return not self.mentions(_NAMES_KERAS) and any(module.mentions(_WORTH_FOLLOWING) for module in self.project.imported(self))

    @cached_property
    def name_counts(self) -> Counter[str]:
        """How often each identifier stands in the module."""
        counts: Counter[str] = Counter()
        for node in self.tree.parents:
            if type(node) is cst.Name:
                counts[node.value] += 1
        return counts

    @cached_property
    def generators(self) -> frozenset[cst.CSTNode]:
        """The functions that hold a ``yield``."""
        found = set()
        for node in self.tree.parents:
            if type(node) is cst.Yield:
                for outer in self.tree.ancestors(node):
                    if isinstance(outer, (cst.FunctionDef, cst.Lambda)):
                        found.add(outer)
                        break
        return frozenset(found)

    @cached_property
    def run(self) -> Interpreter:
        """The module interpreted as the entry of a program."""
        interpreter = Interpreter(self)
        interpreter.run()
        return interpreter

    @cached_property
    def pipelines(self) -> Pipelines:
        """Its dataset pipelines."""
        return Pipelines(self)

    @cached_property
    def program(self) -> Program:
        """What it does when it is run."""
        return Program(self)

    @cached_property
    def models(self) -> list[Model]:
        """The Keras models that it builds, in program order."""
        return models_of(self)

    @cached_property
    def image_flows(self) -> dict[Call, bool]:
        """The iterators of images that it trains on, each with whether it is paired with another."""
        return flows_of(self)

    @cached_property
    def target(self) -> Target:
        """The versions it is judged for, each with what tells it."""
        return self.project.target_of(self)

    @property
    def runtime(self) -> Runtime:
        """The versions it is judged for: from the settings, the project's pins, and its own code, in this order."""
        return self.target.runtime

    @property
    def machine(self) -> Machine | None:
        """The machine it is judged for; None for any."""
        return self.project.settings.machine

    def is_cell_output(self, node: cst.CSTNode) -> bool:
        """Whether a notebook shows the value of this expression because it ends a cell."""
        cells = getattr(self.source, "cells", None)
        if not cells:
            return False
        end = self.range_of(node)[1]
        here = self.source.locate(end - 1, end).cell
        rest = self.code[end:]
        following = len(rest) - len(rest.lstrip())
        after = end + following
        return after >= len(self.code) or self.source.locate(after, after).cell != here


class Project:
    """The modules that may import each other.

    Args:
        settings: :class:`kerascheck.config.Settings`, for the target versions.
        read: turns a path into a :class:`kerascheck.source.Source`; raises for what cannot be read.
        use: told the text of every module that the one loaded last leads to, and the share of it that matters.
    """

    def __init__(self, settings, read, use=lambda text, share=1.0: None):
        self.settings = settings
        self._read, self._use = read, use
        self._used: set[Path] = set()
        self._modules: dict[Path, Module | None] = {}
        self._holding: dict[tuple[Path, re.Pattern[str]], list[Module]] = {}
        self._found: dict[tuple[str, str, int], Path | None] = {}

    def load(self, source) -> Module:
        """The module of a source; raises :class:`SyntaxProblem` where it cannot be parsed."""
        path = Path(source.path).resolve()
        module = self._modules.get(path)
        if module is None or module.text != source.text:
            module = self._modules[path] = Module(source, self)
        module.source = source
        self._used = {path}
        module.tree
        return module

    def find(self, importer: Module, dotted: str, level: int) -> Module | None:
        """The module of the tree that ``importer`` means by an import; None where it is outside.

        Args:
            dotted: the name after ``import`` or ``from``, without leading dots.
            level: the number of leading dots.
        """
        if not dotted and not level or (not level and dotted.partition(".")[0] in _LIBRARIES):
            return None
        key = (importer.folder, dotted, level)
        if key not in self._found:
            self._found[key] = self._search(importer.path, dotted, level)
        path = self._found[key]
        if path is None and not level:
            added = (_module_file(folder, dotted.split(".")) for folder in importer.search_path)
            path = next((found for found in added if found is not None and found != importer.path), None)
        module = self._module_at(path) if path is not None else None
        if module is not None and path not in self._used:
            self._used.add(path)
            self._use(module.text)
        return module

    def imported(self, module: Module) -> list[Module]:
        """The modules of the tree that ``module`` imports, directly or not (at most 80), as their texts say: none is parsed."""
        if "imported" not in module.memory:
            module.memory["imported"] = self._imported(module)
        return module.memory["imported"]

    def _imported(self, module: Module) -> list[Module]:
        found: list[Module] = []
        seen = {module}
        pending = [module]
        while pending and len(seen) < _MAX_IMPORTED:
            importer = pending.pop(0)
            for dotted, level in importer.import_names:
                inner = self.find(importer, dotted, level)
                if inner is not None and inner not in seen:
                    seen.add(inner)
                    found.append(inner)
                    pending.append(inner)
        return found

    def is_switched_eager(self, module: Module) -> bool:
        """Whether a script that imports a module calls ``run_functions_eagerly(True)``."""
        return bool(self._importers_beside(module, _SWITCHES_EAGER))

    def imported_beside(self, module: Module) -> list[Module]:
        """The scripts beside a module that import it, and the other modules that these import."""
        return [each for script in self._importers_beside(module, _ANYTHING) for each in (script, *self.imported(script)) if each is not module]

    def opens_session(self, module: Module) -> bool:
        """Whether a module, or a script that imports it, opens a session of TensorFlow 1 under no condition: no other version runs that."""
        opening = [module] if _OPENS_SESSION.search(module.bare_code) else self._importers_beside(module, _OPENS_SESSION)
        return any("compat.v1" not in each.bare_code for each in opening)

    def is_shown_one_gpu(self, module: Module) -> bool:
        """Whether the scripts that import a module, all of them, set ``CUDA_VISIBLE_DEVICES`` to one device."""
        importers = self._importers_beside(module, _ANYTHING)
        scripts = [each for each in importers if not any(each in self.imported(other) for other in importers if other is not each)]
        return bool(scripts) and all(script.mentions(_SHOWS_ONE_GPU) for script in scripts)

    def _importers_beside(self, module: Module, pattern: re.Pattern[str]) -> list[Module]:
        """The modules in the folder of one, or in the folder above, that import it, directly or not, and whose code, without strings, holds a pattern."""
        own = module.path.parent
        folders = [own] if (own / ".git").exists() else [own, own.parent]
        return [other for folder in folders for other in self._modules_with(pattern, folder) if other is not module and module in self.imported(other)]

    def _modules_with(self, pattern: re.Pattern[str], folder: Path) -> list[Module]:
        key = folder, pattern
        if key not in self._holding:
            raw = re.compile(pattern.pattern.encode(), pattern.flags & re.M)
            try:
                paths = sorted(folder.glob("*.py"))[:_MAX_IMPORTED]
            except OSError:
                paths = []
            modules = list(filter(None, map(self._module_at, (path for path in paths if _holds(path, raw)))))
            self._use("".join(module.text for module in modules), _SHARE_BESIDE)
            self._holding[key] = [module for module in modules if pattern.search(module.bare_code)]
        return self._holding[key]

    @property
    def parsed_characters(self) -> int:
        """Length of all texts whose trees are kept."""
        return sum(len(module.text) for module in self._modules.values() if module is not None and "tree" in module.__dict__)

    def target_of(self, module: Module) -> Target:
        """See :attr:`Module.target`."""
        pins = {**pinned_versions(module.source.path), **script_versions(module.text), **command_versions(module.source.commands)}
        if not pins:
            # A part of the project may have requirements of its own.
            parts = {other.folder: other for other in self.imported(module)}
            pins = next((found for other in parts.values() if (found := pinned_versions(other.source.path))), {})
        # What cannot be installed beside another version says as much as a requirement.
        bound = {package: Pin(bound, Stated(name, "")) for name, (package, bound) in _BOUND_BY.items() if re.search(rf"^(?:from|import)[ \t]+{name}\b", module.bare_code, re.M)}
        return target_of(self.settings, {**bound, **pins}, _Signs(module))

    def imports_contrib(self, module: Module) -> bool:
        """Whether what it imports needs ``tf.contrib`` while it is imported, which TensorFlow 1 alone has."""
        return not module.mentions(_OF_TENSORFLOW_2) and any(_NEEDS_CONTRIB.search(other.bare_code) for other in self.imported(module))

    def _search(self, origin: Path, dotted: str, level: int) -> Path | None:
        parts = dotted.split(".") if dotted else []
        if level:
            folder = origin.parent
            for _ in range(level - 1):
                folder = folder.parent
            return _module_file(folder, parts)
        folder = origin.parent
        for _ in range(7):
            found = _module_file(folder, parts)
            if found is not None and found != origin:
                return found
            if (folder / ".git").exists() or folder == folder.parent:
                return None
            folder = folder.parent
        return None

    def _module_at(self, path: Path) -> Module | None:
        if path not in self._modules:
            try:
                self._modules[path] = Module(self._read(path), self)
            except (OSError, ValueError):
                # What cannot be read is unknown; it is reported where it is linted itself.
                self._modules[path] = None
        return self._modules[path]


def _holds(path: Path, pattern: re.Pattern[bytes]) -> bool:
    """Whether the file at ``path`` holds a pattern; what is longer than any script is not looked at."""
    try:
        return path.stat().st_size <= _LARGEST_SCRIPT and pattern.search(read_bytes(path)) is not None
    except OSError:
        return False


class _Signs(Signs):
    """What the code of a module tells; looked for when it is asked for."""

    def __init__(self, module: Module):
        self._module = module

    @property
    def is_of_tensorflow_1(self) -> bool:
        return self._module.is_of_tensorflow_1 or self._module.project.imports_contrib(self._module)

    @property
    def is_of_multi_backend_keras(self) -> bool:
        code = self._module.bare_code
        return bool(_MAY_BE_OF_KERAS_1.search(code) and _OF_KERAS_1.search(code)) or self._module.mentions(_BACKEND_OF_2)

    @property
    def is_of_keras_2(self) -> bool:
        # Nothing of Keras 3 is trained without eager execution: fit raises a RuntimeError (tried with Keras 3.15).
        return self._module.mentions(_LEGACY) or _GRAPH_SWITCH.search(self._module.bare_code) is not None

    @property
    def backend(self) -> str | None:
        written = _BACKEND.search(self._module.code)
        return written[1] if written else None


def _module_file(folder: Path, parts: list[str]) -> Path | None:
    path = folder.joinpath(*parts)
    if parts and path.with_name(path.name + ".py").is_file():
        return path.with_name(path.name + ".py")
    if (path / "__init__.py").is_file():
        return path / "__init__.py"
    return None
