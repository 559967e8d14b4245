import { CommandError, exitCodeOf, NotConverged } from '../../errors.ts';
import { isWindowsRemote } from '../../remote/host-remote.ts';
import { failuresText, textsOf } from '../../report/failure.ts';
import { script } from '../../templates.ts';
import { lastWordsOfWindows } from '../../windows/support-sections.ts';
import type { Run } from './run.ts';
import { gathered, withDenials } from './support-bundle.ts';

const LINES = 20;
const PATIENCE_MS = 30_000;

/** How many hosts' logs are fetched at most: if the whole fleet fails, a few of them show the cause. */
const MAX_HOSTS = 5;

/** Reports the failure of each host, with its known cause and the last lines of the host's logs where they may explain it. */
export async function reportFailures(run: Run, failures: ReadonlyMap<string, Error>): Promise<void> {
  const asked = [...failures].filter(([, error]) => isInLogs(error)).slice(0, MAX_HOSTS);
  const words = new Map(
    await Promise.all(asked.map(async ([host]): Promise<[string, string]> => [host, await lastWords(run, host)])),
  );
  const reports = [...failures].map(([host, error]) => ({ host, error, lastWords: words.get(host) ?? '' }));
  for (const report of reports) {
    const { host, error, lastWords: last } = report;
    const [, cause, remedy] = textsOf(report);
    run.note({
      kind: 'failure',
      host,
      message: error.message,
      cause,
      remedy,
      lastWords: last,
      exitCode: exitCodeOf(error),
    });
    run.log({ kind: 'failure', host: report.host, text: failuresText([report]), lastWords: report.lastWords });
  }
  if (reports.length > 0) run.context.err(failuresText(reports));
}

/** True if the host's logs may explain the error: they hold what kubeadm, the kubelet and etcd did. */
const isInLogs = (error: Error): boolean =>
  (error instanceof NotConverged && error.remedy === undefined) ||
  // An error that has a remedy needs no logs.
  (error instanceof CommandError &&
    (error.remedy === undefined || error.status === 'timeout') &&
    /kube|etcd/i.test(`${error.command} ${error.stderr}`));

async function lastWords(run: Run, host: string): Promise<string> {
  const remote = run.connected.remotes.find((candidate) => candidate.host.name === host);
  if (remote === undefined) return '';
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(''), PATIENCE_MS);
  });
  const title = 'fetch the last words';
  const asking = isWindowsRemote(remote)
    ? gathered(remote, lastWordsOfWindows, title)
    : remote.run({ ...withDenials(run, script('linux/last-words.sh', { LINES })), title });
  return Promise.race([asking.catch(() => ''), patience]).finally(() => clearTimeout(timer));
}
