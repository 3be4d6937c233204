import type { ComponentChildren } from "preact";
import { type Choice, RadioCards } from "../design/RadioCards";
import type { Opinion } from "./session/protocol";

function face(mouth: string): ComponentChildren {
  return (
    <svg class="face" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="9.5" />
      <path d={`M9 9.2v.6M15 9.2v.6${mouth}`} />
    </svg>
  );
}

const CHOICES: Choice<Opinion>[] = [
  { value: "like", label: "Like", picture: face("M8 14.2q4 4 8 0") },
  { value: "ambivalent", label: "Ambivalent", picture: face("M8.5 15.5h7") },
  { value: "dislike", label: "Dislike", picture: face("M8 16.8q4-4 8 0") },
];

interface Props {
  legend: ComponentChildren;
  value: Opinion | null;
  onChange: (value: Opinion) => void;
  complaint?: string | null;
}

/** What somebody thinks of a topic: like, ambivalent, dislike. */
export function Opinions(props: Props) {
  return <RadioCards {...props} choices={CHOICES} row />;
}
