// @module-tag openssl
import { describe, expect, test } from 'vitest';
import { parseAuthorities } from '../../src/certificates/certificates.facts.ts';
import { duringRotation, rotationReasons } from '../../src/certificates/rotation.refusal.ts';
import { type Rotating, withSigning } from '../../src/certificates/rotation.step.ts';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import { parseCaReaders } from '../../src/cluster/fleet/objects.ts';
import { refusedFor } from '../../src/cluster/reasons.ts';
import { refusals } from '../../src/cluster/up.refusal.ts';
import { joinControlPlane } from '../../src/kubeadm/join.step.ts';
import { cp3, factsOf, inventoryOf, targetOf } from '../fakes/cluster.ts';
import { recordingOn, type Sent } from '../fakes/on.ts';
import { carryOut, fleetOf, fresh, inventory, NEW, nextDue, OLD, type World } from './rotation-world.ts';

const rotating = (over: Partial<Rotating> = {}): Rotating => ({
  ...{
    name: 'ca',
    direction: 'forward',
    subject: 'kubernetes-x',
    when: 'now',
    workloads: 'restart',
    secretTokens: 'refuse',
  },
  keep: () => Promise.resolve(),
  ...over,
});

/** The world before this step of this host is due. */
function before(step: string, host: string, how = rotating()): World {
  const world = fresh();
  for (let made = 0; made < 40; made++) {
    const due = nextDue(world, how)!;
    if (due.step === step && due.host === host) return world;
    carryOut(world, due.host, due.step, how, 'whole');
  }
  throw new Error(`${step} of ${host} is never due`);
}

/** What the change that is due next sends. */
async function sentBy(world: World, answers: Parameters<typeof recordingOn>[0] = {}, how = rotating()) {
  const { on, sent } = recordingOn(answers);
  const due = nextDue(world, how)!;
  for (const change of due.diff(due.target)) await change.apply?.(on);
  return sent;
}
const jobs = (sent: readonly Sent[]) => sent.flatMap((one) => (one.kind === 'job' ? [one] : []));

describe('a rotation', () => {
  test('makes the new authority on one control plane, with a key of the same kind', async () => {
    const [made, kept] = jobs(await sentBy(fresh()));
    expect(made!.script).toContain("GENERATE='-algorithm EC -pkeyopt ec_paramgen_curve:P-256'");
    expect(made!.script).toContain('SUBJECT=kubernetes-x');
    expect([made!.name, kept!.name, kept!.files]).toEqual(['new-authority', 'keep-authority', {}]);
  });

  test('carries the key to the other control planes as a secret of a job', async () => {
    const answers = { read: () => NEW.pem, run: () => 'THE KEY' };
    const sent = await sentBy(before('authority-prepared', 'cp2'), answers);
    expect(sent.filter(({ kind }) => kind === 'reveal').map(({ host }) => host)).toEqual(['cp1']);
    const [job] = jobs(sent);
    expect(job).toMatchObject({ host: 'cp2', files: { 'new.crt': NEW.pem, 'new.key': 'THE KEY' } });
    expect(sent.some((one) => 'script' in one && one.script.includes('THE KEY'))).toBe(false);
  });

  test('has the controller manager sign apart before the file holds two certificates', async () => {
    const [job] = jobs(await sentBy(before('signing-apart', 'cp1')));
    expect(job!.files['config.yaml']).toContain('name: "cluster-signing-cert-file"');
    const given = withSigning(inventory).kubeadm.cluster['controllerManager'];
    expect(given).toEqual({
      extraArgs: [
        { name: 'cluster-signing-cert-file', value: '/etc/kubernetes/pki/ca-signing.crt' },
        { name: 'cluster-signing-key-file', value: '/etc/kubernetes/pki/ca-signing.key' },
      ],
    });
  });

  test('has hosts trust both, the old one first, and the ports name both', async () => {
    const [job] = jobs(await sentBy(before('both-trusted', 'cp1')));
    expect(job!.files['bundle.crt']).toBe(`${OLD.pem}${NEW.pem}`);
    expect(job!.script).toContain(`OFFERED='${OLD.subject}\n${NEW.subject}'`);
    expect(job!.script).toContain("SIGNER=''");
  });

  test('signs with the new one, the new one first, and has kubeadm sign the certificates of the control plane anew', async () => {
    const [placed, renewed] = jobs(await sentBy(before('survivor-signs', 'cp1')));
    expect(placed!.files['bundle.crt']).toBe(`${NEW.pem}${OLD.pem}`);
    expect(placed!.script).toContain('SIGNER=new');
    expect(renewed!.script).toContain("RENEW='apiserver\nadmin.conf\ncontroller-manager.conf\nscheduler.conf'");
  });

  test('has the kubelet ask for its certificate with the one that it has', async () => {
    const [job] = jobs(await sentBy(before('kubelet-signed', 'w1')));
    expect(job).toMatchObject({ host: 'w1', name: 'kubelet-certificate', files: {} });
    expect(job!.script).toContain('NODE=w1');
  });

  test('has ports name the new one alone in the end, and deletes the keys that it kept', async () => {
    const [job] = jobs(await sentBy(before('only-one-trusted', 'cp1')));
    expect(job!.files['bundle.crt']).toBe(NEW.pem);
    expect(job!.script).toContain(`WITHDRAWN=${OLD.subject}`);
    const sent = await sentBy(before('rotation-cleaned', 'cp1'));
    const [removed] = sent.flatMap((one) => (one.kind === 'run' ? [one.script] : []));
    expect(removed).toMatch(/^rm -f -- .*ca-old\.key .*ca-new\.key \/etc\/kubernetes\/pki\/ca-new\.crt;/);
  });

  test('restarts workloads unless it is told to leave them', () => {
    const world = before('workloads-restarted', 'cp1');
    const due = nextDue(world, rotating())!;
    expect(due.diff(due.target)[0]!.summary).toContain('a/deployment/x');
    expect(nextDue(world, rotating({ workloads: 'leave' }))!.step).toBe('survivor-signs');
  });
});

