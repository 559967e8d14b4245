import { readFile } from 'node:fs/promises';
import { attempt } from '../lab/run.ts';
import { type EngineName, type EngineState, engineState, type Machine } from './way.ts';

/** An engine that hangs counts as one that does not answer. */
const ANSWER_MS = 20_000;

async function engine(name: EngineName): Promise<EngineState> {
  try {
    const { stdout, stderr } = await attempt(name, ['info', '--format', '{{json .}}'], { timeoutMs: ANSWER_MS });
    return engineState(stdout, stderr);
  } catch {
    return { kind: 'absent' };
  }
}

/** What this machine is, as far as the way of a demo depends on it. */
export async function machine(): Promise<Machine> {
  const [osRelease, docker, podman] = await Promise.all([
    readFile('/etc/os-release', 'utf8').catch(() => ''),
    engine('docker'),
    engine('podman'),
  ]);
  return { platform: process.platform, uid: process.getuid?.(), osRelease, engines: { docker, podman } };
}
