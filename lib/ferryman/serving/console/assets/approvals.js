// Keys of the approvals: they move the focus, and never decide. Enter on a button that has it decides.

const ROWS = "a[data-row]";

function move(step) {
  const rows = [...document.querySelectorAll(ROWS)];
  if (!rows.length) return;
  const here = rows.indexOf(document.activeElement);
  const next = here < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, here + step));
  rows[next].focus();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input, textarea, select")) return;
  if (event.key === "j" || event.key === "k") return move(event.key === "j" ? 1 : -1);
  if (event.key === "?") {
    const keys = document.getElementById("keys");
    if (!keys) return;
    keys.open = true;
    keys.querySelector("summary").focus();
    return;
  }
  if (!/^[adu]$/.test(event.key)) return;
  const button = document.querySelector(`[data-key="${event.key}"]`);
  if (!button) return;
  event.preventDefault();
  button.focus();
});
