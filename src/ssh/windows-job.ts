import { CommandError } from '../errors.ts';
import { windowsPaths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { encodedCommand, encodedRunner } from '../shell/powershell.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { powershell, scriptFile, windowsBootstrap } from '../templates.ts';
import { isRetryable, LATE_REMEDY, minutesOf, patiently } from './deadlines.ts';
import type { JobTools } from './job.ts';
import { type Exchange, readable } from './windows-exchange.ts';

/** Seconds that one observation may wait for the end of a job. */
const SECONDS_EACH = 20;

/** One job of one run on one host. */
interface Job {
  /** What kind of work it is. */
  readonly name: string;
  /** Time limit in ms, after which the host ends the job. */
  readonly deadlineMs: number;
  /** Unique among the jobs of the run on this host; its task is `kbuild-job-<id>-<run>`. */
  readonly id: string;
  readonly command: Command<'powershell'>;
  /** Written to the job's working folder, for SYSTEM and administrators only; gone when the job ends. */
  readonly files: Readonly<Record<string, Secret>>;
}

type Begun = { readonly state: 'started' | 'gone' } | { readonly state: 'busy'; readonly task: string };
type Observation =
  | { readonly state: 'running' }
  /** `result`: how its task ended. */
  | { readonly state: 'gone'; readonly result?: string }
  | {
      readonly state: 'ended';
      readonly status: string;
      readonly output: string;
      readonly errors: string;
      /** True if the beginning of the output is missing. */
      readonly cut?: boolean;
    };

/**
 * Runs a job as a scheduled task of SYSTEM, which outlives the connection, and returns its result. First waits for a
 * job of another run. Reconnects after a lost connection.
 * @throws CommandError when the job failed; ConnectError when the host does not come back in 5 min.
 */
export async function runJob(on: Exchange, job: Job, tools: JobTools): Promise<string> {
  const host = on.host.name;
  const title = job.command.title;
  const folder = `${windowsPaths.jobs}\\${tools.runId}\\${job.id}`;
  const task = `kbuild-job-${job.id}-${tools.runId}`;
  const startedMs = tools.nowMs();
  on.begin(`job ${job.id}: ${title}`);
  const asked = async <T>(command: Command<'powershell'>): Promise<T> =>
    JSON.parse(await patiently(tools, () => on.ask({ ...command, title }, 'hidden'), isLoss)) as T;

  const forget = () => asked(powershell('windows/job-forget.ps1', { Folder: folder, Task: task }));

  await begin(asked, folder, task, job, tools);
  for (;;) {
    const observed = await asked<Observation>(waiting(folder, task));
    if (observed.state === 'running') continue;
    if (observed.state === 'gone') {
      // The job ended without its own clean-up: its secrets are still there.
      await forget();
      throw new CommandError(host, title, {
        status: 'vanished',
        stdout: '',
        stderr: `the job is not there any more${endOfTask(observed.result)}: was the host restarted?`,
      });
    }
    const { errors } = observed;
    // What is cut off is the beginning, with the mark that the script began.
    const output = observed.cut === true ? `${BEGUN}${observed.output}` : observed.output;
    const status = /^-?\d+$/.test(observed.status) ? Number(observed.status) : observed.status;
    on.log({
      host,
      command: `job ${job.id}: ${title}`,
      status,
      durationMs: tools.nowMs() - startedMs,
      ...readable({ stdout: output, stderr: errors }),
    });
    await forget();
    if (status === 'timeout') throw lateJob(host, job, { stdout: '', stderr: errors });
    return on.ended(job.command, { status, stdout: output, stderr: errors });
  }
}

/** The mark with which the bootstrap begins. */
const BEGUN = '\nKBUILD-BEGUN\n';

/** The result of a task as Windows writes it: `its task ended with 0xC000013A`. */
const endOfTask = (result: string | undefined): string =>
  result === undefined || !/^\d+$/.test(result)
    ? ''
    : ` (its task ended with 0x${Number(result).toString(16).toUpperCase()})`;

function lateJob(host: string, { command, deadlineMs, name }: Job, said: { stdout: string; stderr: string }): Error {
  const why = `the job ${name} was ended after ${minutesOf(deadlineMs)} min, its deadline`;
  const stderr = `${readable(said).stderr.trimEnd()}\n${why}`.trim();
  return new CommandError(host, command.title, { status: 'timeout', stdout: '', stderr }, LATE_REMEDY);
}

const waiting = (folder: string, task: string): Command<'powershell'> =>
  powershell('windows/job-wait.ps1', { Folder: folder, Task: task, Seconds: SECONDS_EACH });

const filesOf = (job: Job): Secret =>
  Secret.of(
    JSON.stringify({ files: Object.entries(job.files).map(([name, secret]) => ({ name, text: revealed(secret) })) }),
  );

async function begin(
  asked: <T>(command: Command<'powershell'>) => Promise<T>,
  folder: string,
  task: string,
  job: Job,
  tools: JobTools,
): Promise<void> {
  const start = powershell(
    'windows/job-start.ps1',
    {
      Root: windowsPaths.state,
      StartLock: windowsPaths.jobStartLock,
      Jobs: windowsPaths.jobs,
      Run: tools.runId,
      Folder: folder,
      Task: task,
      Arguments: encodedCommand(windowsBootstrap()).replace(/^powershell\.exe /, ''),
      Runner: encodedRunner(scriptFile('windows/job-run.ps1'), folder, job.deadlineMs / 1000),
    },
    { Payload: Secret.of(job.command.script), Files: filesOf(job) },
  );
  for (;;) {
    const begun = await asked<Begun>(start);
    if (begun.state !== 'busy') return;
    tools.onJobFollowed?.(`wait for ${begun.task}, which another run started`);
    while ((await asked<Observation>(waiting('', begun.task))).state === 'running');
  }
}

/** True if it is unknown whether a script ran: running it again does no harm. */
const isLoss = (error: unknown): boolean =>
  isRetryable(error) || (error instanceof CommandError && error.status === 'lost');
