// What the pages of the application do in the browser, beside what Gradio does
function caSeen(selector) { // on the page that is open
  return [...document.querySelectorAll(selector)].find(o => o.offsetParent)
}
function caPress() { caSeen("button.primary").click() } // of the sketcher

function caTake(values) { // Text, other boxes, candidate and four more, with a drawing that is newer
  const taken = caSeen("iframe[title=Sketcher]")?.contentWindow.takeChanged?.()
  if (taken) values[taken.candidate ? values.length - 5 : 0] = taken.text
  const said = caSeen(".ca-taken")
  said.dataset.text = taken?.text
  said.textContent = taken ? `The drawing was taken over ${taken.where}: ${taken.text}` : ""
  return values
}
function caShow(name) { // the answer, wherever the page stands
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches
  const show = () => document.querySelector(`#ca-${name}`).scrollIntoView({behavior: calm ? "auto" : "smooth"})
  for (const wait of [50, 500]) setTimeout(show, wait) // again when all of it is laid out
}
function caMark(name, now) { // an answer that is not of what stands above
  const texts = now.slice(0, -1).map(o => (o || "").trim()), candidate = texts.pop()
  const taken = document.querySelector(`#ca-${name} .ca-taken`)
  if (![texts[0], candidate].includes(taken.dataset.text)) taken.textContent = ""
  const answer = document.querySelector(`#ca-${name} .ca-answer`)
  if (!answer) return
  const asked = {texts, candidate, ignore: now.at(-1) || []}
  const known = JSON.parse(answer.dataset.asked)
  const old = Object.keys(known).some(k => String(known[k]) !== String(asked[k]))
  answer.classList.toggle("ca-old", old)
  answer.querySelector(".ca-stale").hidden = !old
}
addEventListener("click", e => { // a drawing becomes larger, until the next click
  const svg = e.target.closest?.(".ca-part svg, .ca-card svg")
  if (!svg) return
  const large = document.createElement("dialog")
  large.className = "ca-large"
  large.ariaLabel = "The drawing, larger"
  large.append(svg.cloneNode(true))
  large.onclick = large.onclose = () => large.remove()
  svg.closest(".gradio-container").append(large)
  large.showModal()
})
