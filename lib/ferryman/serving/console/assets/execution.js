// One execution: the turns that its events change are replaced or appended, and what is large is loaded when it is opened.
import { build, follow, localize, nameFocused, replaceParts } from "./console.js";

const turns = document.getElementById("turns");

/** Put the page at `address` in the place of the link in an opened call: its part "call", whose links lead where they did there. */
async function load(details, address) {
  const answer = await fetch(address, { headers: { "Ferryman-Parts": "call" }, credentials: "same-origin" });
  if (!answer.ok) return; // the link stays
  const node = build((await answer.json()).parts.call);
  for (const element of [node, ...node.querySelectorAll("[id]")]) element.removeAttribute("id");
  for (const link of node.querySelectorAll("a[href]")) link.href = new URL(link.getAttribute("href"), address).href;
  localize(node);
  node.classList.add("loaded");
  details.querySelector(":scope > .loaded, :scope > p")?.replaceWith(node);
}

/** Load what is opened, once. */
function loadOpened(details) {
  const { load: address } = details.dataset;
  if (!details.open || !address || details.dataset.isLoaded) return;
  details.dataset.isLoaded = "yes";
  load(details, new URL(address, location.href)).catch(() => delete details.dataset.isLoaded);
}

/** Put a turn in the place of the one that was there, or at the end: an opened call stays open, and is loaded again if it changed. */
function showTurn(tree) {
  const node = build(tree);
  const old = document.getElementById(node.id);
  localize(node);
  if (!old) {
    turns.append(node);
    return;
  }
  const focused = nameFocused(old);
  for (const call of node.querySelectorAll("li.call")) {
    const before = old.querySelector(`#${CSS.escape(call.id)}`);
    if (!before) continue;
    const [was, is] = [before.querySelector("details"), call.querySelector("details")];
    const isSame = was.querySelector("summary").isEqualNode(is.querySelector("summary"));
    if (isSame) {
      call.replaceWith(before); // nothing of it has changed but what stands below, if anything
      for (const why of before.querySelectorAll(":scope > .why")) why.remove();
      before.append(...call.querySelectorAll(":scope > .why"));
    } else if (was.open) {
      const body = was.querySelector(":scope > .loaded");
      if (body) is.querySelector(":scope > p").replaceWith(body);
      is.open = true;
    }
  }
  old.replaceWith(node);
  if (focused) document.querySelector(focused)?.focus();
  for (const details of node.querySelectorAll("details[open]")) loadOpened(details);
}

// "toggle" does not bubble
turns?.addEventListener("toggle", (event) => loadOpened(event.target), true);
if (turns?.dataset.live) {
  follow(turns.dataset.live, { parts: replaceParts, turns: (trees) => trees.forEach(showTurn) });
}
