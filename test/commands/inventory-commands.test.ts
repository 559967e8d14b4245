import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runRotateCa } from '../../src/commands/certs-rotate-ca.ts';
import { runRenewCa, runRenewCerts } from '../../src/commands/certs.ts';
import { runInit } from '../../src/commands/init.ts';
import { runReboot } from '../../src/commands/reboot.ts';
import { runSchema } from '../../src/commands/schema.ts';
import { runValidate } from '../../src/commands/validate.ts';
import type { Context } from '../../src/session/context.ts';
import { withRun } from '../../src/session/with-run.ts';
import { problemsOf } from '../inventory/load.ts';
import { outputFaults } from '../tools/documents.ts';

let folder: string;
let out: string;
let err: string;
let answers: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-cli-'));
  out = '';
  err = '';
  answers = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A process in the folder; it is a terminal when there are answers. */
const context = (): Context => ({
  version: '0.1.0',
  out: (text) => (out += text),
  err: (text) => (err += text),
  terminal: undefined,
  env: { HOME: folder },
  cwd: folder,
  canAsk: answers.length > 0,
  askHidden: () => Promise.resolve(''),
  ask: (question) => {
    err += question;
    return Promise.resolve(answers.shift() ?? '');
  },
  onInterrupt: () => () => undefined,
  exit: () => undefined,
  nowMs: () => 0,
  sleep: () => Promise.resolve(),
});

const file = (name: string, text: string): void => writeFileSync(join(folder, name), text);

const GOOD = `name: prod
kubernetes: { version: "1.36.3", endpoint: k8s.example.com }
hosts: [{ name: cp1, address: 10.0.0.11, role: control-plane }]
`;

test('validate: a good inventory is 0, with a word about it', async () => {
  file('inventory.yaml', GOOD);
  expect(await runValidate(context(), {})).toBe(0);
  expect({ out, err }).toEqual({
    out: '',
    err: '✔ inventory.yaml is valid: cluster prod, Kubernetes 1.36.3, 1 host\nnext: kbuild check inventory.yaml\n',
  });
});

test('validate: problems on stdout with their places, 2', async () => {
  file('bad.yaml', GOOD.replace('"1.36.3"', '1.30').replace('role', 'rule'));
  expect(await runValidate(context(), { inventory: 'bad.yaml' })).toBe(2);
  expect(out.split('\n')).toEqual([
    'bad.yaml:2:24: kubernetes.version: must be an exact version of three numbers, in quotes: e.g. "1.36.3"',
    'bad.yaml:3:42: hosts[0].rule: unknown setting "rule"; did you mean "role"?',
    '',
  ]);
  expect(err).toBe('✖ bad.yaml: 2 problems\n');
});

test('validate --json: one document, nothing else', async () => {
  file('inventory.yaml', GOOD.replace('.com }', '.com:8443 }'));
  expect(await runValidate(context(), { json: true })).toBe(2);
  expect(outputFaults(['validate', '--json'], out)).toEqual([]);
  expect(JSON.parse(out)).toEqual({
    schemaVersion: 1,
    valid: false,
    problems: [
      {
        at: 'inventory.yaml:2:44',
        path: 'kubernetes.endpoint',
        message: expect.stringContaining('use 6443') as string,
      },
    ],
    warnings: [],
  });
  expect(err).toBe('');
});

test('validate: warnings do not make an inventory wrong', async () => {
  file('inventory.yaml', GOOD.replace(', endpoint: k8s.example.com', ''));
  expect(await runValidate(context(), {})).toBe(0);
  expect(out).toMatch(/^warning: inventory\.yaml:2:13: kubernetes\.endpoint: is the address of "cp1"/);
});

test('validate runs no command', async () => {
  const login = `runtime: { registries: [{ host: a, username: u, password: "command:touch ${folder}/ran" }] }`;
  file('inventory.yaml', `${GOOD}${login}\n`);
  expect(await runValidate(context(), {})).toBe(0);
  expect(() => readFileSync(join(folder, 'ran'))).toThrow(/ENOENT/);
});

