import { CommandError, NotConverged } from '../../errors.ts';
import { isWindowsRemote, type HostRemote } from '../../remote/host-remote.ts';
import { failuresText } from '../../report/failure.ts';
import { script } from '../../templates.ts';
import { gathered } from './windows-sections.ts';
import { lastWordsOfWindows } from '../../windows/support-sections.ts';
import type { Run } from './run.ts';

const LINES = 20;
const PATIENCE_MS = 30_000;

/** Hosts whose last words are fetched: a fleet that failed as a whole has one cause, not hundreds. */
const ASKED = 5;

/** Tells what failed on each host, with the known cause and the host's last words where they may say more. */
export async function tellFailures(run: Run, failures: ReadonlyMap<string, Error>): Promise<void> {
  const asked = [...failures].filter(([, error]) => saysMore(error)).slice(0, ASKED);
  const words = new Map(
    await Promise.all(
      asked.map(async ([host]): Promise<[string, string]> => [host, await lastWords(run.connected.remotes, host)]),
    ),
  );
  const reports = [...failures].map(([host, error]) => ({ host, error, lastWords: words.get(host) ?? '' }));
  for (const report of reports) {
    run.log({ kind: 'failure', host: report.host, text: failuresText([report]), lastWords: report.lastWords });
  }
  if (reports.length > 0) run.context.err(failuresText(reports));
}

/** Only what kubeadm or the cluster made of a host is explained by its journals. */
const saysMore = (error: Error): boolean =>
  error instanceof NotConverged ||
  // A failure with a remedy of its own is explained already.
  (error instanceof CommandError &&
    (error.remedy === undefined || error.status === 'timeout') &&
    /kube|etcd/i.test(`${error.command} ${error.stderr}`));

async function lastWords(remotes: readonly HostRemote[], host: string): Promise<string> {
  const remote = remotes.find((one) => one.host.name === host);
  if (remote === undefined) return '';
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(''), PATIENCE_MS);
  });
  const title = 'fetch the last words';
  const asking = isWindowsRemote(remote)
    ? gathered(remote, lastWordsOfWindows, title)
    : remote.run({ ...script('linux/last-words.sh', { LINES }), title });
  return Promise.race([asking.catch(() => ''), patience]).finally(() => clearTimeout(timer));
}
