/** The first hour with a release file: a machine with Debian's base alone gets the package, and builds a cluster on two bare hosts. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { bootFresh } from '../fresh.ts';
import * as lab from '../lab.ts';
import { attempt, run } from '../run.ts';

const OPERATOR = 'relop';
const HOSTS = ['relcp1', 'relw1'];
const HALF_AN_HOUR = 30 * 60_000;
const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kbuild-release-lab-'));
const [deb, rpm, npm, executable] = [/_amd64\.deb$/, /\.x86_64\.rpm$/, /-npm\.tgz$/, /^kbuild-linux-x64$/].map(
  (form) => (): string =>
    join(
      folder,
      readdirSync(folder).find((name) => form.test(name))!,
    ),
) as [() => string, () => string, () => string, () => string];
/** What the operator saw: `$ command`, then its output. */
const session: string[] = [];

/** Makes the parts of a release that run here; returns the checksums. */
function release(): string {
  const kinds = 'npm,linux-x64,packages,formula';
  execFileSync('npm', ['run', '--silent', 'release', '--', '--dry-run', '--only', kinds, '--out', folder], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
}

async function typed(command: string, shown = command): Promise<string> {
  const { stdout, stderr, code } = await lab.ssh(OPERATOR, `${command} 2>&1`);
  session.push(`$ ${shown}\n${stdout}`);
  expect(code, `${command}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

async function copied(from: string, to: string): Promise<void> {
  const all = lab.sshArguments(OPERATOR);
  await run('scp', ['-q', ...all.slice(0, -1), from, `${all.at(-1)!}:${to}`]);
}

beforeAll(async () => {
  release();
  await bootFresh([OPERATOR, ...HOSTS]);
}, HALF_AN_HOUR);
afterAll(async () => {
  // Seen with KBUILD_SESSION=FILE: this is what docs/getting-started.md shows.
  const file = process.env['KBUILD_SESSION'];
  if (file !== undefined) writeFileSync(file, session.join('\n'));
  await lab.down([OPERATOR, ...HOSTS]);
  rmSync(folder, { recursive: true });
});

test('the same commit makes the same bytes', { timeout: HALF_AN_HOUR }, () => {
  const first = readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
  expect(release()).toBe(first);
});

test('the npm package, the rpm and the executable run without anything else of kbuild', async () => {
  const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string })
    .version;
  const example = join(root, 'inventories/single.yaml');
  const at = join(folder, 'at');
  const env = { PATH: process.env['PATH'] ?? '', HOME: at };
  await run('npm', ['install', '--global', '--offline', '--no-audit', '--prefix', join(at, 'npm'), npm()]);
  expect(readdirSync(join(at, 'npm/lib/node_modules'))).toEqual(['kbuild']);
  await run('sh', ['-c', `mkdir -p ${at}/rpm && cd ${at}/rpm && rpm2archive - < ${rpm()} | tar -xz`]);
  for (const program of [join(at, 'npm/bin/kbuild'), join(at, 'rpm/usr/bin/kbuild'), executable()]) {
    const ran = await attempt('env', ['-i', ...Object.entries(env).map(([k, v]) => `${k}=${v}`), program, '--version']);
    expect(ran, program).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect(await attempt(program, ['validate', example]), program).toMatchObject({ code: 0 });
  }
});

test('install, init --hosts, check, up, kubectl get nodes', { timeout: HALF_AN_HOUR }, async () => {
  await copied(deb(), '/root/');
  const name = deb().split('/').at(-1)!;
  // apt would fetch the one library that Debian's base does not have; these hosts have no Debian to fetch it from.
  const library = '/usr/lib/x86_64-linux-gnu/libatomic.so.1';
  await copied(library, library);
  await typed(`dpkg --install --force-depends /root/${name}`, `sudo apt install ./${name}`);
  await lab.ssh(OPERATOR, 'mkdir -p -m 700 ~/.ssh');
  await copied(lab.paths.identityFile, '/root/.ssh/id_ed25519');
  await lab.ssh(OPERATOR, 'chmod 600 ~/.ssh/id_ed25519');
  await typed('kbuild --version');
  const hosts = HOSTS.map((host) => `${host}=root@${lab.hostSettings(host).address}`).join(',');
  const flags = '--kubernetes 1.36.3 --identity-file "~/.ssh/id_ed25519" --accept-new-host-keys';
  await typed(`kbuild init inventory.yaml --name prod --hosts ${hosts} ${flags}`);
  // The lab's hosts get packages and images from the lab, and not from the Internet.
  const { stdout } = await lab.ssh(OPERATOR, 'cat inventory.yaml');
  const written = parse(stdout) as Readonly<Record<string, object>>;
  const ofLab = await lab.inventory(HOSTS);
  const merged = { ...ofLab, ...written, kubernetes: { ...(ofLab['kubernetes'] as object), ...written['kubernetes'] } };
  await lab.ssh(OPERATOR, 'cat > inventory.yaml', stringify(merged, { aliasDuplicateObjects: false }));
  await typed('kbuild validate');
  await typed('kbuild check');
  await typed('kbuild plan');
  await typed('kbuild up --yes');
  const nodes = await lab.ssh(HOSTS[0]!, 'KUBECONFIG=/etc/kubernetes/admin.conf kubectl get nodes');
  session.push(`$ KUBECONFIG=prod.kubeconfig kubectl get nodes\n${nodes.stdout}`);
  for (const host of HOSTS) expect(nodes.stdout).toMatch(new RegExp(`^${host} +Ready `, 'm'));
  expect(await typed('kbuild status')).toContain('prod');
  expect((await lab.ssh(OPERATOR, 'stat -c %a prod.kubeconfig')).stdout).toBe('600\n');
});
