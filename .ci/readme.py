"""Write README.md from nbs/index.ipynb, without Quarto.

The notebook goes through nbdev's own processors (front matter, hidden cells and lines, directives) and then
through nbconvert.  Its stored outputs are used: nothing is executed.  Cells with `#| readme: false`, and prose
behind `<!-- for the site only -->`, are left out.  Figures in outputs are written to nbs/figures/, the first of them also in the shape in which links to the site
are shown; relative links and images are rewritten to work from the root of the repository.

    python .ci/readme.py            write README.md
    python .ci/readme.py --check    change nothing; fail when README.md or its figures are out of date
"""
import os
import re
import sys
from pathlib import Path

import house

root = house.root
source, target, figures = root/"nbs/index.ipynb", root/"README.md", root/"nbs/figures"


def quarto_options(cell):
    "Take Quarto's `#| key: value` lines off `cell`, and return them."
    lines = cell.source.splitlines()
    cell.source = "\n".join(o for o in lines if not o.startswith("#|")).strip()
    found = (re.match(r"#\|\s*([\w-]+):\s*(.*?)\s*$", o) for o in lines)
    return {m[1]: m[2].strip('"') for m in found if m}


def tidy_outputs(outputs):
    "Of each output the one representation that GitHub shows best, and no progress bars or warnings."
    kinds = ("text/markdown", "image/png", "image/svg+xml", "text/latex", "text/plain")
    for out in outputs:
        best = next((o for o in kinds if o in out.get("data", {})), None)
        if best: out["data"] = {best: out["data"][best]}
    return [o for o in outputs if o.get("name") != "stderr"]


def render_cell(cell, i, exporter, metadata):
    "The markdown of the `i`-th cell, and its figures as a dict from path to bytes."
    import nbformat
    if cell.cell_type != "code": return "" if cell.source.startswith("<!-- for the site only") else relocate(cell.source), {}
    options = quarto_options(cell)
    off = {o for o in ("echo", "output", "include") if options.get(o) == "false"}
    if options.get("readme") == "false": return "", {} # for the site only
    cell.outputs = [] if off & {"output", "include"} else tidy_outputs(cell.outputs)
    exporter.exclude_input = bool(off & {"echo", "include"})
    nb = nbformat.v4.new_notebook(cells=[cell], metadata=metadata)
    names = dict(unique_key=f"index-{options.get('label', i)}", output_files_dir="nbs/figures")
    text, resources = exporter.from_notebook_node(nb, names)
    return text.replace("![png](", f"![{options.get('fig-cap', 'figure')}]("), resources.get("outputs") or {}


def relocate(text):
    "Relative links and images of a file in nbs/, as seen from the root; the field is on the site alone."
    text = text.replace("](#try)", "](https://conformal-ar.github.io/conformal_ar/#try)")
    def repl(m): return f"{m[1]}{os.path.normpath('nbs/' + m[2])})"
    text = re.sub(r"(\]\()(?!\w+:|/|#)([^)\s]+)\)", repl, text)
    return text.replace("](https://github.com/conformal-ar/conformal_ar/blob/main/", "](")


def render():
    "The text of README.md, and its figures as a dict from file name to bytes."
    import nbformat
    from execnb.nbio import nb2str
    from nbconvert import MarkdownExporter
    nb, _ = house.processed(source)
    front = nb.frontmatter_
    nb = nbformat.reads(nb2str(nb), 4)
    nb.metadata["language_info"] = {"name": "python"}
    exporter = MarkdownExporter(exclude_input_prompt=True, exclude_output_prompt=True)
    parts, images = [f"# {front['title']}"], {}
    if "description" in front: parts.append(f"> {front['description']}")
    for i, cell in enumerate(o for o in nb.cells if o.cell_type != "raw"):
        text, found = render_cell(cell, i, exporter, nb.metadata)
        images |= {Path(o).name: data for o, data in found.items()}
        parts.append(text.strip("\n"))
    text = re.sub(r"[ \t]+$", "", "\n\n".join(o for o in parts if o.strip()), flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n", images


def social(picture):
    "The first figure in the shape in which other sites show links."
    from io import BytesIO

    from PIL import Image, ImageOps
    out, white = BytesIO(), Image.new("RGB", (1200, 630), "white")
    white.paste(ImageOps.contain(Image.open(BytesIO(picture)).convert("RGB"), (1160, 610)), (20, 10))
    white.save(out, "PNG")
    return out.getvalue()


def stale(text, images):
    "What differs from the files on disk, as a list of paths."
    wanted = {target: text.encode(), **{figures/name: data for name, data in images.items()}}
    left_over = set(figures.glob("index-*")) - set(wanted) - {figures/"index-social.png"}
    return sorted([o for o, data in wanted.items() if not o.exists() or o.read_bytes() != data] + list(left_over))


def main():
    text, images = render()
    out_of_date = stale(text, images)
    names = ", ".join(str(o.relative_to(root)) for o in out_of_date)
    if "--check" in sys.argv:
        if (size := len(text.encode())) > 10_000: sys.exit(f"README.md has {size:,} bytes, more than 10,000: cut nbs/index.ipynb")
        if out_of_date: sys.exit(f"differs from what nbs/index.ipynb renders to: {names}\nrun `make readme`")
        links = {o.split("#")[0] for o in re.findall(r"\]\((nbs/[^)\s]+)\)", text)}
        missing = sorted(o for o in links if not (root/o).exists())
        if missing: sys.exit(f"nbs/index.ipynb links to files that are missing: {', '.join(missing)}")
        return
    for path in out_of_date:
        if path != target and path.name not in images: path.unlink()
    if images: figures.mkdir(exist_ok=True)
    for name, data in images.items(): (figures/name).write_bytes(data)
    first = next(iter(images))
    if figures/first in out_of_date: (figures/"index-social.png").write_bytes(social(images[first]))
    target.write_text(text, encoding="utf-8")
    print(f"wrote {names}" if names else "README.md was up to date")


if __name__ == "__main__": main()
