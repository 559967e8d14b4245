/** Looks for secrets where none may be: what processes show while they run, and all that a run leaves on hosts. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { initOf, processesOf } from './host-processes.ts';
import * as lab from './lab.ts';

/** Texts that may be nowhere, by what they are. */
export type Canaries = ReadonlyMap<string, string>;

/** What was seen of running processes. */
export interface Watched {
  /** Command lines and environments, each once. */
  readonly seen: ReadonlySet<string>;
  /** Secrets of kubeadm in the files of a job: created during the run, so unknown before it. */
  readonly minted: ReadonlySet<string>;
  readonly samples: () => number;
  readonly stop: () => Promise<void>;
}

const EVERY_MS = 50;
/** A bootstrap token, and the key of uploaded certificates. */
const MINTED = /^\s*(?:- )?(?:token|tlsBootstrapToken|certificateKey): "?([a-z0-9.]{23,64})"?$/gm;

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // gone while we looked
  }
}

function childrenOf(pid: number): readonly number[] {
  const own = text(`/proc/${String(pid)}/task/${String(pid)}/children`)
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return own.flatMap((child) => [child, ...childrenOf(child)]);
}

/** Below a job's folder lie its files while it is made and while it runs. */
function jobFiles(root: string): readonly string[] {
  const jobs = join(root, 'run/kbuild/jobs');
  try {
    return readdirSync(jobs, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('/config.yaml'))
      .map((name) => join(jobs, name));
  } catch {
    return [];
  }
}

/** Looks at every process of the hosts, and at this one's children, about twenty times a second until it is stopped. */
export function watchProcesses(hosts: readonly string[]): Watched {
  const seen = new Set<string>();
  const minted = new Set<string>();
  const inits = hosts.map((host) => initOf(host)!.pid);
  let samples = 0;
  const over = new AbortController();
  const look = (): void => {
    samples += 1;
    const pids = [...hosts.flatMap((host) => processesOf(host).map(({ pid }) => pid)), ...childrenOf(process.pid)];
    for (const pid of pids) {
      seen.add(text(`/proc/${String(pid)}/cmdline`));
      seen.add(text(`/proc/${String(pid)}/environ`));
    }
    for (const file of inits.flatMap((init) => jobFiles(`/proc/${String(init)}/root`)))
      for (const [, secret] of text(file).matchAll(MINTED)) minted.add(secret!);
  };
  const watching = (async () => {
    while (!over.signal.aborted) {
      look();
      await sleep(EVERY_MS);
    }
  })();
  return {
    seen,
    minted,
    samples: () => samples,
    stop: async () => {
      over.abort();
      await watching;
    },
  };
}

/** Which canaries stand in a text, as `where: canary`. */
export const foundIn = (where: string, content: string, canaries: Canaries): readonly string[] =>
  [...canaries].flatMap(([name, secret]) => (content.includes(secret) ? [`${where}: ${name}`] : []));

/** All files below a folder of this machine, unpacked where they are packed. */
export function foundBelow(folder: string, canaries: Canaries): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const bytes = readFileSync(join(entry.parentPath, entry.name));
      const content = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
      return foundIn(entry.name, content.toString(), canaries);
    });
}

/** Reads the canaries from stdin, one a line; prints `PLACE<tab>WORD` once for each that it finds. */
const SEARCH = `patterns=/dev/shm/patterns
umask 077
cat >$patterns
search() { grep -oaF -f $patterns "$@" 2>/dev/null | sort -u; }
find / /tmp /run /var/lib/kubelet -xdev \\( -path /usr/lib -o -path /usr/share -o -path /var/log/journal \\) -prune -o -type f -size -64M -print0 2>/dev/null |
  xargs -0 grep -HoaF -f $patterns 2>/dev/null | sort -u | sed 's/:/\\t/'
journalctl --no-pager -o export | search | sed 's/^/journal\\t/'
dmesg | search | sed 's/^/kernel\\t/'
ls -aR /tmp /run /root /home /var/lib/kbuild /var/tmp 2>/dev/null | search | sed 's/^/names of files\\t/'
rm -f $patterns`;

/** Every file of a host's disk and of /tmp and /run, its journal and its kernel's messages: `host:place: canary`. */
export async function foundOn(host: string, canaries: Canaries): Promise<readonly string[]> {
  const names = new Map([...canaries].map(([name, secret]) => [secret, name]));
  const { stdout } = await lab.inside(host, SEARCH, [...canaries.values(), ''].join('\n'));
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [place, word] = line.split('\t');
      return `${host}:${place!}: ${names.get(word!) ?? 'a part of one'}`;
    });
}
