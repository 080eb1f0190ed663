"""What Quarto runs after the site is rendered: the models for the field on the front page, and words for its search.

`nbs/_quarto.yml` names it. The models of the field come from the package, so that the repository has them once; the
search index gets the words that people type, from the table below.
"""
import json
import os
import re
import shutil
from pathlib import Path

root = Path(__file__).resolve().parent.parent
site = Path(os.environ.get("QUARTO_PROJECT_OUTPUT_DIR", root/"_docs"))

# Page -> what people type when they look for it, in other words than its own
WORDS = {
    "index.html": "uncertainty quantification conformal_ar overview getting started pip requirements download",
    "guides/own_model.html": "own T5 BART Marian translation summarization Hugging Face seq2seq fine-tuned huggingface",
    "guides/language_models.html": "own llama LLM GPT Qwen Mistral chat decoder-only large language model huggingface question answering multiple correct answers references",
    "chem/chemist.html": "Windows install Python by-products byproducts reaction classes wrong reactions molfile sdf mol rxn retrosynthesis forward synthesis reaction prediction SMILES product yield USPTO molecule chemistry rdkit coverage 0.9 reactions excel xlsx spreadsheet ChemDraw cdx cdxml laboratory own data without atom maps nothing reacts unreactive salts counter-ion several products chirality chiral enantiomer diastereomer stereochemistry top-1 accuracy route planning what do i get Chemformer Molecular Transformer published models",
    "guides/questions.html": "FAQ help troubleshooting what does 90% mean why fine-tune fine-tuned fine-tuning finetune finetuned finetuning retrain retrained update model repeated duplicate pairs API reference documentation list of functions classes modules",
    "guides/level_sets.html": "getting started tutorial first steps introduction set size algorithm tree search decoding pruning budget max_candidates sample size how many calibration pairs choose alpha",
    "theory/guarantee.html": "sample size how many calibration pairs choose alpha theorem proof marginal conditional coverage beta distribution",
    "theory/conformal.html": "quantile split conformal prediction introduction tutorial exchangeable i.i.d. iid theorem why the coverage is exact proof",
    "theory/groups.html": "Mondrian class conditional coverage groups fairness",
    "decisions/selection.html": "FDR false discovery rate trust hallucination abstain selective prediction",
    "decisions/still_valid.html": "distribution shift drift monitoring alarm",
    "decisions/weighted.html": "covariate shift importance weights",
    "decisions/adaptive.html": "online conformal time series ACI labels",
    "procedures/procedure.html": "load saved calibration pretrained",
    "procedures/saving.html": "save serialize export JSON file",
    "procedures/levelsets.html": "threshold set size high probability",
    "procedures/simulation.html": "simulation Monte Carlo simulated coverage check",
    "procedures/equivalence.html": "equivalent SMILES canonical form synonyms normalize same meaning semantic",
    "search/sets.html": "p-values data frame pandas members of a set",
    "search/lines.html": "max_lines top k limit size of the set",
    "search/threshold.html": "algorithm tree search decoding pruning",
    "hf/precision.html": "bfloat16 float16 half precision quantization GPU CUDA",
    "hf/vllm.html": "server inference engine OpenAI API GPU",
    "hf/masks.html": "constrained decoding grammar allowed tokens forbidden words logits processor generate",
    "jobs/scale.html": "many inputs batch cluster Ray GPU memory multiprocessing parallel resume after crash interrupted restart continue million",
    "experiments/benchmarks.html": "slow fast speed GPU time memory performance benchmark latency",
    "experiments/compared.html": "comparison MAPIE TorchCP baseline smallest sets other methods related work conformal language modeling sampling-based",
    "cli/command_line.html": "CLI terminal shell csv jsonl",
    "cli/predict.html": "batch excel xlsx spreadsheet list of inputs file",
    "chem/structures.html": "ChemDraw molfile sdf rdf rxn mol excel",
    "cli/app.html": "web app GUI gradio user interface demo",
    "tasks/reactions_results.html": "results reactions coverage 0.9 reproduce paper table",
    "tasks/additions_results.html": "results additions reproduce paper table figure",
    "experiments/edit_evaluation.html": "accuracy of the reaction model top-1 accuracy first answer right salts several products",
    "guides/any_model.html": "Whisper TrOCR speech audio images vision custom model adapter JAX TensorFlow own architecture not transformers Hugging Face",
    "theory/tolerance.html": "why the coverage is exact proof slips errors erratum errata mistakes in the paper corrections",
    "procedures/pairs.html": "multiple correct answers references duplicates repeated pairs",
    "tasks/shipped.html": "pretrained models weights download license",
}
ANCHORS = { # Section -> the same
    "guides/questions.html#can-it-answer-open-ended-questions-long-texts-chat-summaries": "long outputs summarization translation free text",
    "guides/questions.html#what-if-targets-are-longer-than-max_len-or-fall-out-of-the-budget": "max_length max_new_tokens truncation too long",
    "index.html#cite": "how to citation cite bibtex reference paper CITATION.cff license licence changelog changes versions",
    "index.html#install": "install installation pip conda GPU CUDA Python version Windows requirements",
    "guides/questions.html#what-differs-from-the-paper-and-its-code": "differences from the paper difference deviations changes original implementation",
    "guides/questions.html#can-i-limit-the-time-of-a-search": "timeout time limit budget truncated",
    "guides/questions.html#do-temperature-top-p-or-length-normalisation-play-a-part": "sampling nucleus top-k length penalty normalization",
    "guides/questions.html#does-it-work-with-gpt-4-claude-or-another-api": "GPT-4 ChatGPT OpenAI Anthropic Gemini API without logits closed model",
    "guides/questions.html#i-have-lists-of-candidates-with-scores-and-no-model.-can-i-calibrate-them": "ranked list of candidates n-best reranker scores only",
    "guides/questions.html#which-beam-width-do-i-need": "beam size number of beams num_beams",
    "guides/questions.html#where-do-data-come-from-under-which-licence-with-which-seeds": "data licence license CC0 seed provenance download random seeds repetitions error bars",
    "guides/questions.html#does-it-run-in-docker-or-ci": "container image continuous integration exit codes CI",
    "tasks/reactions.html#splits-duplicates-and-leakage": "data split train test contamination",
    "search/sets.html#how-typical-is-a-member": "ties tied equal scores",
    "theory/conformal.html#split-conformal-prediction": "ties tied equal scores",
    "procedures/levelsets.html#is-it-optimal-and-what-is-new": "optimality smallest sets novel novelty prior work",
    "index.html#what-is-not-guaranteed": "limitations assumptions exchangeability",
    "index.html#which-procedure-when": "which method to choose",
}

