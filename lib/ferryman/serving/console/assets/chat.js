// A conversation: the answer that is being written, as texts alone; what is finished comes as parts that the server rendered.

import { follow, replaceParts } from "./console.js";

const followed = new Set();

/** Show the pieces of an answer's turns; null in the place of a text takes all of its turn away. */
function write({ answer, texts }) {
  const place = document.getElementById(`live-${answer}`);
  if (!place) return;
  for (const [turn, text] of texts) {
    const id = `live-${answer}-${turn}`;
    let paragraph = document.getElementById(id);
    if (text === null) {
      paragraph?.remove();
      continue;
    }
    if (!paragraph) {
      paragraph = document.createElement("p");
      paragraph.id = id;
      paragraph.className = "plain foreign";
      paragraph.dir = "auto";
      place.append(paragraph);
    }
    paragraph.append(text);
  }
}

/** Show how far calls under way are, beside them. */
function report({ answer, reports }) {
  const spans = [...(document.getElementById(`calls-${answer}`)?.querySelectorAll("[data-progress]") ?? [])];
  for (const [call, text] of reports) {
    const span = spans.find((element) => element.dataset.progress === call);
    if (span) span.textContent = text;
  }
}

function followNext() {
  const answer = document.querySelector("article[data-live]");
  if (!answer || followed.has(answer.id)) return;
  followed.add(answer.id);
  follow(answer.dataset.live, {
    text: write,
    progress: report,
    parts: ({ parts }) => {
      replaceParts(parts);
      followNext();
    },
  });
}

addEventListener("submit", (event) => {
  // the page that follows watches the answer: nobody has to wait for it here
  const live = event.target.elements?.namedItem("live");
  if (live) live.value = "1";
});

addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.target.id !== "f-content") return;
  event.preventDefault();
  event.target.form.querySelector('button[value="say"]').click();
});

followNext();
