import { useTexts } from "./hooks";
import { roomIn } from "./limits";

/** How far a text is from the most that can be sent, where it is near or past it. Nothing is ever cut. */
export function Excess({ text, most, id }: { text: string; most: number; id: string }) {
  const { say } = useTexts();
  const left = roomIn(text, most);
  const words =
    left < 0 ? say("common.too_long", { n: -left }) : left < most / 10 ? say("common.left", { n: left }) : "";
  return (
    <p class={left < 0 ? "complaint" : "excess soft small"} id={id} role="status">
      {words}
    </p>
  );
}
