// The import of a document: what it would make is shown while it is typed, pasted or chosen as a file; the server reads it.

import { replaceParts } from "./console.js";

const PAUSE_MS = 800;
const form = document.getElementById("import");
let timer = 0;
let asking = null;

/** Ask for a dry run of what is typed, and show it in the place of the last one. */
async function show() {
  asking?.abort();
  const fields = new URLSearchParams(new FormData(form));
  if (!fields.get("url") && !fields.get("spec")) return;
  fields.set("do", "dry-run");
  asking = new AbortController();
  const place = document.getElementById("result");
  place.setAttribute("aria-busy", "true");
  try {
    const headers = { "Ferryman-Parts": "result" };
    const answer = await fetch(form.action, { method: "POST", headers, body: fields, signal: asking.signal });
    // what is refused is a part, too; an error of another kind is a page
    if (!answer.headers.get("content-type")?.startsWith("application/json")) return;
    replaceParts((await answer.json()).parts);
    const again = Number(document.getElementById("result").dataset.againS);
    if (again) wait(again * 1000);
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  } finally {
    document.getElementById("result").removeAttribute("aria-busy");
  }
}

function wait(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(() => show().catch(() => {}), milliseconds);
}

form.addEventListener("input", (event) => {
  // a URL is fetched once it is written to its end
  if (event.target.type !== "file" && event.target.name !== "url") wait(PAUSE_MS);
});

form.addEventListener("change", async (event) => {
  if (event.target.type === "file") {
    const [file] = event.target.files;
    if (!file) return;
    form.elements.namedItem("spec").value = await file.text();
  }
  if (event.target.type === "file" || event.target.name === "url") wait(0);
});
