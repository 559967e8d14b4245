import { CommandError } from '../errors.ts';
import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { revealed, type Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';
import type { Pause } from '../wait.ts';
import { LATE_REMEDY, minutesOf, noAnswer, patiently } from './deadlines.ts';
import type { Exchange } from './exchange.ts';
import { upAgain, watchHung } from './reboot.ts';
import type { ExecResult } from './transport.ts';

/** What the script that follows a job printed. */
type JobReport = { readonly started: boolean } & (
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

/** Seconds between two reports of a running job. */
const TELL_SECONDS = 30;

/** Seconds between two counts of what a running job has downloaded. */
const LOAD_SECONDS = 5;

/**
 * Seconds that a new job waits until another run has read the result of its job. It takes as long as one answer of a
 * host.
 */
const READ_SECONDS = 10;

/** So often in succession a host may take the connection and run nothing, before the job is left to itself. */
const MOST_HUNG = 3;

/** What jobs need of their run. */
export interface JobTools {
  /** Gives what starts from now on another connection. */
  readonly renew?: () => void;
  readonly runId: string;
  readonly onJobFollowed?: (summary: string) => void;
  /** `about` is the host that the work is about. */
  readonly onJobWaits?: (summary: string, about: string) => void;
  /** Called while the job downloads, with the bytes since it is followed, and the bytes per second of late. */
  readonly onJobLoads?: (bytes: number, bytesPerSecond: number, about: string) => void;
  readonly pause: Pause;
  readonly nowMs: () => number;
}

/** One job of one run on one host. */
interface Job {
  /** What kind of work it is. */
  readonly name: string;
  /** Time limit in ms, after which the host ends the job. */
  readonly deadlineMs: number;
  /** Unique among the jobs of the run on this host; its unit is `kbuild-job-<id>-<run>`. */
  readonly id: string;
  readonly command: Command<'sh'>;
  /** Written beside the script, 0600. The host deletes them when the job ends, also if kbuild has died. */
  readonly files: Readonly<Record<string, Secret>>;
}

/**
 * Runs a job and returns its stdout (the last MiB). A lost connection does not end the job: it is dialled again and
 * waited for. So is a host that hangs. @throws CommandError when the job failed; ConnectError when the host does not
 * come back in 5 min, NoAnswer when it takes connections for about as long and runs nothing. The next run finds the
 * job.
 */
export async function runJob(on: Exchange, job: Job, tools: JobTools): Promise<string> {
  const host = on.host.name;
  const title = job.command.title;
  const startedMs = tools.nowMs();
  const name = `job ${job.id}: ${title}`;
  on.begin(name);
  let started = false;
  let hung = 0;
  const reported = new Set<string>();
  let last: string | undefined;
  const onWaits = (summary: string): void => {
    last = summary;
    // After a lost connection the job reports it again.
    if (!reported.has(summary)) tools.onJobWaits?.(summary, job.command.about ?? host);
    reported.add(summary);
  };
  for (;;) {
    const { report, result, isHung } = await attempt(on, job, { ...tools, onWaits }, started);
    hung = isHung ? hung + 1 : 0;
    if (hung === MOST_HUNG) throw noAnswer(host, name, { totalMs: on.silenceMs * MOST_HUNG });
    // Its session may hang alone.
    if (isHung) tools.renew?.();
    started ||= report.started;
    if (report.kind === 'ended') {
      const { status, stdout } = report;
      on.log({
        host,
        command: name,
        status,
        durationMs: tools.nowMs() - startedMs,
        stdout,
        stderr: result.stderr,
      });
      if (status === 0) return stdout;
      if (isLate(status)) throw lateJob(host, job, { stdout, stderr: result.stderr }, last);
      if (String(status).startsWith('SIG')) await upAgain(on, tools);
      // A job that was killed failed because of its own host, whatever its command is about.
      const about = typeof status === 'number' ? (job.command.about ?? host) : host;
      throw new CommandError(about, title, { status, stdout, stderr: result.stderr });
    }
    if (report.kind === 'gone')
      throw new CommandError(host, title, {
        status: 'vanished',
        stdout: '',
        stderr: 'the job is not there any more: was the host restarted?',
      });
    if (result.status !== 'lost') throw new CommandError(host, title, result);
  }
}

/** True if the host ended the job at its deadline. */
const isLate = (status: number | string): boolean => String(status).endsWith('(timeout)');

function lateJob(
  host: string,
  { command, deadlineMs, name }: Job,
  { stdout, stderr }: Pick<ExecResult, 'stdout' | 'stderr'>,
  last: string | undefined,
): CommandError {
  const why =
    `the job ${name} was ended after ${minutesOf(deadlineMs)} min, its deadline; it last ` +
    `waited: ${last ?? 'nothing was told'}`;
  return new CommandError(
    command.about ?? host,
    command.title,
    { status: 'timeout', stdout, stderr: `${stderr.trimEnd()}\n${why}` },
    LATE_REMEDY,
  );
}

/** Starts the job or follows it, until the job or the channel ends. */
async function attempt(
  on: Exchange,
  job: Job,
  tools: JobTools & { readonly onWaits: (summary: string) => void },
  started: boolean,
): Promise<{ readonly report: JobReport; readonly result: ExecResult; readonly isHung: boolean }> {
  const mark = on.nonce();
  const command = jobScript(job, tools.runId, mark, started);
  const { channel, nonce } = await patiently(tools, () => on.open(command));
  const watch = watchHung(on, channel);
  channel.onLine((line) => {
    watch.heard();
    const [word, kind, ...words] = line.split(' ');
    if (word !== mark) return;
    if (kind === 'follow') tools.onJobFollowed?.(`wait for ${words[0] ?? 'a job'}, which another run started`);
    if (kind === 'waiting') tools.onWaits(words.join(' '));
    const [bytes, rate] = words.map(Number);
    if (kind === 'loads' && Number.isSafeInteger(bytes) && Number.isSafeInteger(rate))
      tools.onJobLoads?.(bytes!, rate!, job.command.about ?? on.host.name);
    // Everything was read: the folder may go.
    if (kind === 'end') channel.write('read\n');
  });
  const sent = await channel.ended;
  const isHung = watch.end();
  if (sent.status === 'lost' && !sent.stdout.includes(nonce))
    return { report: { kind: 'open', started: false }, result: sent, isHung };
  const result = on.began(job.command, sent, nonce);
  // One that said something before it hung may answer again.
  return { report: jobReport(result.stdout, mark), result, isHung: false };
}

function jobScript(job: Job, runId: string, mark: string, started: boolean): Command<'sh'> {
  const run = `${paths.jobs}/${runId}`;
  const body = script('ssh/job.sh', {
    MARK: mark,
    UNIT: `kbuild-job-${job.id}-${runId}`,
    JOBS: paths.jobs,
    RUN: run,
    FOLDER: `${run}/${job.id}`,
    LOCK: paths.jobLock,
    START_LOCK: paths.jobStartLock,
    STARTED: started ? 'yes' : 'no',
    SCRIPT: job.command.script,
    NAME: job.name,
    DEADLINE_SECONDS: Math.ceil(job.deadlineMs / 1000),
    READ_SECONDS,
    TELL_SECONDS,
    LOAD_SECONDS,
    END: script('ssh/job-end.sh').script,
  });
  const files = Object.entries(job.files).map(
    ([name, secret]) => sh`printf %s ${revealed(secret)} >${`./${name}`}`.script,
  );
  return { ...body, script: ['put_files() {', ':', ...files, '}', body.script].join('\n'), title: job.command.title };
}
