import { setTimeout as delay } from 'node:timers/promises';
import { decodePayload, type Payload } from '../../../src/shell/powershell.ts';
import { scriptFile } from '../../../src/templates.ts';
import type { Faults } from './faults.ts';
import { DiskFull, type Machine } from './machine.ts';
import { bindingProblem } from './parameters.ts';
import { Killed, ScriptFailure, type Answer, type HostControl, type ScriptContext } from './script.ts';

/** What a running script can reach of its host. */
export interface Runtime {
  readonly machine: Machine;
  readonly answers: ReadonlyMap<string, Answer>;
  readonly control: HostControl;
  /** Broken rules: a test must fail by them. */
  readonly violations: string[];
  readonly faultOf: (kind: 'script' | 'job', name: string) => ReturnType<Faults>;
  readonly newPid: () => number;
  /** What each script saw of the environment when it last began. */
  readonly environments: Map<string, ReadonlyMap<string, string>>;
  /** The names of scripts that began, in order. */
  readonly began: string[];
}

/** One process of powershell.exe. */
export interface Run {
  readonly kind: 'script' | 'job';
  readonly environment: ReadonlyMap<string, string>;
  readonly account: ScriptContext['account'];
  readonly workingFolder?: string;
  /** Ended from outside. */
  readonly ending: AbortController;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly heartbeat: (ms: number) => Promise<boolean>;
  /** Drops the connection that it came on. */
  readonly drop: () => void;
}

/** What `Write-Result` prints. */
export const resultLine = (value: unknown): string =>
  `\nKBUILD-RESULT:${Buffer.from(JSON.stringify(value ?? null)).toString('base64')}\n`;

/** What the script ended with; undefined when it was ended. */
export async function runScript(runtime: Runtime, run: Run, line: string): Promise<number | undefined> {
  const { machine, violations } = runtime;
  const { ending, stdout, stderr } = run;
  if (!line.trim().endsWith('.')) {
    stderr('KBUILD-ERROR: KBUILD stdin empty or cut short\r\n');
    return 1;
  }
  stdout('\nKBUILD-BEGUN\n');
  const payload = decodePayload(line);
  const answer = runtime.answers.get(payload.name);
  const wrong = broken(payload, answer);
  if (wrong !== undefined || answer === undefined) {
    violations.push(wrong ?? `no answer for ${payload.name}`);
    stderr(`KBUILD-ERROR: the simulated host: ${violations.at(-1)!}\r\n`);
    return 1;
  }
  runtime.began.push(payload.name);
  runtime.environments.set(payload.name, run.environment);
  const pid = runtime.newPid();
  machine.processes.set(pid, {
    name: payload.name,
    startedMs: Date.now(),
    end: (status = 0xffffffff) => ending.abort(status),
  });
  const fault = runtime.faultOf(run.kind, payload.name);
  let results = 0;
  const stopIfEnded = (): void => {
    if (ending.signal.aborted) throw new Killed();
  };
  const context: ScriptContext = {
    pid,
    environment: run.environment,
    account: run.account,
    workingFolder: run.workingFolder,
    signal: ending.signal,
    sleep: async (ms) => {
      await delay(ms, undefined, { signal: ending.signal }).catch(() => undefined);
      if (ending.signal.aborted) throw new Killed();
    },
    heartbeat: async (ms) => {
      const beat = await run.heartbeat(ms);
      if (ending.signal.aborted) throw new Killed();
      return beat;
    },
    result: (value) => {
      results++;
      stdout(resultLine(value));
    },
    host: runtime.control,
  };
  try {
    if (fault === 'lost') run.drop();
    if (fault === 'restart') runtime.control.restart();
    if (fault === 'killed') ending.abort();
    stopIfEnded();
    if (fault === 'disk-full') throw new DiskFull();
    if (fault === 'hangs') await context.sleep(86_400_000);
    if (fault === 'ends-1') return 1;
    if (fault === 'null') {
      context.result(null);
      return 0;
    }
    if (fault === 'fails') throw new ScriptFailure('an injected failure');
    const problem = bindingProblem(payload.script, Object.keys(payload.params));
    if (problem !== undefined) throw new ScriptFailure(problem);
    const value = await answer(machine, payload.params, context);
    stopIfEnded();
    if (fault === 'lost-after') {
      run.drop();
      throw new Killed();
    }
    if (fault === 'utf-16') stdout(Buffer.from(resultLine(value), 'utf16le').toString('latin1'));
    else if (results === 0) context.result(value);
    return 0;
  } catch (error) {
    if (error instanceof Killed) return undefined;
    if (!(error instanceof ScriptFailure) && !(error instanceof DiskFull))
      violations.push(String((error as Error).stack));
    stderr(
      `KBUILD-ERROR: ${(error as Error).message}\r\nKBUILD-AT: ${payload.name}:1:1: \r\nKBUILD-ID: Simulated\r\nKBUILD-STACK: at <ScriptBlock>, ${payload.name}: line 1\r\n`,
    );
    return 1;
  } finally {
    machine.processes.delete(pid);
    for (const [path, lock] of machine.locks) if (lock.pid === pid) machine.locks.delete(path);
  }
}

function broken(payload: Payload, answer: Answer | undefined): string | undefined {
  const { name, script, common } = payload;
  if (answer === undefined) return `no answer for ${name}: test/windows/host/answers has none`;
  if (script !== scriptFile(name as 'windows/x.ps1')) return `${name} is not the script of that name`;
  if (common !== scriptFile('windows/common.ps1')) return `${name} came with other common functions`;
  return undefined;
}
