"""Conformal prediction for autoregressive sequence models.

The names below load when they are first used, so that `import conformal_ar` is quick and needs neither
`transformers` nor `matplotlib`.
"""
__version__ = "0.1.0"

from importlib import import_module as _import_module

_names = {
    "conformal": (
        "check_risk conformal_rank split_threshold group_thresholds "
        "clopper_pearson_lower clopper_pearson_interval"
    ),
    "tolerance": "step_ranks tolerance_region smallest_alpha smallest_n_cal check_feasible",
    "autoregressive": "Autoregressor ToyMarkov prefix_scores",
    "search": "Hypotheses beam_search threshold_search",
    "guarantee": "Guarantee",
    "sets": "PredictionSet",
    "procedure": "Procedure",
    "subsets": "ConformalBeamSubsets",
    "dynamic": "DynamicConformalBeams choose_max_len choose_procedure",
    "levelsets": "ConformalLevelSets",
    "planning": "plan promise pac pac_rank Plan",
    "equivalence": "ClassSet merge_equivalent merge_summary",
    "variants": (
        "AprioriBeamSubsets CappedLevelSets LengthGroupLevelSets LengthGroupBeams "
        "predict_capped"
    ),
    "groups": "GroupLevelSets GroupBeams",
    "validity": "exchangeability_test coverage_p_value",
    "monitor": "ExchangeabilityMonitor scores_of",
    "hf.seq2seq": "HFSeq2Seq",
    "hf.causal": "HFCausal",
    "hf.rules": "Processed",
    "hf.masks": "Masked",
    "hf.generate": "conformal_generate generate_arguments target_log_probs",
    "tasks.product_masks": "mask_products",
    "evaluation": "Evaluation evaluate_sets",
    "experiments.nested": "NestedConformalBeams",
    "experiments.sampling": "ConformalSampling",
}
_modules = {
    *(o for o in _names if "." not in o),
    "cli", "experiments", "files", "hf", "plots", "tasks",
}
_home = {name: module for module, names in _names.items() for name in names.split()}

__all__ = ["__version__", *_home]


def __getattr__(name):
    "Load the public `name`, or the submodule of that name, on first use (PEP 562)."
    if name in _modules: return _import_module(f"{__name__}.{name}")
    if name not in _home: raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f"{__name__}.{_home[name]}"), name)
    return value


def __dir__(): return sorted({*globals(), *__all__, *_modules})
