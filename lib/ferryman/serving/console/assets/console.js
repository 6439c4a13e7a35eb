// What every page runs: moments in the reader's zone, and parts of a page that are asked for again. No markup is ever parsed.

const REFUSED_MS = 5000;
const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set("svg g rect line path text title circle polyline".split(" "));
const TAGS = new Set(
  ("a article b bdi blockquote br button caption code data dd del details div dl dt em fieldset footer form h1 h2 h3 h4 h5 h6 header hr i " +
    "input ins kbd label legend li main nav ol option p pre progress section select small span strong summary table tbody td textarea tfoot th thead time tr ul").split(" "),
);
const ATTRIBUTES = new Set(
  ("action autocomplete checked class colspan cx cy d datetime dir disabled fill for formnovalidate height hidden href id lang max maxlength method name open placeholder points " +
    "r rel required role rows scope selected spellcheck start tabindex target text-anchor title transform type value viewbox width x x1 x2 y y1 y2").split(" "),
);

/** Return the node of a tree that the server made: `[tag, {attribute: value}, [children]]`, or a text. */
export function build(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const [tag, attributes, children] = tree;
  if (!TAGS.has(tag) && !SVG_TAGS.has(tag)) throw new Error(`no page has the element ${tag}`);
  const node = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    const isKnown = ATTRIBUTES.has(name) || name.startsWith("data-") || name.startsWith("aria-");
    if (!isKnown || (name === "href" && !/^(https?:\/\/|[./#?a-z0-9_-]*([/?#]|$))/i.test(value))) continue;
    node.setAttribute(name === "viewbox" ? "viewBox" : name, value);
  }
  for (const child of children) node.append(build(child));
  return node;
}

/** Tell whether a field has something else than the server gave it. */
function isTyped(field) {
  if (field.options) return [...field.options].some((option) => option.selected !== option.defaultSelected);
  return field.type === "checkbox" ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}

/** Have the fields of a new node hold what was typed into, or chosen in, those of the old one. */
function keepTyped(old, node) {
  for (const field of old.querySelectorAll("input[id]:not([type=hidden], [type=file]), select[id], textarea[id]")) {
    const same = node.querySelector(`#${CSS.escape(field.id)}`);
    if (!same || same.type !== field.type || !isTyped(field)) continue;
    if (same.type === "checkbox") same.checked = field.checked;
    else same.value = field.value;
  }
}

/** Put trees in the place of the elements with their ids; what a reader opened stays open, and the focus where it is. */
export function replaceParts(parts) {
  for (const [id, tree] of Object.entries(parts)) {
    const old = document.getElementById(id);
    if (!old) continue;
    const node = build(tree);
    localize(node);
    if (node.isEqualNode(old)) continue;
    for (const details of old.querySelectorAll("details[open][id]")) {
      node.querySelector(`#${CSS.escape(details.id)}`)?.setAttribute("open", "");
    }
    if (old.matches("details[open]")) node.setAttribute("open", "");
    keepTyped(old, node);
    const focused = nameFocused(old);
    old.replaceWith(node);
    if (focused) document.querySelector(focused)?.focus();
  }
}

/** Return a selector of what has the focus in `root`, by its id or where it leads; "" where nothing there has it. */
export function nameFocused(root) {
  const element = document.activeElement;
  if (!root.contains(element)) return "";
  if (element.id) return `#${CSS.escape(element.id)}`;
  const target = element.getAttribute("href");
  return target ? `a[href="${CSS.escape(target)}"]` : "";
}

/** Return a moment in the reader's zone, as long as the server's text in UTC, so that nothing moves. */
function writeMoment(moment) {
  const two = (number) => String(number).padStart(2, "0");
  const [east, minutes] = [moment.getTimezoneOffset() <= 0 ? "+" : "-", Math.abs(moment.getTimezoneOffset())];
  const zone = `${east}${two(Math.floor(minutes / 60))}${minutes % 60 ? `:${two(minutes % 60)}` : ""}`;
  const day = [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join("-");
  return `${day} ${[moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(":")} ${zone}`;
}

/** Write the moments below `root` in the reader's zone; UTC stays in their title. */
export function localize(root) {
  const moments = root.matches?.("time") ? [root] : root.querySelectorAll("time[datetime]");
  for (const time of moments) time.textContent = writeMoment(new Date(time.dateTime));
}

let isStale = false;

/** Say that the page shows what was: its session is over, or its reader has lost the right to read it. */
function sayStale() {
  if (isStale) return;
  isStale = true;
  const link = ["a", { href: location.pathname }, ["Load it again"]];
  const text = "You are signed out, or may no longer read this page. It shows an earlier state. ";
  document.getElementById("main")?.prepend(build(["p", { class: "notice bad", role: "alert" }, [text, link]]));
}

/** Ask the page at `address` for its parts with these ids, and show them. Resolve to whether they came. */
export async function refresh(ids, address = location.href) {
  const answer = await fetch(address, { headers: { "Ferryman-Parts": ids.join(",") }, credentials: "same-origin" });
  if (answer.status === 403) sayStale();
  if (!answer.ok) return false;
  replaceParts((await answer.json()).parts);
  return true;
}

/** Hold a stream of events open while the page is seen; `handlers` are by the event's kind. Resume where it stopped. */
export function follow(address, handlers) {
  let source = null;
  let last = "";
  let isOver = false;
  const close = () => {
    source?.close();
    source = null;
  };
  const open = () => {
    if (source || isOver || isStale || document.hidden) return;
    const url = new URL(address, location.href);
    if (last) url.searchParams.set("after", last);
    source = new EventSource(url);
    for (const [kind, handle] of Object.entries(handlers)) {
      source.addEventListener(kind, (event) => {
        if (event.lastEventId) last = event.lastEventId;
        handle(JSON.parse(event.data));
      });
    }
    source.addEventListener("end", () => {
      isOver = true;
      close();
    });
    source.addEventListener("error", () => {
      // a browser gives up where a stream is refused, as one too many is for a while
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      setTimeout(() => refresh([]).then(open, open), REFUSED_MS);
    });
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
}

function refreshAgain() {
  const main = document.getElementById("main");
  const every = Number(main?.dataset.refreshS);
  if (!every) return;
  const ids = [...main.querySelectorAll("[id][data-part]")].map((element) => element.id);
  const again = () => {
    // what has ended does not change any more
    if (!document.hidden && !isStale && !main.querySelector("[data-ended]")) refresh(ids).catch(() => {});
  };
  setInterval(again, every * 1000);
  document.addEventListener("visibilitychange", again);
}

localize(document.body);
refreshAgain();
