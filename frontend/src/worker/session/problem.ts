/** Something that keeps the page from going on, told as a page of its own. */
export interface Problem {
  title: string;
  text: string;
  /** What pressing the button does: load the page again, join with a fresh token, or nothing. */
  remedy: "retry" | "reload" | "start_anew" | null;
}

const FORGOTTEN: Problem = {
  title: "This link is no longer valid",
  text: "The session that this browser remembers is not known here any more. You can open the study again.",
  remedy: "start_anew",
};

const KNOWN: Record<string, Problem> = {
  run_not_found: {
    title: "We can’t find this study",
    text: "The link may be incomplete. Please check that you copied all of it, or ask whoever sent it to you.",
    remedy: null,
  },
  run_not_ready: {
    title: "This study is about to open",
    text: "It is being made ready, which should not take long. Please try again in a minute.",
    remedy: "retry",
  },
  run_paused: {
    title: "This study is paused",
    text: "Nobody new can start at the moment. Please come back later: the same link will lead you here.",
    remedy: "retry",
  },
  took_part: {
    title: "You took part before",
    text: "You were in an earlier round of this study, and this one needs people who were not. Thank you for having helped.",
    remedy: null,
  },
  run_closed: {
    title: "This study has ended",
    text: "It takes no new participants. Thank you for wanting to help.",
    remedy: null,
  },
  run_full: {
    title: "Every place is taken",
    text: "Somebody else has just taken the last one. A place may become free again, so it can be worth a second look in a while.",
    remedy: "retry",
  },
  link_unsigned: {
    title: "This study needs your own link",
    text: "Everybody who takes part has a link of their own. Please open the whole of the one that you were sent, or ask whoever invited you for yours.",
    remedy: null,
  },
  link_altered: {
    title: "This link is not complete",
    text: "It differs from the one that was given out. Please copy the whole link again from where you found it.",
    remedy: null,
  },
  rate_limited: {
    title: "A short pause, please",
    text: "There were too many requests from your connection just now. Please wait a minute, then try again.",
    remedy: "retry",
  },
  token_expired: {
    title: "This link has expired",
    text: "It has been a while since this session was opened, so it can’t be continued. You can open the study again.",
    remedy: "start_anew",
  },
  token_invalid: FORGOTTEN,
  assignment_not_found: FORGOTTEN,
  outdated_page: {
    title: "This study has just been updated",
    text: "Please load the page anew. You go on where you were, and everything you wrote is kept.",
    remedy: "reload",
  },
  invalid_request: {
    title: "This link is not complete",
    text: "Part of it can’t be read. Please copy the whole link again from where you found it.",
    remedy: null,
  },
  unreachable: {
    title: "We can’t reach the study",
    text: "Please check your internet connection. We keep trying in the meantime.",
    remedy: "retry",
  },
};

/** The page for an error that the server named. Its own words are used where there are none of ours. */
export function problemOf(code: string, message?: string, hint?: string): Problem {
  const known = KNOWN[code];
  if (known) {
    return known;
  }
  const text = [message, hint].filter(Boolean).map(sentence).join(" ");
  return {
    title: "Something is in the way",
    text: text || "The study can’t be opened right now. Please try again in a moment.",
    remedy: "retry",
  };
}

function sentence(text: string | undefined): string {
  const words = text ?? "";
  const start = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}

const REFUSED_ENTRY = new Set([
  "run_full",
  "run_not_ready",
  "run_paused",
  "run_closed",
  "took_part",
  "link_unsigned",
]);

/** Whether a refusal means that there is no place for somebody who has just agreed. */
export function isRefusedEntry(code: string): boolean {
  return REFUSED_ENTRY.has(code);
}

const NOTICES: Record<string, string> = {
  reply_pending: "The chatbot is still writing. Please wait for its reply, then send yours.",
  choice_missing: "Please say first which of the two replies is better.",
  no_ties: "Please choose one of the two.",
  too_few_inputs: "A few more messages are needed before you can go on.",
  too_many_inputs: "This conversation is as long as it may get. Please end it and rate it.",
  too_many_topic_changes: "The topic has changed as often as it may. Please go on with this one.",
  incomplete_rating: "Please answer every statement.",
  answers_unfit: "Please look over your answers: one is missing, or is not what was asked for.",
  edit_missing: "Please improve the text before you go on.",
  edit_senseless:
    "That does not improve the text yet. Please change what is wrong in it, five characters at least, and leave the rest.",
  topic_missing: "Please say what the topic is.",
  topic_fixed: "The topic of this conversation is given. Only your opinion of it is needed.",
  too_long: "That is too long. Please shorten it and send it again.",
  invalid_field: "Something in there could not be read. Please look it over and send it again.",
  wrong_phase: "That could not be taken any more: this conversation has moved on.",
  rate_limited: "That was a little too fast. Please wait a moment and try again.",
  storage_failed: "That could not be saved just now. Your words are still here: please send them again.",
};

/** What to tell a worker whose message was refused. */
export function noticeText(code: string): string {
  return NOTICES[code] ?? "That did not go through. Please try again.";
}
