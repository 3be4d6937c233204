/** What was done on this installation, and by whom. */
export function AuditView() {
  return <h1>Audit log</h1>;
}