describe('a step that comes too early is refused', () => {
  const apply = async (world: World): Promise<void> => {
    const due = nextDue(world, rotating())!;
    await due.diff(due.target)[0]!.apply!(recordingOn().on);
  };

  test('while a host does not trust the authority that is to sign', async () => {
    const world = before('survivor-signs', 'cp1');
    const due = nextDue(world, rotating())!;
    world.hosts.get('w1')!.bundle = ['old'];
    const target = { ...due.target, fleet: fleetOf(world) };
    await expect(due.diff(target)[0]!.apply!(recordingOn().on)).rejects.toThrow(
      'w1: refused: kubernetes-20261124t220000z cannot sign yet',
    );
  });

  test('while the old one has signed a certificate that is in use', async () => {
    const world = before('only-one-trusted', 'cp1');
    const due = nextDue(world, rotating())!;
    world.hosts.get('w1')!.kubelet = 'old';
    const target = { ...due.target, fleet: fleetOf(world) };
    await expect(due.diff(target)[0]!.apply!(recordingOn().on)).rejects.toThrow('it has signed w1: kubelet-client');
  });

  test('while the controller manager of another control plane signs with the old one', async () => {
    const world = before('kubelet-signed', 'cp1');
    world.hosts.get('cp2')!.kept.signing = 'old';
    // That control plane comes first.
    expect(nextDue(world, rotating())).toMatchObject({ step: 'survivor-signs', host: 'cp2' });
    await expect(apply(world)).resolves.toBeUndefined();
  });
});

describe('a control plane that joins while the CA is rotated', () => {
  const TOKEN = 'abcdef.0123456789abcdef';
  const PATCH = 'patch_kube-controller-managerzz-kbuild-signing+json.json';
  // The lab has joins with etcd's gates: without them, no command is asked what etcd says.
  const larger = inventoryOf({
    hosts: [...inventory.hosts, cp3],
    etcd: { topology: 'built', endpoints: ['https://10.0.0.31:2379'] },
  });
  const withCp3 = (world: World): Fleet => {
    const fleet = fleetOf(world);
    return { ...fleet, hosts: [...fleet.hosts, { os: 'linux', host: cp3, facts: factsOf() }] };
  };

  /** The job of the join of cp3, and what was asked of cp1. `gives`: whether cp1 gives the files that it is asked for. */
  async function joining(world: World, gives = true) {
    const { on, sent } = recordingOn({
      run: ({ script }) =>
        script.includes('token create')
          ? TOKEN
          : gives
            ? (/NAMES='([^']*)'/.exec(script)?.[1] ?? '')
                .split(/\s+/)
                .map((name) => `${name} ${Buffer.from(`THE FILE ${name}`).toString('base64')}`)
                .join('\n')
            : '',
    });
    const target = targetOf(larger, cp3, withCp3(world));
    const [change] = joinControlPlane(() => Promise.resolve()).diff(target);
    await change!.apply!(on);
    const join = jobs(sent).find(({ host }) => host === 'cp3')!;
    const { 'config.yaml': config = '', ...files } = join.files;
    return { config, files };
  }

  test('keeps what the others keep, and its controller manager signs apart from the beginning', async () => {
    const { config, files } = await joining(before('survivor-signs', 'cp2'));
    const kept = ['old', 'new', 'signing'].flatMap((what) => [`pki_ca-${what}.key`, `pki_ca-${what}.crt`]);
    expect(Object.keys(files)).toEqual([...kept, PATCH]);
    expect(files['pki_ca-signing.key']).toBe('THE FILE ca-signing.key');
    expect(JSON.parse(files[PATCH]!)).toEqual([
      {
        op: 'add',
        path: '/spec/containers/0/command/-',
        value: '--cluster-signing-cert-file=/etc/kubernetes/pki/ca-signing.crt',
      },
      {
        op: 'add',
        path: '/spec/containers/0/command/-',
        value: '--cluster-signing-key-file=/etc/kubernetes/pki/ca-signing.key',
      },
    ]);
    expect(config).toContain('directory: "patches"');
  });

  test('needs no patch where the controller managers sign with the file of the CA', async () => {
    const { config, files } = await joining(before('signing-apart', 'cp1'));
    expect(Object.keys(files)).toHaveLength(6);
    expect(config).not.toContain('directory:');
  });

  test('gets nothing where no rotation is under way', async () => {
    const { config, files } = await joining(fresh());
    expect(files).toEqual({});
    expect(config).not.toContain('directory:');
  });

  test('does not join without what the others keep', async () => {
    await expect(joining(before('survivor-signs', 'cp2'), false)).rejects.toThrow(
      'cp1 did not give /etc/kubernetes/pki/ca-old.key',
    );
  });

  test('is not refused, unless another tool has begun the rotation', () => {
    const world = before('survivor-signs', 'cp2');
    const why = () => refusals({ ...larger, etcd: inventory.etcd }, withCp3(world)).map(({ message }) => message);
    expect(why()).toEqual([]);
    for (const host of world.hosts.values()) host.kept = {};
    expect(why).toThrow('cp1: refused: it trusts 2 certificates as ca, and no rotation of kbuild is under way');
  });

  test('signs apart by the last of two arguments', () => {
    const read = (...signing: readonly string[]) =>
      parseAuthorities(signing.map((file) => `signing ${file}\n`).join('')).signing;
    expect(read('/etc/kubernetes/pki/ca.crt', '/etc/kubernetes/pki/ca-signing.crt')).toBe(
      '/etc/kubernetes/pki/ca-signing.crt',
    );
  });
});

