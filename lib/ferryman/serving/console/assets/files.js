// Uploads with a bar of their progress: the same form, sent by a script. Without one, the browser sends it.
import { replaceParts } from "./console.js";

const form = document.getElementById("upload");
const bar = document.getElementById("upload-progress");

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const request = new XMLHttpRequest();
  const button = form.querySelector("button");
  const again = () => {
    button.disabled = false;
    bar.hidden = true;
  };
  button.disabled = true;
  bar.hidden = false;
  request.upload.addEventListener("progress", (sent) => {
    if (sent.lengthComputable) bar.value = sent.loaded / sent.total;
  });
  request.addEventListener("load", () => {
    again();
    // what follows a form that was accepted is another address
    if (request.status === 200) location.assign(request.responseURL);
    else if (request.getResponseHeader("content-type") === "application/json") replaceParts(JSON.parse(request.response).parts);
    else form.submit();
  });
  request.addEventListener("error", again);
  request.open("POST", form.action);
  request.setRequestHeader("Ferryman-Parts", "upload-problems");
  request.send(new FormData(form));
});
