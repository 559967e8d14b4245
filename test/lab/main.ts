/** The lab's command line: `npm run lab -- COMMAND`. Progress goes to stderr, results to stdout. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { buildAll, prune, requireLab } from './build-all.ts';
import { program, Unmet } from './errors.ts';
import * as lab from './lab.ts';
import { progress } from './progress.ts';
import { requireMachine } from './requirements.ts';
import { statusText } from './status.ts';
import { type System, SYSTEMS } from './systems.ts';
import { ARM64_WANTED, arm64Programs } from './arm64-programs.ts';
import { VIRTUAL_MACHINE, VIRTUAL_MACHINE_PACKAGES } from './virtual-machine.ts';
import { WINDOWS_PROGRAMS, WINDOWS_WANTED, windowsPrograms } from './windows-programs.ts';

const USAGE = `npm run lab -- COMMAND

  check                      list all that this machine lacks
  build                      make everything slow, once (25 min, or 2 where it can be downloaded); \`up\` does it too
  up HOST… [--two-nics] [--os ${SYSTEMS.join('|')}]
                             boot hosts; HOST+2 is one with two interfaces
  down [HOST…]               end hosts and all they were; without names everything, servers and bridges too
  status                     hosts, servers
  ssh HOST [COMMAND…]        a shell on a host, or a command
  inside HOST COMMAND…       the same without its sshd and network
  reboot HOST…               reboot from inside
  kill HOST…                 cut the power
  start HOST…                switch on after a power cut
  partition HOST… [--keep-ssh]   cut off from all other hosts (and from this machine)
  heal [HOST…]               take partitions back
  reset HOST…                back to a fresh system; same address, same host keys
  inventory HOST…            print an inventory of them
  ca                         print the certificate authority of the private registry
  prune                      remove artifacts of older recipes

A host's role is in its name: cp1, w1, etcd1, lb1. Caches: KBUILD_LAB_DIR, default /var/cache/kbuild-lab.
`;

type Names = readonly string[];
interface Parsed {
  readonly names: Names;
  readonly flags: ReadonlySet<string>;
  readonly options: ReadonlyMap<string, string>;
}

const commands: Readonly<Record<string, (given: Parsed, raw: Names) => Promise<number | undefined>>> = {
  check: quietly(() => requireLab()),
  build: quietly(async () => {
    await requireLab();
    await buildAll();
    if (WINDOWS_WANTED) await windowsPrograms(WINDOWS_PROGRAMS);
    if (ARM64_WANTED) await arm64Programs({ all: true });
  }),
  up: quietly(async ({ names, flags, options }) => {
    const os = osIn(options);
    const two = (name: string): boolean => flags.has('--two-nics') || name.endsWith('+2');
    const plain = (some: Names): Names => some.map((name) => name.replace(/\+2$/, ''));
    const existing = lab.hostNames();
    const fresh = plain(some(names)).filter((name) => !existing.includes(name));
    await requireLab({
      hosts: fresh.length,
      ...(os.os === undefined ? {} : { systems: [os.os] }),
      ...(os.os === VIRTUAL_MACHINE ? { packages: VIRTUAL_MACHINE_PACKAGES } : {}),
    });
    await lab.up(plain(some(names).filter((name) => !two(name))), os);
    await lab.up(plain(names.filter(two)), { ...os, nics: 2 });
  }),
  down: quietly(({ names }) => (names.length === 0 ? lab.downAll() : lab.down(names))),
  status: quietly(() => print(statusText())),
  ssh: (_, [name, ...command]) => passThrough('ssh', [...lab.sshArguments(one(name)), ...command]),
  async inside(_, [name, ...command]) {
    const { stdout, stderr, code } = await lab.inside(one(name), command.join(' '));
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    return code;
  },
  reboot: quietly(({ names }) => lab.reboot(some(names))),
  kill: quietly(({ names }) => lab.kill(some(names))),
  start: quietly(({ names }) => lab.start(some(names))),
  partition: quietly(({ names, flags }) => lab.partition(some(names), flags.has('--keep-ssh') ? 'hosts' : 'all')),
  heal: quietly(({ names }) => lab.heal(names.length === 0 ? undefined : names)),
  reset: quietly(({ names }) => lab.reset(some(names))),
  inventory: quietly(async ({ names }) =>
    print(stringify(await lab.inventory(some(names)), { lineWidth: 0, aliasDuplicateObjects: false })),
  ),
  ca: quietly(async () => print(await readFile(lab.tls.ca, 'utf8'))),
  prune: quietly(async () => {
    for (const name of await prune(lab.hostNames().map((host) => lab.hostSettings(host).base)))
      progress(`removed ${name}`);
  }),
};

const VALUED: ReadonlySet<string> = new Set(['--os']);

function quietly(action: (given: Parsed) => Promise<void>): (given: Parsed) => Promise<undefined> {
  return (given) => action(given).then(() => undefined);
}

function print(text: string): Promise<void> {
  process.stdout.write(text);
  return Promise.resolve();
}

/** Of words, those that name an option with a value, the other options, and the rest. */
function parse(words: Names): Parsed {
  const options = new Map(words.flatMap((word, n) => (VALUED.has(word) ? [[word, words[n + 1] ?? ''] as const] : [])));
  const plain = words.filter((word, n) => !VALUED.has(word) && !VALUED.has(words[n - 1] ?? ''));
  const flags = new Set(plain.filter((word) => word.startsWith('--')));
  return { names: plain.filter((word) => !flags.has(word)), flags, options };
}

function osIn(options: ReadonlyMap<string, string>): { readonly os?: System } {
  const given = options.get('--os');
  if (given === undefined) return {};
  const os = SYSTEMS.find((known) => known === given);
  if (os === undefined) throw new Unmet(`--os: ${SYSTEMS.join(' or ')}`);
  return { os };
}

function some(names: Names): Names {
  if (names.length === 0) throw new Unmet('name at least one host');
  return names;
}

function one(name: string | undefined): string {
  if (name === undefined) throw new Unmet('name a host');
  return name;
}

function passThrough(program: string, args: Names): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit' });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 255));
  });
}

async function main([command = 'help', ...raw]: Names): Promise<number | undefined> {
  const action = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (action === undefined) {
    process.stderr.write(USAGE);
    return ['help', '--help', '-h'].includes(command) ? 0 : 2;
  }
  // These list all that is missing, not only what is wrong with the machine.
  if (!['check', 'build', 'up'].includes(command)) await requireMachine();
  return action(parse(raw), raw);
}

await program('lab', () => main(process.argv.slice(2)));