FIELD = {"additions": ("config.json", "model.safetensors", "tokenizer_config.json"),
         "reactions": ("edits.json", "model.safetensors", "calibration.json")}

def field(target):
    "The shipped models in a folder `try`, for the field on the front page, and RDKit where npm has brought it"
    for task, names in FIELD.items():
        folder = Path(target, task)
        folder.mkdir(parents=True, exist_ok=True)
        for name in names: shutil.copy(root/"conformal_ar/models"/task/name, folder)
    library = root/"node_modules/@rdkit/rdkit/dist"
    if not library.exists(): print("without RDKit from npm, the field on the front page answers no reactions")
    else:
        for ending in ("js", "wasm"): shutil.copy(library/f"RDKit_minimal.{ending}", Path(target, "reactions"))

def search_index():
    "The words that people type, with each page and section"
    path = site/"search.json"
    docs = json.loads(path.read_text(encoding="utf-8"))
    gone = {*WORDS, *ANCHORS} - {doc["href"] for doc in docs}
    assert not (gone and os.environ.get("QUARTO_PROJECT_RENDER_ALL")), f"no such page or section: {', '.join(sorted(gone))}"
    for doc in docs: doc["words"] = (WORDS if doc["section"] == "" else ANCHORS).get(doc["href"], "")
    path.write_text(json.dumps(docs, ensure_ascii=False, indent=1), encoding="utf-8")

def search_script():
    """Quarto's search looks at these words too, and for words apart: of the 116 searches in check_docs.py it finds 68 as it is, 81 with
    words apart, 95 with the table, 116 with both; names and roles for screen readers stand at the end of the script"""
    path, = site.glob("site_libs/quarto-search/quarto-search.js")
    code, mark = path.read_text(encoding="utf-8"), "\n// of this site\n"
    changes = {'{ name: "text", weight: 10 },': '{ name: "text", weight: 10 }, { name: "words", weight: 60 },',
               "ignoreLocation: true,": "ignoreLocation: true, useExtendedSearch: true,"}
    code = code.partition(mark)[0]
    for theirs, ours in changes.items():
        if ours not in code: code = code.replace(theirs, ours)
        assert code.count(ours) == 1, f"Quarto's search has changed: it lacks {theirs!r}"
    path.write_text(code + mark + (root/".ci/page.js").read_text(encoding="utf-8"), encoding="utf-8")

PICTURE = "https://conformal-ar.github.io/conformal_ar/figures/index-social.png"
CHANGES = { # in each page
    r'(<meta (?:property|name)="(?:og|twitter):image" content=")[^"]*': rf"\g<1>{PICTURE}", # Quarto takes the first of the page, or a path beside it
    r"darkModeDefault \? 'alternate' : 'default'": "matchMedia('(prefers-color-scheme: dark)').matches ? 'alternate' : 'default'", # until its toggle is used
    r'<script src="https://cdnjs[^>]*></script>\n?': "", # for widgets, which no page has
    r'<script type="application/javascript">define\(.jquery.[^<]*</script>\n?': ""}

def pages():
    "Links to any page show the one picture, it is dark where the reader's system is, and loads nothing from other hosts"
    for path in site.rglob("*.html"):
        text = new = path.read_text(encoding="utf-8")
        for theirs, ours in CHANGES.items(): new = re.sub(theirs, ours, new)
        if new != text: path.write_text(new, encoding="utf-8")
        assert "quarto-color-scheme-toggle" not in new or "prefers-color-scheme: dark)').matches ?" in new, "Quarto's switch of colours has changed: see localAlternateSentinel"

if __name__ == "__main__":
    field(site/"try")
    if (site/"search.json").exists(): search_index()
    search_script()
    pages()
