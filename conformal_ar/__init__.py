"""Conformal prediction for autoregressive sequence models.

The names below load when they are first used, so that `import conformal_ar` is quick and needs neither
`transformers` nor `matplotlib`.
"""
__version__ = "0.1.0"

from importlib import import_module as _import_module
from pkgutil import iter_modules as _iter_modules

_names = {
    "theory.guarantee": "Guarantee plan coverage_band",
    "search.autoregressive": "Autoregressor ToyMarkov",
    "search.score_checks": "check_adapter",
    "search.threshold": "threshold_search",
    "search.beams": "beam_search",
    "search.sets": "PredictionSet",
    "procedures.evaluation": "Evaluation evaluate_sets",
    "theory.groups": "by_length",
    "procedures.subsets": "ConformalBeamSubsets",
    "procedures.dynamic": "DynamicConformalBeams choose_max_len",
    "procedures.levelsets": "ConformalLevelSets",
    "procedures.procedure": "load",
    "procedures.equivalence": "ClassSet",
    "decisions.selection": "select",
    "decisions.adaptive": "AdaptiveLevelSets",
    "decisions.weighted": "WeightedLevelSets",
    "decisions.monitor": "ExchangeabilityMonitor",
    "answers.samples": "SampledSets",
    "answers.taking": "Selection",
    "answers.claims": "ClaimFilter",
    "hf.seq2seq": "HFSeq2Seq",
    "hf.causal": "HFCausal",
    "hf.vllm": "VLLMCausal VLLMServer",
    "hf.masks": "Masked",
    "chem.product_sets": "ProductSets",
}
_found = {"tasks.shipped": "load_shipped", "tasks.additions": "DigitTokenizer"} # by files, not at the top level
_home = {name: module for module, names in (_names | _found).items() for name in names.split()}
_modules = {m.name for m in _iter_modules(__path__) if m.ispkg} # those that are installed

# What the command line and files name. Other packages announce tasks as entry points of the group conformal_ar.tasks.
own_tasks = {
    "additions": "conformal_ar.tasks.task:AdditionsTask",
    "reactions-smiles": "conformal_ar.chem.reaction_tasks:SmilesReactionsTask",
    "reactions": "conformal_ar.chem.reaction_tasks:ReactionsTask",
}
own_procedures = {
    "level-sets": "ConformalLevelSets",
    "dynamic": "DynamicConformalBeams",
    "subsets": "ConformalBeamSubsets",
    "select": "select",
}
procedure_options = { # of the command line; others are for all
    "level-sets": "coverage risk confidence nonempty max_candidates max_lines",
    "dynamic": "coverage confidence nonempty step_alpha",
    "subsets": "coverage risk confidence nonempty beam_alpha width",
    "select": "fdr width",
}

__all__ = ["__version__", *(name for names in _names.values() for name in names.split())]


def __getattr__(name):
    "Load the public `name`, or the submodule of that name, on first use (PEP 562)."
    if name in _modules: return _import_module(f"{__name__}.{name}")
    if name not in _home: raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f"{__name__}.{_home[name]}"), name)
    return value


def __dir__(): return sorted({*globals(), *__all__, *_modules})


def own_object(name, *default):
    "What a file names, with the module where it once stood or without, by its own name"
    return getattr(_import_module(__name__), name.replace(":", ".").split(".")[-1], *default)
