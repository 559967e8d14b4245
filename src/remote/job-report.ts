/** What the script that follows a job printed. */
export type JobReport = { readonly started: boolean } & (
  | { readonly kind: 'ended'; readonly status: number | string; readonly stdout: string }
  /** Neither the job nor its result is there. */
  | { readonly kind: 'gone' }
  /** The connection ended before the job did. */
  | { readonly kind: 'open' }
);

/** Reads the lines that begin with `mark`, and what the job printed between the last two. */
export function jobReport(stdout: string, mark: string): JobReport {
  const started = stdout.includes(`${mark} started\n`);
  if (stdout.includes(`${mark} gone\n`)) return { kind: 'gone', started };
  const beginning = new RegExp(`^${mark} done(.*)\\n`, 'm').exec(stdout);
  const end = stdout.lastIndexOf(`\n${mark} end\n`);
  if (beginning === null || end === -1) return { kind: 'open', started };
  const [all, result] = beginning;
  return {
    kind: 'ended',
    started,
    status: statusOf(result!),
    stdout: stdout.slice(beginning.index + all.length, end),
  };
}

/** systemd's $SERVICE_RESULT, $EXIT_CODE and $EXIT_STATUS (systemd.exec(5)) as one status. */
function statusOf(written: string): number | string {
  const [, result, code, status] = /^ (\S+) (\S+) (\S+)$/.exec(written) ?? [];
  if (result === undefined || code === undefined || status === undefined) return 'unreadable';
  if (code === 'exited' && !/^\d+$/.test(status)) return 'unreadable';
  if (code === 'exited' && (result === 'success' || result === 'exit-code')) return Number(status);
  if (code !== 'killed' && code !== 'dumped') return result;
  // `success` too: systemd counts SIGTERM as a clean end, but a job that was ended has no result.
  return result === 'signal' || result === 'success' ? `SIG${status}` : `SIG${status} (${result})`;
}
