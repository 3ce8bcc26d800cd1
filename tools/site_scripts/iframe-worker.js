// Pages that are opened as files may start no workers: there, the search's script runs in a frame of the page.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      this.asked = [];
      document.documentElement.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = new URL(address, location.href).href;
      script.addEventListener("load", () => {
        this.inside = inside;
        this.asked.splice(0).forEach((data) => this.postMessage(data));
      });
      inside.document.body.append(script);
    }
    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
      else this.asked.push(data);
    }
  };
}
