import { Segmented } from "../../design/Segmented";
import type { Editor } from "./editor";
import { valueAt } from "./settings";

const SCALES = [
  { value: "slider", name: "Slider, 0–100" },
  { value: "5", name: "5 points" },
  { value: "7", name: "7 points" },
] as const;

type Scale = (typeof SCALES)[number]["value"];

/** One scale for all criteria that are rated: the published slider, or a number of points. */
export function ScaleOfAll({ editor }: { editor: Editor }) {
  const criteria = Array.isArray(editor.content?.criteria) ? editor.content.criteria : [];
  const scales = criteria.map((criterion) => scaleOf(valueAt(criterion, ["scale"])));
  const rated = scales.filter((scale) => scale !== null);
  if (rated.length === 0) {
    return null;
  }
  const shared = new Set(rated).size === 1 ? (rated[0] as Scale) : null;
  const choose = (scale: Scale) => {
    for (const [index, now] of scales.entries()) {
      const path = ["criteria", index, "scale"];
      if (now === null || now === scale) {
        continue;
      }
      if (scale === "slider") {
        editor.remove(path);
      } else {
        editor.set(path, { kind: "likert", points: Number(scale) });
      }
    }
  };
  return (
    <div class="field">
      <p class="label">Scale of all criteria</p>
      <Segmented
        label="Scale of all criteria"
        choices={SCALES}
        value={shared ?? ("" as Scale)}
        onChange={choose}
      />
      <p class="soft small">
        {shared === null
          ? "The criteria have different scales now. A choice here gives them all the same one."
          : "The published criteria were rated on the slider. Each criterion can have a scale of its own, too."}
      </p>
    </div>
  );
}

/** The scale of a criterion as one of those above, or as something else; null where it is not rated. */
function scaleOf(scale: unknown): string | null {
  const kind = valueAt(scale, ["kind"]) ?? "slider";
  if (kind === "likert") {
    return String(valueAt(scale, ["points"]));
  }
  return kind === "slider" ? "slider" : null;
}
