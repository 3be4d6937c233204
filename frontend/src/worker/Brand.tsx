import { Wordmark } from "../design/Wordmark";
import { useSession } from "./hooks";

/** Whose study it is: the lab, where the study names one. */
export function Brand() {
  const lab = useSession().state.study?.lab;
  if (!lab) {
    return <Wordmark />;
  }
  return (
    <span class="wordmark brand" translate={false}>
      {lab.logo && <img class="brand-logo" src={lab.logo} alt="" />}
      <span class="brand-name" dir="auto">
        {lab.name}
      </span>
    </span>
  );
}