test('validate: no file, a folder', async () => {
  expect(await runValidate(context(), {})).toBe(2);
  expect(out).toMatch(/^inventory\.yaml: there is no such file; "kbuild init/);
  expect(await runValidate(context(), { inventory: folder })).toBe(2);
  expect(out).toMatch(/is a folder/);
});

test('schema prints the JSON Schema', async () => {
  expect(await runSchema(context(), {})).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
});

test('schema NAME prints the schema of a document; another name is refused', async () => {
  expect(await runSchema(context(), {}, ['status'])).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ properties: { schemaVersion: {} } });
  expect(() => runSchema(context(), {}, ['statu'])).toThrow('"statu" is no document; did you mean "status"?');
});

test('init without a terminal writes an example that is valid', async () => {
  expect(await runInit(context(), {})).toBe(0);
  file('inventory.yaml', out);
  expect(out).toMatch(/ {2}- \{ name: cp1, address: 192\.0\.2\.11, role: control-plane \}/);
  expect(await runValidate(context(), {})).toBe(0);
});

test('init from flags asks nothing', async () => {
  const flags = {
    name: 'prod',
    kubernetes: '1.37.1',
    endpoint: 'k8s.example.com:6443',
    user: 'admin',
    identityFile: '~/.ssh/id_ed25519',
    controlPlane: ['203.0.113.11/10.0.0.11'],
    worker: ['node-a=203.0.113.21/10.0.0.21', '203.0.113.22'],
  };
  answers = ['never'];
  expect(await runInit(context(), { ...flags, inventory: 'new.yaml' })).toBe(0);
  const text = readFileSync(join(folder, 'new.yaml'), 'utf8');
  expect(text.split('\n').filter((line) => !/^ *#|^$/.test(line))).toEqual([
    'name: prod',
    'kubernetes:',
    '  version: "1.37.1" # exact, in quotes',
    '  endpoint: k8s.example.com:6443',
    'ssh:',
    '  user: admin # another user than root needs sudo; its password is asked for once',
    '  identityFile: ~/.ssh/id_ed25519',
    'hosts:',
    '  - { name: cp1, address: 203.0.113.11, internalAddress: 10.0.0.11, role: control-plane }',
    '  - { name: node-a, address: 203.0.113.21, internalAddress: 10.0.0.21, role: worker }',
    '  - { name: w2, address: 203.0.113.22, role: worker }',
  ]);
  expect(answers).toEqual(['never']);
});

test('init asks on a terminal, proposes answers, and makes a single host take pods', async () => {
  // Name, hosts, key, connect, version, virtual address, endpoint.
  answers = ['lab', 'root@10.0.0.11', '', 'no', '', '', ''];
  expect(await runInit(context(), {})).toBe(0);
  expect(err).toMatch(/^Name of the cluster \[demo\]: Hosts are written as ssh knows them/);
  expect(err).toContain('Kubernetes version (1.34 to 1.37) [1.37.1]: ');
  expect(err).toMatch(/next: kbuild check FILE\n$/);
  expect(out).toMatch(/\nname: lab\n/);
  expect(out).toMatch(/address: 10\.0\.0\.11, role: control-plane, taints: \[\] \}/);
  expect(out).toMatch(/ {2}version: "1\.37\.1"/);
});

test('init holds each answer against the rules when it is given, and asks again', async () => {
  answers = [
    ...['Prod_1', 'prod'],
    ...['10.0.0.11 10.0.0.11', '10.0.0.999', '=x', 'cp=10.0.0.11 10.0.0.21:2222 admin@10.0.0.22'],
    ...['2', '4', 'x', '3'],
    ...['no user', 'ubuntu'],
    ...['nokey', ''],
    ...['perhaps', 'no'],
    ...['v1.36', '1.22.0', '1.36.3'],
    ...['10.0.0.22', 'x', ''],
    ...['https://x', '10.0.0.11', 'k8s.example.com:6443'],
  ];
  expect(await runInit(context(), { inventory: 'new.yaml' })).toBe(0);
  expect(answers).toEqual([]);
  const refused = err.split('\n').flatMap((line) => /✖ (.{1,48})/.exec(line)?.[1] ?? []);
  expect(refused).toMatchInlineSnapshot(`
    [
      "must be a name of at most 63 lower-case letters,",
      "10.0.0.11 port 22 is "cp1" already; every host h",
      "must be an IP address or a lower-case DNS name; ",
      ""=x" is no host",
      "2 control planes survive no more losses than 1",
      ""4" is not between 1 and 3",
      ""x" is not between 1 and 3",
      "must be a user name",
      "nokey cannot be read: there is no such file or f",
      "please answer yes or no",
      "must be an exact version of three numbers withou",
      "Kubernetes 1.22 is not supported by this version",
      "is the address of "cp3"; a virtual address belon",
      "is required: a free address that the hosts can t",
      "must be host:port without "https://", e.g. "k8s.",
      "is the address of "cp"; name a load balancer or ",
    ]
  `);
  const text = readFileSync(join(folder, 'new.yaml'), 'utf8');
  expect(text.split('\n').filter((line) => !/^ *#|^$/.test(line))).toEqual([
    'name: prod',
    'kubernetes:',
    '  version: "1.36.3" # exact, in quotes',
    '  endpoint: k8s.example.com:6443',
    'ssh:',
    '  user: ubuntu # another user than root needs sudo; its password is asked for once',
    'hosts:',
    '  - { name: cp, address: 10.0.0.11, role: control-plane, taints: [] }',
    '  - { name: cp2, address: 10.0.0.21, role: control-plane, taints: [], ssh: { port: 2222 } }',
    '  - { name: cp3, address: 10.0.0.22, role: control-plane, taints: [], ssh: { user: admin } }',
  ]);
});

