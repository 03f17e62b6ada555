// Says where the app's socket is, before textual.js looks for it once all is loaded.
"use strict";

const scheme = location.protocol === "https:" ? "wss:" : "ws:";
document.getElementById("terminal").dataset.sessionWebsocketUrl = `${scheme}//${location.host}/ws`;
document.getElementById("again").addEventListener("click", () => location.reload());

// textual.js leaves the focus to a click; who opens the page wants to type.
new MutationObserver((_, observer) => {
  const typed = document.querySelector(".xterm-helper-textarea");
  if (typed && document.body.classList.contains("-first-byte")) {
    observer.disconnect();
    typed.focus();
  }
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });
