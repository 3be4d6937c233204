import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { AccountContext, may } from "../account";
import { when } from "../format";
import { useRequest } from "../jobs/useRequest";

interface Props {
  /** Where the mark is set. */
  address: string;
  seenAt: string | null;
  seenBy: string | null;
}

/** Who has seen what needs reading, or the button that says so. */
export function SeenMark({ address, seenAt, seenBy }: Props) {
  const account = useContext(AccountContext);
  const { busy, failure, post } = useRequest();
  const [marked, setMarked] = useState(false);
  const seen = marked || seenAt !== null;
  return (
    <>
      <p class="soft small" role="status">
        {seen && (seenBy ? `Seen by ${seenBy}, ${when(seenAt)}` : "Seen by you")}
      </p>
      {!seen && may(account, "act_on_workers") && (
        <Button kind="secondary" busy={busy} onClick={() => void post(address).then(setMarked)}>
          Mark as seen
        </Button>
      )}
      <p class="complaint" role="alert">
        {failure}
      </p>
    </>
  );
}
