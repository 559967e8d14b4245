// @module-tag openssl
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { authorityChangeRefusals } from '../../src/certificates/authority-change.refusal.ts';
import type { AuthorityCertificate } from '../../src/certificates/certificates.facts.ts';
import { authorityPublished, CLUSTER_INFO } from '../../src/certificates/cluster-info.step.ts';
import { authorityRenewed, renewalsOf, renewedCas } from '../../src/certificates/renew-ca.step.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { objectKey } from '../../src/cluster/fleet/view.ts';
import { renewAuthorityPhases } from '../../src/commands/certs.phases.ts';
import { authoritiesWith, madeAuthority } from '../fakes/authorities.ts';
import {
  clusterOf,
  cp1,
  cp2,
  fleetIn,
  inventoryOf,
  joinedHost,
  nodesOf,
  podOf,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const OLD = madeAuthority('kubernetes', { days: 20 });
const NEXT = madeAuthority('kubernetes', { key: OLD.key });
// Older than the renewed one, whenever this runs.
const STRANGER = { ...madeAuthority('kubernetes'), beginsMs: 0 };
const NOW = OLD.beginsMs + 1000;
const inventory = inventoryOf({ hosts: [cp1, cp2, w1] });
const keep = () => Promise.resolve();

const has = (...bundle: readonly AuthorityCertificate[]): Partial<LinuxFacts> => ({
  nowMs: NOW,
  caFingerprint: OLD.fingerprint,
  authorities: authoritiesWith(
    { ca: { bundle, changedMs: NOW, keys: { current: 'hash' } } },
    { kubeconfigs: new Map([['kubelet.conf', bundle]]) },
  ),
});
const info = (ca: AuthorityCertificate) => ({
  ...CLUSTER_INFO,
  data: {
    kubeconfig: `clusters: [{ name: '', cluster: { server: 'https://x', certificate-authority-data: ${Buffer.from(ca.pem).toString('base64')} } }]`,
  },
});
const live = (told: AuthorityCertificate, given: AuthorityCertificate, startedMs = NOW + 5000) =>
  clusterOf({
    caFingerprint: OLD.fingerprint,
    nodes: nodesOf(cp1, cp2, w1),
    objects: new Map([
      [objectKey(CLUSTER_INFO), { ...info(told), metadata: { ...CLUSTER_INFO.metadata, resourceVersion: '7' } }],
    ]),
    rootCas: given.pem,
    pods: ['cp1', 'cp2'].flatMap((node) =>
      ['kube-controller-manager', 'kube-scheduler'].map((component) =>
        podOf({ name: `${component}-${node}`, node, labels: { component }, startedMs }),
      ),
    ),
  });
const fleetWith = (
  [first, second, worker]: readonly [AuthorityCertificate, AuthorityCertificate, AuthorityCertificate],
  cluster = live(OLD, OLD),
) => fleetIn(cluster, joinedHost(cp1, has(first)), joinedHost(cp2, has(second)), joinedHost(w1, has(worker)));

const fresh = fleetWith([OLD, OLD, OLD]);
const renewals = renewalsOf(fresh, ['ca'], { nowMs: NOW });
const summaries = (host: typeof cp1, fleet: typeof fresh, which = renewals) =>
  authorityRenewed('ca', which, keep)
    .diff(targetOf(inventory, host, fleet))
    .map(({ summary }) => summary);

describe('an authority whose end is near', () => {
  test('gets a new certificate on the first control plane, and the others wait for it', () => {
    expect(summaries(cp1, fresh)).toEqual(['renew the authority ca on cp1 with the same key (found 19 days left)']);
    expect(summaries(w1, fresh)[0]).toContain('have w1 trust the renewed authority ca (found kubernetes until ');
  });

  test('is made with a job that gets no secret, and the host trusts it at once', async () => {
    const { on, sent } = recordingOn({ job: () => `noise\n${NEXT.pem}` });
    await authorityRenewed('ca', renewals, keep).diff(targetOf(inventory, cp1, fresh))[0]!.apply!(on);
    const jobs = sent.flatMap((one) => (one.kind === 'job' ? [one] : []));
    expect(jobs.map(({ name }) => name)).toEqual(['renew-authority', 'place-authority']);
    expect(jobs[0]!.script).toMatch(/HOW=renewed\nNAME=ca\nDAYS=3650\nSERIAL=4B55[0-9a-f]{28}\n/);
    expect(jobs[1]!.files).toEqual({ 'bundle.crt': NEXT.pem });
    expect(jobs[1]!.script).toContain("PODS='kube-controller-manager\nkube-scheduler'");
    expect(jobs[1]!.script).toContain("SHOWN='10.0.0.11:6443\n10.0.0.11:10250'");
  });

  test.each([
    ['43800h', 1825],
    ['525600m', 365],
    ['87600h0m0s', 3650],
    ['10m', 1],
  ])('is valid for %s where the inventory says so: %i days', async (caCertificateValidityPeriod, days) => {
    const said = inventoryOf({
      hosts: inventory.hosts,
      kubeadm: { ...inventory.kubeadm, cluster: { caCertificateValidityPeriod } },
    });
    const { on, sent } = recordingOn({ job: () => NEXT.pem });
    await authorityRenewed('ca', renewals, keep).diff(targetOf(said, cp1, fresh))[0]!.apply!(on);
    const [made] = sent.flatMap((one) => (one.kind === 'job' ? [one.script] : []));
    expect(made).toContain(`\nDAYS=${String(days)}\n`);
  });

  test('is not renewed with a key that is not its own', async () => {
    const { on, sent } = recordingOn({ job: () => STRANGER.pem });
    const [change] = authorityRenewed('ca', renewals, keep).diff(targetOf(inventory, cp1, fresh));
    await expect(change!.apply!(on)).rejects.toThrow('is not that of its certificate');
    expect(sent.map((one) => (one.kind === 'job' ? one.name : ''))).toEqual(['renew-authority']);
  });

  test('goes to every host, kubeconfig and component that has another', () => {
    const some = fleetWith([NEXT, OLD, OLD], live(OLD, OLD, NOW + 5000));
    expect(summaries(cp1, some)).toEqual([]);
    for (const host of [cp2, w1]) expect(summaries(host, some)[0]).toContain(`have ${host.name} trust the renewed`);
    const older = fleetWith([NEXT, NEXT, NEXT], live(OLD, OLD, NOW - 60_000));
    expect(summaries(cp1, older)).toEqual([
      'have cp1 trust the renewed authority ca (found kube-controller-manager, kube-scheduler older than the file)',
    ]);
    const other = has(NEXT);
    const kubeconfigs = new Map([['admin.conf', [OLD]]]);
    const conf = fleetIn(
      live(NEXT, NEXT),
      joinedHost(cp1, { ...other, authorities: { ...other.authorities!, kubeconfigs } }),
    );
    expect(summaries(cp1, conf)).toEqual(['have cp1 trust the renewed authority ca (found others in admin.conf)']);
  });

  test('is not made again by a run that goes on where another was cut off', () => {
    const cut = fleetWith([NEXT, OLD, OLD]);
    const again = renewalsOf(cut, ['ca'], { nowMs: NOW });
    expect(summaries(cp1, cut, again)).toEqual([]);
    expect(summaries(cp2, cut, again)[0]).toContain('have cp2 trust the renewed authority ca');
  });

  test('is not made again within a day, unless the operator wants it', () => {
    const made = { ...NEXT, serial: `4B55${'0'.repeat(28)}` };
    const after = fleetWith([made, made, OLD]);
    const at = (nowMs: number, again?: boolean) => [...renewalsOf(after, ['ca'], { nowMs, again }).get('ca')!];
    expect(at(NOW)).toEqual([]);
    expect(at(NOW, true)).toEqual([made.serial]);
    expect(at(NOW + 25 * 3_600_000)).toEqual([made.serial]);
    expect(summaries(w1, after, renewalsOf(after, ['ca'], { nowMs: NOW }))).toHaveLength(1);
  });

  test('never replaces one of another key', () => {
    const mixed = fleetWith([NEXT, STRANGER, OLD]);
    expect(() => summaries(cp2, mixed)).toThrow('of another key than that of the other hosts');
  });

  test('comes from the inventory, if that brings the CA', () => {
    const own = inventoryOf({
      hosts: [cp1, cp2, w1],
      certificates: { ...inventory.certificates, ca: { cert: NEXT.pem, sign: () => Promise.resolve('') } },
    });
    const [change] = authorityRenewed('ca', renewals, keep).diff(targetOf(own, cp1, fresh));
    expect(change!.summary).toContain('have cp1 trust the renewed authority ca');
  });
});

describe('what the cluster tells', () => {
  const step = authorityPublished(renewedCas(renewals));
  const diff = (fleet: typeof fresh) => step.diff({ inventory, host: cp1, facts: fleet.cluster, fleet });

  test('is planned before the certificate is made', () => {
    expect(diff(fresh).map(({ summary }) => summary)).toEqual([
      'tell the new authority to hosts that join demo, and to pods',
    ]);
  });

  test('is the renewed one: cluster-info is written, the controller manager gives it to pods', async () => {
    const fleet = fleetWith([NEXT, NEXT, NEXT]);
    const [announced, given] = diff(fleet);
    expect(given!.apply).toBeUndefined();
    const { on, sent } = recordingOn();
    await announced!.apply!(on);
    const [run] = sent;
    const patch = JSON.parse(/'(\{.*\})'/.exec((run as { script: string }).script)![1]!) as {
      readonly metadata: object;
      readonly data: { readonly kubeconfig: string };
    };
    expect(patch.metadata).toEqual({ resourceVersion: '7' });
    expect(parse(patch.data.kubeconfig)).toEqual({
      clusters: [
        {
          name: '',
          cluster: { server: 'https://x', 'certificate-authority-data': Buffer.from(NEXT.pem).toString('base64') },
        },
      ],
    });
    expect(diff(fleetWith([NEXT, NEXT, NEXT], live(NEXT, NEXT)))).toEqual([]);
  });
});

test('while the API is away because an authority has ended, the hosts alone get theirs', () => {
  const names = (api: 'answers' | 'is away') =>
    renewAuthorityPhases(inventory, renewals, keep, api).map(({ name }) => name);
  expect(names('is away')).toEqual(['renew-ca', 'renew-ca-workers']);
  expect(names('answers')).toContain('renew-ca-published');
});

describe('authorities are left alone', () => {
  const refused = (fleet: typeof fresh, given = inventory, names: readonly ('ca' | 'etcd-ca')[] = ['ca']) =>
    authorityChangeRefusals({ inventory: given, fleet, names, command: 'certs renew-ca' }).map(
      ({ message }) => message,
    );
  const down = { state: 'down', reason: 'refused' } as const;

  test('while the API is away for another reason', () => {
    expect(refused(fleetWith([OLD, OLD, OLD], down as never))[0]).toContain('the cluster does not answer');
    const late = fleetIn(down, joinedHost(cp1, { ...has(OLD), nowMs: OLD.expiresMs + 1 }));
    expect(refused(late)).toEqual([]);
  });

  test.each([
    [
      'a node that the inventory does not name',
      fresh,
      inventoryOf({ hosts: [cp1, cp2] }),
      'w1: refused: the inventory does not name',
    ],
    [
      'a control plane without the key',
      fleetIn(
        live(OLD, OLD),
        joinedHost(cp1, { ...has(OLD), authorities: authoritiesWith({ ca: { bundle: [OLD] } }) }),
      ),
      inventory,
      'cp1: refused: it does not have the key of the authority ca',
    ],
    [
      'an unfinished action of another command',
      fleetIn(
        live(OLD, OLD),
        joinedHost(cp1, { ...has(OLD), marker: { cluster: 'demo', action: 'upgrade', job: 'x', stage: 'begun' } }),
      ),
      inventory,
      'cp1: refused: an unfinished upgrade of demo lies here',
    ],
  ])('if there is %s', (_, fleet, given, message) => {
    expect(refused(fleet, given)[0]).toContain(message);
  });

  test('if they are of an etcd that is not stacked', () => {
    const built = inventoryOf({
      hosts: [cp1, cp2, w1],
      etcd: { topology: 'built', endpoints: ['https://10.0.0.9:2379'] },
    });
    expect(refused(fresh, built, ['etcd-ca'])[0]).toContain('an etcd on hosts of its own');
  });
});