describe('while an authority is rotated', () => {
  const world = before('survivor-signs', 'cp2');

  test('what would meet it halfway is refused', () => {
    expect(duringRotation(inventory, fleetOf(world), 'kubeadm cannot upgrade').map(({ message }) => message)).toEqual([
      'demo: refused: kubeadm cannot upgrade while the authority ca is rotated (the new one signs)',
    ]);
    expect(duringRotation(inventory, fleetOf(fresh()), 'it')).toEqual([]);
  });

  test('no other is', () => {
    expect(refusedFor(rotationReasons, { inventory, fleet: fleetOf(world), name: 'etcd-ca' })[0]!.message).toContain(
      'a rotation of ca is under way',
    );
    expect(refusedFor(rotationReasons, { inventory, fleet: fleetOf(world), name: 'ca' })).toEqual([]);
  });
});

test('the pods that may know the old CA alone are those that read it and are older than what their namespace gives', () => {
  const out = [
    'given\ta\t2026-11-24T22:00:00Z 2026-11-24T22:10:00Z',
    'given\tb\t2026-11-24T22:00:00Z',
    'pod\ta\tx-5f-1\t2026-11-24T22:05:00Z\tReplicaSet\tx-5f\t5f\tkube-root-ca.crt',
    'pod\ta\tnew\t2026-11-24T22:11:00Z\tDaemonSet\td\t\tkube-root-ca.crt',
    'pod\ta\tbare\t2026-11-24T22:01:00Z\t\t\t\tother kube-root-ca.crt',
    'pod\ta\tblind\t2026-11-24T22:01:00Z\tDaemonSet\td\t\t',
    'pod\tb\tlater\t2026-11-24T22:05:00Z\tStatefulSet\ts\t\tkube-root-ca.crt',
    'pod\ta\tpending\t\tStatefulSet\ts\t\tkube-root-ca.crt',
  ].join('\n');
  expect(parseCaReaders(out)).toEqual([
    { namespace: 'a', name: 'x-5f-1', workload: 'deployment/x' },
    { namespace: 'a', name: 'bare', workload: 'none' },
  ]);
  expect(parseCaReaders('')).toEqual([]);
});

test('the authorities of a host are read from what lies beside each other', () => {
  const found = parseAuthorities(
    `file ca 1795560575.437\n${OLD.pem}${NEW.pem}file ca-new 1795560575.9\n${NEW.pem}key ca aa\nkey ca-new bb\nconf admin.conf\n${Buffer.from(OLD.pem).toString('base64')}\nconf kubelet.conf\nsigning /etc/kubernetes/pki/ca-signing.crt\n`,
  );
  expect(found.files.ca.bundle.map(({ subject }) => subject)).toEqual([OLD.subject, NEW.subject]);
  expect(found.files.ca).toMatchObject({
    changedMs: 1795560575437,
    beside: { fresh: { subject: NEW.subject } },
    keys: { current: 'aa', fresh: 'bb' },
  });
  expect(found.kubeconfigs.get('admin.conf')!.map(({ pem }) => pem)).toEqual([OLD.pem]);
  expect(found.kubeconfigs.get('kubelet.conf')).toEqual([]);
  expect(found.signing).toBe('/etc/kubernetes/pki/ca-signing.crt');
  expect(parseAuthorities('').files['etcd-ca']).toEqual({
    bundle: [],
    changedMs: 0,
    signingMs: 0,
    beside: {},
    keys: {},
  });
});
