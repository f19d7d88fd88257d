// A file dropped on an upload's form is chosen and sent; the form works without this.
"use strict";

for (const zone of document.querySelectorAll("[data-drop]")) {
  const input = zone.querySelector("input[type=file]");
  const said = zone.querySelector("[data-drop-said]");
  const over = (on) => zone.classList.toggle("drop-over", on);

  zone.addEventListener("dragover", (event) => { event.preventDefault(); over(true); });
  zone.addEventListener("dragleave", (event) => { if (!zone.contains(event.relatedTarget)) over(false); });
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    const { files, items } = event.dataTransfer;
    if ([...items].some((item) => item.webkitGetAsEntry?.()?.isDirectory)) {
      said.textContent = say("This is a folder: pack it as a zip file, then drop that.");
    } else if (files.length !== 1 && !input.multiple) {
      said.textContent = say("Drop one file at a time.");
    } else {
      input.files = files;
      said.textContent = say("Uploading {name}…", { name: [...files].map((file) => file.name).join(", ") });
      input.form.requestSubmit();
    }
  });
}
