"""Conformal prediction for autoregressive sequence models.

The names below load when they are first used, so that `import conformal_ar` is quick and needs neither
`transformers` nor `matplotlib`.
"""
__version__ = "0.1.0"

from importlib import import_module as _import_module

_names = {
    "conformal": "Guarantee PredictionSet check_risk conformal_rank split_threshold group_thresholds "
                 "clopper_pearson_lower clopper_pearson_interval step_ranks tolerance_region "
                 "smallest_alpha smallest_n_cal check_feasible",
    "equivalence": "ClassSet merge_equivalent merge_summary",
    "autoregressive": "Autoregressor ToyMarkov prefix_scores",
    "search": "Hypotheses beam_search threshold_search",
    "procedure": "Procedure",
    "subsets": "ConformalBeamSubsets",
    "dynamic": "DynamicConformalBeams choose_max_len choose_procedure",
    "levelsets": "ConformalLevelSets",
    "promises": "plan promise pac pac_rank Plan NestedConformalBeams",
    "variants": "AprioriBeamSubsets CappedLevelSets LengthGroupLevelSets LengthGroupBeams predict_capped",
    "groups": "GroupLevelSets GroupBeams",
    "huggingface": "HFSeq2Seq",
    "causal": "HFCausal",
    "rules": "Processed",
    "masks": "Masked",
    "product_masks": "mask_products",
    "generation": "conformal_generate generate_arguments target_log_probs",
    "evaluation": "Evaluation evaluate_sets",
    "validity": "ExchangeabilityMonitor exchangeability_test coverage_p_value scores_of",
    "baselines": "ConformalSampling",
}
_modules = {*_names, "bench", "cli", "data", "equal_baselines", "equal_promise", "one_decode", "plots", "repetitions", "reproduce", "results", "training"}
_home = {name: module for module, names in _names.items() for name in names.split()}

__all__ = ["__version__", *_home]


def __getattr__(name):
    "Load the public `name`, or the submodule of that name, on first use (PEP 562)."
    if name in _modules: return _import_module(f"{__name__}.{name}")
    if name not in _home: raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f"{__name__}.{_home[name]}"), name)
    return value


def __dir__(): return sorted({*globals(), *__all__, *_modules})
