import type { StudyCard } from "./session/protocol";
import type { TextKey } from "./texts/words";

interface Task {
  /** Whether workers chat; otherwise they read. */
  chats: boolean;
  /** The texts that name a conversation, or an item. */
  frame: TextKey;
  amount: TextKey;
  feedback: TextKey;
  done: TextKey;
}

const CHAT: Task = {
  chats: true,
  frame: "frame.conversation",
  amount: "instructions.conversations",
  feedback: "feedback.kicker",
  done: "done.lead",
};

/** The tasks of studies. The compiler refuses one of the server's that is missing here. */
export const TASKS: Record<StudyCard["task"], Task> = {
  chat: CHAT,
  side_by_side: CHAT,
  transcripts: {
    chats: false,
    frame: "frame.item",
    amount: "instructions.pieces",
    feedback: "feedback.kicker_items",
    done: "done.lead_items",
  },
};