test('several control planes without an address of their own get a balancer on every node', async () => {
  expect(await runInit(context(), { controlPlane: ['10.0.0.11', '10.0.0.12', '10.0.0.13'], ssh: false })).toBe(0);
  expect(out).toContain('\n  kind: local\n');
  expect(await problemsOf(out)).toEqual([]);
});

describe('init --hosts, without SSH', () => {
  const lines = () => out.split('\n').filter((line) => line.startsWith('  - {'));

  test('the first host is the control plane; with an endpoint the first three are', async () => {
    const flags = { hosts: ['root@10.0.0.11', 'root@w.example.com:2200/10.0.0.21', 'root@10.0.0.22'], ssh: false };
    expect(await runInit(context(), flags)).toBe(0);
    expect(lines()).toEqual([
      '  - { name: cp1, address: 10.0.0.11, role: control-plane }',
      '  - { name: w, address: w.example.com, internalAddress: 10.0.0.21, role: worker, ssh: { port: 2200 } }',
      '  - { name: w2, address: 10.0.0.22, role: worker }',
    ]);
    expect(out).toContain('\n  user: root #');
    out = '';
    expect(await runInit(context(), { ...flags, virtualAddress: '10.0.0.100' })).toBe(0);
    expect(lines().filter((line) => line.includes('role: control-plane, taints: []'))).toHaveLength(3);
  });

  test('without a user, ~/.ssh/config decides', async () => {
    expect(await runInit(context(), { hosts: ['10.0.0.11'], ssh: false })).toBe(0);
    expect(out).not.toMatch(/^ssh:/m);
    expect(out).toMatch(/^# ssh:\n# {3}user: admin/m);
  });

  test('a host that is known by name alone needs an address, and nothing is written', async () => {
    await expect(runInit(context(), { hosts: ['cp1'], ssh: false, inventory: 'a.yaml' })).rejects.toThrow(
      /hosts\[0\]\.internalAddress: is required/,
    );
    await expect(runInit(context(), { hosts: ['a'], worker: ['b'] })).rejects.toThrow(/cannot be combined/);
    await expect(runInit(context(), { hosts: ['root@a:0'] })).rejects.toThrow(/no host/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('an empty file, as a shell leaves it behind, is written; a folder that is missing is said', async () => {
    file('inventory.yaml', '');
    expect(await runInit(context(), { hosts: ['10.0.0.11'], ssh: false, inventory: 'inventory.yaml' })).toBe(0);
    expect(readFileSync(join(folder, 'inventory.yaml'), 'utf8')).toContain('name: demo');
    await expect(runInit(context(), { hosts: ['10.0.0.11'], ssh: false, inventory: 'no/x.yaml' })).rejects.toThrow(
      /^no\/x\.yaml cannot be written: /,
    );
  });
});

test('init says that its file cannot be written before it asks', async () => {
  answers = ['prod'];
  await expect(runInit(context(), { inventory: 'no/x.yaml' })).rejects.toThrow(/^no\/x\.yaml cannot be written: /);
  expect(answers).toEqual(['prod']);
  expect(err).toBe('');
});

test('init puts no file in the place of a device', async () => {
  await expect(runInit(context(), { inventory: '/dev/null', name: 'prod' })).rejects.toThrow(/^\/dev\/null is no file/);
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

test('init: a name that YAML would take for a number is quoted', async () => {
  await runInit(context(), { controlPlane: ['1e3=10.0.0.11'], name: '0x10' });
  expect(out).toMatch(/\nname: "0x10"\n/);
  expect(out).toMatch(/- \{ name: "1e3", address/);
});

test('init refuses answers that make no inventory, and never overwrites a file', async () => {
  await expect(runInit(context(), { controlPlane: ['a b'] })).rejects.toThrow(/hosts\[0\]\.address: must be an IP/);
  // Without the lines of a text that nobody has seen.
  await expect(runInit(context(), { hosts: ['root@127.0.0.1:1'] })).rejects.toThrow(
    /^these answers make no inventory:\nhosts\[0\]\.address: other hosts cannot reach 127\.0\.0\.1;/,
  );
  await expect(runInit(context(), { controlPlane: ['=/'] })).rejects.toThrow(/no host/);
  await expect(runInit(context(), { worker: ['10.0.0.1'] })).rejects.toThrow(/no control plane/);
  file('inventory.yaml', 'mine');
  await expect(runInit(context(), { inventory: 'inventory.yaml' })).rejects.toThrow(/is there already/);
  expect(readFileSync(join(folder, 'inventory.yaml'), 'utf8')).toBe('mine');
});

test('a command gets names of hosts where --hosts names a group', async () => {
  // Port 1 refuses: the run goes on without these hosts.
  const host = 'address: 127.0.0.1, ssh: { port: 1, configFile: none }';
  file(
    'inventory.yaml',
    `name: prod
kubernetes: { version: "1.36.3" }
groups: { gpu: {} }
hosts:
  - { name: cp1, ${host}, internalAddress: 10.0.0.11, role: control-plane }
  - { name: w1, ${host.replace('0.0.1', '0.0.2')}, internalAddress: 10.0.0.21, role: worker, groups: [gpu] }
`,
  );
  let hosts: readonly string[] | undefined;
  await withRun(context(), { hosts: ['gpu'], quiet: true }, { command: 'facts', json: 'document' }, ({ flags }) => {
    hosts = flags.hosts;
    return Promise.resolve(0);
  });
  expect(hosts).toEqual(['w1']);
});

describe('what init writes for editors', () => {
  const flags = { controlPlane: ['192.0.2.11'], inventory: 'prod.yaml' };
  const schema = (): string => readFileSync(join(folder, 'inventory.schema.json'), 'utf8');

  test('the first line of the inventory leads to a schema beside it, which accepts the inventory', async () => {
    expect(await runInit(context(), flags)).toBe(0);
    const text = readFileSync(join(folder, 'prod.yaml'), 'utf8');
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=inventory.schema.json');
    const validate = new Ajv().compile(JSON.parse(schema()) as object);
    expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(true);
    expect(err).toBe('wrote prod.yaml, and inventory.schema.json for editors; next: kbuild check prod.yaml\n');
  });

  test('a schema that is there stays', async () => {
    file('inventory.schema.json', 'mine');
    expect(await runInit(context(), flags)).toBe(0);
    expect(schema()).toBe('mine');
    expect(err).toBe('wrote prod.yaml; next: kbuild check prod.yaml\n');
  });

  test('to standard output, no file is written', async () => {
    expect(await runInit(context(), { controlPlane: ['192.0.2.11'] })).toBe(0);
    expect(out).toMatch(/^# yaml-language-server: /);
    expect(schema).toThrow(/ENOENT/);
  });
});

describe('a word that names nothing is refused before a host is contacted (D14)', () => {
  test.each([
    ['certs renew foo', (context: Context) => runRenewCerts(context, {}, ['foo']), '"foo" is no certificate'],
    ['certs renew --all', (context: Context) => runRenewCerts(context, { all: true }, ['apiserver']), 'not both'],
    ['certs renew-ca foo', (context: Context) => runRenewCa(context, {}, ['foo']), '"foo" is no authority'],
    ['certs rotate-ca foo', (context: Context) => runRotateCa(context, {}, ['foo']), '"foo" is not one authority'],
    ['reboot foo', (context: Context) => runReboot(context, {}, ['foo']), '"foo" is no host of the inventory'],
  ])('kbuild %s', async (_, run, message) => {
    file('inventory.yaml', GOOD);
    await expect(run(context())).rejects.toThrow(message);
    expect(err).not.toContain('connecting');
  });
});
