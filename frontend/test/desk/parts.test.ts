import { expect, it } from "vitest";
import type { AssignmentDetail, ConversationDetail } from "../../src/desk/api_types";
import { firstToRead, isCalled, partsOf } from "../../src/desk/assignment/parts";

const record = (position: number, number: number, change: Partial<ConversationDetail> = {}) =>
  ({
    position,
    number,
    attempt: 1,
    status: "rated",
    reports: [],
    turns: [],
    ...change,
  }) as ConversationDetail;
const assignment = (conversations: ConversationDetail[], change: Partial<AssignmentDetail> = {}) =>
  ({ conversations, before: [], after: [], writing: [], feedback: null, ...change }) as AssignmentDetail;

it("reads two side by side together, an attempt by itself, and answers last", () => {
  const records = [record(1, 1), record(2, 1), record(3, 2), record(3, 2, { attempt: 2 })];
  const parts = partsOf(assignment(records, { feedback: "Fine." }));
  expect(parts.map(({ id }) => id)).toEqual(["1", "3", "3.2", "answers"]);
  expect(parts.findIndex((part) => isCalled(part, "2"))).toBe(0);
});

it("begins with what was reported, else with what goes on, else at the beginning", () => {
  const report = { seen_at: null, taken_back_at: null } as ConversationDetail["reports"][number];
  const going = [record(1, 1), record(2, 2, { status: "active" }), record(3, 3, { reports: [report] })];
  expect(firstToRead(partsOf(assignment(going)))).toBe("3");
  expect(firstToRead(partsOf(assignment(going.slice(0, 2))))).toBe("2");
  expect(firstToRead(partsOf(assignment(going.slice(0, 1))))).toBe("1");
  expect(firstToRead([])).toBeUndefined();
});
