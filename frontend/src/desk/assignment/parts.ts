import type { AssignmentDetail, ConversationDetail } from "../api_types";

/** What of an assignment is read at once; its id is the end of its address. */
export type Part =
  | { kind: "conversations"; id: string; records: [ConversationDetail, ...ConversationDetail[]] }
  | { kind: "answers"; id: "answers" };

/** The parts of an assignment: its conversations in order, two side by side as one, and what else the worker gave. */
export function partsOf({ conversations, before, after, feedback, writing }: AssignmentDetail): Part[] {
  const groups = new Map<string, [ConversationDetail, ...ConversationDetail[]]>();
  for (const record of conversations) {
    const key = `${record.number}.${record.attempt}`;
    const known = groups.get(key);
    known ? known.push(record) : groups.set(key, [record]);
  }
  const parts: Part[] = [...groups.values()].map((records) => ({
    kind: "conversations",
    id: idOf(records[0]),
    records,
  }));
  const hasAnswers = before.length + after.length + writing.length > 0 || feedback;
  return hasAnswers ? [...parts, { kind: "answers", id: "answers" }] : parts;
}

/** The position in the assignment, which the search for conversations names, too; with the attempt after the first. */
function idOf({ position, attempt }: ConversationDetail): string {
  return attempt === 1 ? `${position}` : `${position}.${attempt}`;
}

/** Whether an address names this part: by its id, or by the position of the second of two side by side. */
export function isCalled(part: Part, name: string | undefined): boolean {
  return (
    part.id === name || (part.kind === "conversations" && part.records.some((one) => idOf(one) === name))
  );
}

/** The id of what is read first: what was reported or flagged, else what goes on now, else the beginning. */
export function firstToRead(parts: Part[]): string | undefined {
  const some = (holds: (record: ConversationDetail) => boolean) =>
    parts.find((part) => part.kind === "conversations" && part.records.some(holds));
  return (some(isUnseen) ?? some(({ status }) => status === "active") ?? parts[0])?.id;
}

/** Whether something in it waits to be marked as seen. */
function isUnseen({ reports, turns }: ConversationDetail): boolean {
  return (
    reports.some(({ seen_at, taken_back_at }) => seen_at === null && taken_back_at === null) ||
    turns.some(({ flags }) => flags.some(({ by, seen_at }) => by === "classifier" && !seen_at))
  );
}
