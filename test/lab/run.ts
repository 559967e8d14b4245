import { spawn } from 'node:child_process';
import { LabError } from './errors.ts';

/** What a command said and how it ended; `code` is 128 + the signal's number's stand-in 255 when a signal ended it. */
export interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** How to run a command. */
export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Milliseconds after which the command is ended with SIGKILL. */
  readonly timeoutMs?: number;
  /** In a session of its own: a Ctrl-C for us does not end it. */
  readonly detached?: boolean;
}

/** Runs a program without a shell and returns whatever came of it. Throws only when it cannot be started. */
export function attempt(program: string, args: readonly string[], options: RunOptions = {}): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...process.env, LC_ALL: 'C', ...options.env },
      detached: options.detached === true,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    // Not spawn's own timeout: it would keep this process alive when the program is not there.
    const timer =
      options.timeoutMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), options.timeoutMs);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(new LabError(`cannot start ${program}: ${error.message}`));
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString(), code: code ?? 255 });
    });
    // A command that does not read its input is no error.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input);
  });
}

/** Runs a program without a shell and returns its output. Throws LabError with its stderr when it fails. */
export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const result = await attempt(program, args, options);
  if (result.code === 0) return result.stdout;
  const said = (result.stderr || result.stdout).trim().split('\n').slice(-10).join('\n');
  throw new LabError(`${[program, ...args].join(' ')}: exit ${result.code}\n${said}`);
}
