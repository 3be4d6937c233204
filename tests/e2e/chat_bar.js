/** What a worker does on a page of a chat, and where its parts lie; run within the page. */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const find = (selector) => document.querySelector(selector);

const until = async (found, what) => {
  for (let tries = 0; tries < 600; tries++, await pause(100)) {
    const value = found();
    if (value) return value;
  }
  throw new Error(`waited in vain for ${what}`);
};

const enter = (field, text) => {
  const kind = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
};

/** The parts that are not whole in the view, and those that lie on each other. */
const misplaced = (names) => {
  const places = names.map((name) => [name, find(name).getBoundingClientRect()]);
  const out = places.filter(([, { width, left, top, right, bottom }]) =>
    !width || left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5).map(([name]) => name);
  const over = places.flatMap(([a, p], index) => places.slice(index + 1)
    .filter(([, q]) => p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom)
    .map(([b]) => `${a} on ${b}`));
  return [...out, ...over];
};

const parts = {
  begin: async (topic) => {
    (await until(() => find(".button-primary"), "the instructions")).click();
    enter(await until(() => find("#topic"), "the topic"), topic);
    find("input[type=radio]").click();
    await pause(100);
    find(".button-primary").click();
    await until(() => find(".composer-input"), "the chat");
  },

  write: async (messages) => {
    for (let written = 1; written <= messages; written++) {
      enter(find(".composer-input"), "Hallo!");
      await pause(100);
      find(".composer-send").click();
      const replies = () => document.querySelectorAll(".bubble-bot:not(.bubble-typing)").length;
      await until(() => replies() >= written, "a reply");
    }
  },

  /** `counted`: the part that counts messages, or ends the chat. `letters`: their size in pixels. */
  measure: async (counted, letters) => {
    document.documentElement.style.fontSize = `${letters}px`;
    window.focus();
    find(".composer-input").focus();
    const names = [".chat-topic-text", counted, ".composer-input", ".composer-send"];
    const bar = () => find(".chat-side").getBoundingClientRect();
    // Whoever writes sees no header; a window without the focus shows it, as nobody writes there.
    const header = () => (document.hasFocus() ? 0 : find(".top").getBoundingClientRect().height);
    const settled = () => bar().top === header() && misplaced(names).length === 0;
    for (let tries = 0; tries < 100 && !settled(); tries++) await pause(100);
    return {
      header: header(),
      misplaced: misplaced(names),
      top: bar().top,
      height: bar().height,
      topic: find(".chat-topic-text").getBoundingClientRect().width,
      log: find(".log").clientHeight,
      fits: document.documentElement.scrollWidth <= innerWidth,
    };
  },
};
