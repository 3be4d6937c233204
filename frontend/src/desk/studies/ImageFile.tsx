import { useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { sizeOf } from "../jobs/numbers";
import { Field, mistakesAt, type SettingProps } from "./Field";

const TYPES = ["image/png", "image/jpeg", "image/webp", "image/svg+xml"];

/** An image that becomes part of the study, as a data URL: chosen as a file, shown, and removed. */
export function ImageFile({ editor, root, schema, path, value }: SettingProps & { value: unknown }) {
  const id = useId();
  const [complaint, setComplaint] = useState("");
  const choose = async (file: File) => {
    const wrong = wrongWith(file, schema.maxLength);
    setComplaint(wrong);
    if (!wrong) {
      editor.set(path, await dataUrl(file));
    }
  };
  return (
    <Field path={path} root={root} editor={editor} id={id}>
      {typeof value === "string" && !mistakesAt(editor.mistakes, path) && (
        <div class="study-image">
          <img src={value} alt="Chosen now" />
          <Button
            kind="quiet"
            onClick={() => {
              setComplaint("");
              editor.remove(path);
            }}
          >
            Remove image
          </Button>
        </div>
      )}
      <input
        id={id}
        type="file"
        name={path.join(".")}
        accept={TYPES.join(",")}
        aria-describedby={`${id}-hint ${id}-complaint ${id}-file`}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) {
            void choose(file).then(() => {
              currentTarget.value = ""; // the same file can be chosen again
            });
          }
        }}
      />
      <p class="complaint" role="alert" id={`${id}-file`}>
        {complaint}
      </p>
    </Field>
  );
}

/** Why a file can't be the image; empty where it can. `longest`: how many characters its data URL may have. */
export function wrongWith(file: Pick<File, "name" | "type" | "size">, longest = Infinity): string {
  if (!TYPES.includes(file.type)) {
    return `${file.name} is no image that browsers show. Choose a PNG, JPEG, WebP or SVG file.`;
  }
  const most = Math.floor((longest - `data:${file.type};base64,`.length) / 4) * 3; // base64: 4 characters for 3 bytes
  return file.size > most
    ? `${file.name} has ${sizeOf(file.size)}. Choose an image of at most ${sizeOf(most)}.`
    : "";
}

function dataUrl(file: File): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(file);
  });
}
