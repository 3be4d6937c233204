/** A text of the researcher's, in paragraphs. */
export function Paragraphs({ text }: { text: string }) {
  return (
    <>
      {text.split(/\n\s*\n/).map((paragraph, index) => (
        <p key={index} class="paragraph" dir="auto">
          {paragraph}
        </p>
      ))}
    </>
  );
}
