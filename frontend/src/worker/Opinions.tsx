import type { ComponentChildren } from "preact";
import { RadioCards } from "../design/RadioCards";
import { useTexts } from "./hooks";
import type { Opinion } from "./session/protocol";

function face(mouth: string): ComponentChildren {
  return (
    <svg class="face" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="9.5" />
      <path d={`M9 9.2v.6M15 9.2v.6${mouth}`} />
    </svg>
  );
}

const CHOICES: [Opinion, ComponentChildren][] = [
  ["like", face("M8 14.2q4 4 8 0")],
  ["ambivalent", face("M8.5 15.5h7")],
  ["dislike", face("M8 16.8q4-4 8 0")],
];

interface Props {
  legend: ComponentChildren;
  value: Opinion | null;
  onChange: (value: Opinion) => void;
  complaint?: string | null;
}

/** What somebody thinks of a topic: like, ambivalent, dislike. */
export function Opinions(props: Props) {
  const { say } = useTexts();
  const choices = CHOICES.map(([value, picture]) => ({ value, picture, label: say(`opinion.${value}`) }));
  return <RadioCards {...props} choices={choices} row />;
}
