/**
 * Stands in for src/cluster/fleet/observe-linux.ts in the bench's builds of kbuild. All hosts of the fleet are one system: each is
 * made to tell a name, machine id, MAC and address of its own. With $KBUILD_BENCH_CHECKS the host runs the bench's 25 checks
 * instead of the probes, and the facts are those that were recorded; all the rest of the program is as it is.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { type Ask, observeLinux as real } from '../../src/cluster/fleet/observe-linux.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import type { ExecResult } from '../../src/ssh/transport.ts';

export type { Ask, ObserveTools } from '../../src/cluster/fleet/observe-linux.ts';

/** What the one system says of itself. */
export interface System {
  readonly hostname: string;
  readonly machineId: string;
  readonly mac: string;
  readonly address: string;
}

const setting = (name: string): string | undefined => process.env[`KBUILD_BENCH_${name}`];
const read = (path: string | undefined): string | undefined =>
  path === undefined ? undefined : readFileSync(path, 'utf8');
const system = JSON.parse(setting('SYSTEM') ?? 'null') as System | null;
const checks = read(setting('CHECKS'));
const recorded = JSON.parse(read(setting('RECORDED')) ?? 'null') as Recorded | null;

/** An answer to the whole script, and the word that frames it. */
interface Recorded extends ExecResult {
  readonly word: string;
}

/** The word that frames the answers to a script. */
export const wordOf = (script: string): string => /^NONCE=(\w+)$/m.exec(script)![1]!;

/** Also the ways to the others, which the one system was not asked for. */
function personal({ name, internalAddress }: LinuxHost, text: string, script: string): string {
  if (system === null) return text;
  const others = /ADDRESSES=\D*([\d.\s]+)/.exec(script)?.[1]?.trim().split(/\s+/) ?? [];
  const ways = others.map((one) => `${one} via 10.77.0.1 dev eth0 src ${internalAddress} uid 0 \\    cache`).join('\n');
  const hash = createHash('sha256').update(name).digest('hex');
  const mac = `02:${hash.slice(0, 10).replaceAll(/..(?!$)/g, '$&:')}`;
  return text
    .replaceAll(system.hostname, name)
    .replaceAll(system.machineId, hash.slice(0, 32))
    .replaceAll(system.mac, mac)
    .replaceAll(system.address, internalAddress)
    .replace(/^---\n(?:\d+\.\d+\.\d+\.\d+ (?:via|dev) .*\n)*/m, `---\n${ways}\n`);
}

/** As the real one. */
export const observeLinux: typeof real = (ask, subject, tools, names) => {
  const asked: Ask = async (command) => {
    const word = wordOf(command.script);
    if (checks === undefined || recorded === null) {
      const result = await ask(command);
      const file = setting('RECORD');
      if (file !== undefined) {
        writeFileSync(file, JSON.stringify({ ...result, word }));
        writeFileSync(setting('SCRIPT')!, command.script);
      }
      return { ...result, stdout: personal(subject.host, result.stdout, command.script) };
    }
    const { status, stdout } = await ask({ shell: 'sh', script: `set +e\n${checks}`, title: 'the 25 checks' });
    if (status !== 0 || !/^install ok installed /m.test(stdout))
      throw new Error(`${subject.host.name}: the checks failed`);
    const answer = recorded.stdout.replaceAll(recorded.word, word);
    return {
      ...recorded,
      stdout: personal(subject.host, answer, command.script),
      stderr: recorded.stderr.replaceAll(recorded.word, word),
    };
  };
  return real(asked, subject, tools, names);
};
