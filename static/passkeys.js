// Forms that send what the device says of a passkey: a new one, or one to sign in with.
"use strict";

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const failed = form.querySelector("[data-passkey-failed]");

  // Where nobody is known yet the server is asked for what the device is to sign; otherwise the page has it.
  const readOptions = async () => {
    const inPage = document.getElementById("passkey-options");
    if (inPage) return JSON.parse(inPage.textContent);
    const answer = await fetch(form.action, { headers: { Accept: "application/json" } });
    return (await answer.json()).request_options;
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    failed.hidden = true;
    try {
      const credential = await window.webauthnJSON[form.dataset.passkey](await readOptions());
      form.elements.credential.value = JSON.stringify(credential);
      form.submit();
    } catch {
      failed.hidden = false;
    }
  });
}
