/** The first hour with a release file: each kind on a host of its system, and a machine with Debian's base alone that builds a cluster on two bare hosts. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { bootFresh } from '../fresh.ts';
import { castText, commandsOf, exitCode, PROMPT, readCast, wordsOf } from '../../tools/terminal-recording.ts';
import { SESSION } from '../../tools/terminal-shots.ts';
import * as lab from '../lab.ts';
import { type OnTerminal, onTerminal, quoted } from '../pseudo-terminal.ts';
import { copied, fileOf, makeAside, RELEASE_FILES } from '../release-files.ts';
import { run } from '../run.ts';
import { waitUntil } from '../wait-until.ts';

const OPERATOR = 'relop';
const HOSTS = ['relcp1', 'relw1'];
const HALF_AN_HOUR = 30 * 60_000;
const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kbuild-release-lab-'));
/** What is no part of a release, which empties its own folder first. */
const aside = mkdtempSync(join(tmpdir(), 'kbuild-release-aside-'));
const SIZE = { columns: 100, rows: 30 };
/** What a person with the documentation sees: a shell of the operator's machine on a terminal. */
let session: OnTerminal;

/** Makes the parts of a release that run here; returns the checksums. */
function release(): string {
  const kinds = 'npm,linux-x64,packages,formula';
  execFileSync('npm', ['run', '--silent', 'release', '--', '--dry-run', '--only', kinds, '--out', folder], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
}

/** Types a command, and the answers to what it asks, each when it asks; returns what it has written. */
async function typed(command: string, answers: readonly (readonly [question: string, answer: string])[] = []) {
  let from = session.shown().length;
  const rest = (): string => session.shown().slice(from);
  session.type(`${command}\n`);
  for (const [question, answer] of answers) {
    await waitUntil(`${question} after ${command}:\n${rest()}`, HALF_AN_HOUR, () => rest().includes(question));
    from += rest().indexOf(question) + question.length;
    session.type(`${answer}\n`);
  }
  await waitUntil(`the end of ${command}`, HALF_AN_HOUR, () => exitCode(rest()) !== undefined);
  expect(exitCode(rest()), `${command}\n${rest()}`).toBe(0);
  return rest();
}

beforeAll(async () => {
  release();
  await makeAside(aside);
  await bootFresh([OPERATOR, ...HOSTS]);
  await lab.down(RELEASE_FILES.map(({ host }) => host));
  for (const { host, os } of RELEASE_FILES) await lab.up([host], { os });
}, HALF_AN_HOUR);
afterAll(async () => {
  await lab.down([OPERATOR, ...HOSTS, ...RELEASE_FILES.map(({ host }) => host)]);
  for (const one of [folder, aside]) rmSync(one, { recursive: true });
});

test('the same commit makes the same bytes', { timeout: HALF_AN_HOUR }, () => {
  const first = readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
  expect(release()).toBe(first);
});

describe.each(RELEASE_FILES)('$title', ({ host, file, beside, install }) => {
  const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string })
    .version;

  test('is installed without a network', { timeout: HALF_AN_HOUR }, async () => {
    await lab.ssh(host, 'install -d -m 1777 /tmp/release');
    for (const one of [fileOf(folder, file), ...beside.map((form) => fileOf(aside, form))])
      await copied(host, one, '/tmp/release/');
    const installed = await lab.ssh(host, `cd /tmp/release && unshare --net sh -c ${quoted(install)}`);
    expect(installed.code, installed.stdout + installed.stderr).toBe(0);
    expect(await lab.ssh(host, 'kbuild --version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('validates an inventory, and plans a cluster on other hosts', { timeout: HALF_AN_HOUR }, async () => {
    const ssh = { user: 'root', identityFile: '/root/id_ed25519' };
    const inventory = stringify({ ...(await lab.inventory(HOSTS)), ssh }, { aliasDuplicateObjects: false });
    await copied(host, lab.paths.identityFile, '/tmp/release/id_ed25519');
    await lab.ssh(host, 'install -m 600 /tmp/release/id_ed25519 /root/ && rm /tmp/release/id_ed25519');
    await lab.ssh(host, 'cat > /root/inventory.yaml', inventory);
    const validated = await lab.ssh(host, 'cd /root && kbuild validate');
    expect(validated.code, validated.stdout + validated.stderr).toBe(0);
    const planned = await lab.ssh(host, 'cd /root && kbuild plan --accept-new-host-keys');
    expect(planned.code, planned.stdout + planned.stderr).toBe(0);
    expect(planned.stdout).toMatch(/^\d+ changes on 2 hosts/m);
  });
});

test('install, init --hosts, check, up, kubectl get nodes', { timeout: HALF_AN_HOUR }, async () => {
  for (const [at, form] of [
    [folder, /_amd64\.deb$/],
    [aside, /^libatomic1_.*\.deb$/],
  ] as const)
    await copied(OPERATOR, fileOf(at, form), '/root/');
  await lab.ssh(OPERATOR, 'mkdir -p -m 700 ~/.ssh');
  await copied(OPERATOR, lab.paths.identityFile, '/root/.ssh/id_ed25519');
  await lab.ssh(OPERATOR, 'chmod 600 ~/.ssh/id_ed25519');
  const shell = `env TERM=xterm LANG=C.UTF-8 PS1='${PROMPT}' bash --noprofile --norc -i`;
  session = onTerminal(['ssh', '-tt', ...lab.sshArguments(OPERATOR), shell], { HOME: aside }, SIZE);
  await waitUntil('a prompt', 60_000, () => exitCode(session.shown()) === 0);
  await typed('apt install ./libatomic1_*.deb ./kbuild-cluster_*.deb');
  await typed('kbuild --version');
  const hosts = HOSTS.map((host) => `${host}=root@${lab.hostSettings(host).address}`).join(',');
  const yes = ['(yes/no/[fingerprint])? ', 'yes'] as const;
  const init = 'kbuild init inventory.yaml --name prod --kubernetes 1.36.3 --identity-file "~/.ssh/id_ed25519"';
  await typed(`${init} --hosts ${hosts}`, [yes, yes]);
  // The lab's hosts get packages and images from the lab, and not from the Internet.
  const { stdout } = await lab.ssh(OPERATOR, 'cat inventory.yaml');
  const written = parse(stdout) as Readonly<Record<string, object>>;
  const ofLab = await lab.inventory(HOSTS);
  const kubernetes = { ...(ofLab['kubernetes'] as object), ...written['kubernetes'] };
  // Elsewhere than other clusters of the lab: the BPF programs of one with Cilium may see connections of all hosts.
  const network = { ...written['network'], serviceSubnet: '10.200.0.0/16' };
  const merged = { ...ofLab, ...written, kubernetes, network };
  await lab.ssh(OPERATOR, 'cat > inventory.yaml', stringify(merged, { aliasDuplicateObjects: false }));
  for (const command of ['validate', 'check', 'plan']) await typed(`kbuild ${command}`);
  await typed('kbuild up', [['Carry out this plan? [y/N] ', 'y']]);
  // Debian's base has no kubectl; the one of the cluster's version takes the place of a download.
  const [program, source] = [join(aside, 'kubectl'), lab.sshArguments(HOSTS[0]!)];
  await run('scp', ['-q', ...source.slice(0, -1), `${source.at(-1)!}:/usr/bin/kubectl`, program]);
  await copied(OPERATOR, program, '/usr/local/bin/kubectl');
  const nodes = await typed('KUBECONFIG=prod.kubeconfig kubectl get nodes');
  for (const host of HOSTS) expect(nodes).toMatch(new RegExp(`^${host} +Ready `, 'm'));
  expect(await typed('kbuild status')).toContain('prod');
  session.type('exit\n');
  await session.ended;
  expect((await lab.ssh(OPERATOR, 'stat -c %a prod.kubeconfig')).stdout).toBe('600\n');
});

test('the session that stands in the documentation is this one (else: KBUILD_RECORDS_TO=docs/terminal)', async () => {
  const recording = { ...SIZE, pieces: session.pieces };
  const into = process.env['KBUILD_RECORDS_TO'];
  if (into !== undefined) {
    mkdirSync(into, { recursive: true });
    writeFileSync(join(into, 'getting-started.cast'), castText(recording, 'From two bare machines to a cluster'));
    return;
  }
  const [now, before] = await Promise.all([commandsOf(recording), commandsOf(readCast(readFileSync(SESSION, 'utf8')))]);
  const isSteady = ({ command }: { readonly command: string }): boolean =>
    /^kbuild (?:init|validate|check|plan|--version)|kubectl/.test(command);
  const words = (all: typeof now) =>
    all.filter(isSteady).map((one) => [one.command.split(' --hosts')[0], wordsOf(one)]);
  expect(words(now)).toEqual(words(before));
});
