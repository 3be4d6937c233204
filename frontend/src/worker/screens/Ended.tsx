import { Heading } from "../Heading";
import { useTitle } from "../hooks";

const WORDS = {
  expired: {
    title: "This session has ended",
    text: [
      "It had been quiet here for a while, so your place was given to somebody else.",
      "What you did up to then is kept. If you think this is a mistake, please write to the researchers.",
    ],
  },
  returned: {
    title: "You have left the study",
    text: ["Thank you for having had a look. You can close this page now."],
  },
};

/** The assignment is over without having been handed in. */
export function Ended({ how }: { how: "expired" | "returned" }) {
  const { title, text } = WORDS[how];
  useTitle(title);
  return (
    <div class="page page-still">
      <div class="panel flow">
        <Heading>{title}</Heading>
        {text.map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
      </div>
    </div>
  );
}
