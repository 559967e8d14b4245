import { describe, expect, test } from 'vitest';
import { keyId, parseAuthorities } from '../../src/certificates/certificates.facts.ts';
import { duringRotation, rotationReasons } from '../../src/certificates/rotation.refusal.ts';
import type { Rotating } from '../../src/certificates/rotation.step.ts';
import { isDropping, rotationOf, stageOf } from '../../src/certificates/rotation.ts';
import { tokensReplaced } from '../../src/certificates/service-account-key.step.ts';
import { parseTokenUse } from '../../src/certificates/token-use.facts.ts';
import { tokensStillUsed } from '../../src/certificates/token-use.ts';
import { refusedFor } from '../../src/cluster/reasons.ts';
import { cp1, inventoryOf } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';
import {
  carryOutKeys,
  fleetOfKeys,
  freshKeys,
  inventory,
  KEYS,
  type KeyWorld,
  nextKeyChange,
  START_MS,
} from './key-world.ts';

const rotating = (over: Partial<Rotating> = {}): Rotating => ({
  ...{ name: 'sa', direction: 'forward', subject: 'sa-20261126t013000z', when: 'now' },
  ...{ workloads: 'restart', secretTokens: 'refuse' },
  keep: () => Promise.resolve(),
  ...over,
});

/** What must hold at every moment: every API server accepts what any of them signs, and what pods and Secrets hold. */
function faults(world: KeyWorld): readonly string[] {
  const signers = [...world.hosts.values()].map(({ key }) => key);
  const used = new Set([...signers, ...world.pods.map(({ key }) => key), ...world.secrets.map(({ key }) => key)]);
  return [...world.hosts].flatMap(([name, { bundle }]) =>
    [...used].filter((key) => !bundle.includes(key)).map((key) => `${name} does not accept tokens of ${key}`),
  );
}

/** Every change until the run is through; stops after so many. Throws when something would be refused, or it does not end. */
function run(world: KeyWorld, how: Rotating, most = Infinity): readonly string[] {
  const changes: string[] = [];
  while (changes.length < most) {
    const next = nextKeyChange(world, how);
    if (next === undefined) return changes;
    carryOutKeys(world, next.host, next.step, how, 'whole');
    changes.push(`${next.host} ${next.step}`);
    const found = faults(world);
    if (found.length > 0) throw new Error(`after ${changes.join(', ')}: ${found.join('; ')}`);
    if (changes.length > 40) throw new Error(`it does not end: ${changes.join(', ')}`);
    if (rotationOf(fleetOfKeys(world), 'sa') === undefined) return changes;
  }
  return changes;
}

const ends = (world: KeyWorld) =>
  [...world.hosts].map(([name, { bundle, key, kept, signing }]) =>
    [name, bundle.join('+'), key, Object.keys(kept).join('+'), signing ?? ''].join(' ').trim(),
  );
const ended = (key: string) => [`cp1 ${key} ${key}`, `cp2 ${key} ${key}`];
const whole = run(freshKeys(), rotating());

describe('a rotation of the key of service accounts', () => {
  test('has all API servers accept both, then sign with the new one, restarts older pods, and takes the old one out', () => {
    const world = freshKeys();
    expect(run(world, rotating())).toEqual([
      'cp1 authority-prepared',
      'cp2 authority-prepared',
      'cp1 both-trusted',
      'cp2 both-trusted',
      'cp1 survivor-signs',
      'cp2 survivor-signs',
      'cp1 workloads-restarted',
      'cp1 only-one-trusted',
      'cp2 only-one-trusted',
      'cp1 rotation-cleaned',
      'cp2 rotation-cleaned',
    ]);
    expect(ends(world)).toEqual(ended('new'));
  });

  test.each(whole.map((_, at) => at + 1))('that is cut off after change %i goes on with the next one', (at) => {
    const world = freshKeys();
    run(world, rotating(), at);
    if (at === whole.length) return;
    expect(run(world, rotating())).toEqual(whole.slice(at));
    expect(ends(world)).toEqual(ended('new'));
  });

  test.each(whole.map((_, at) => at))('that is cut off in the middle of change %i does it again, and ends', (at) => {
    const world = freshKeys();
    run(world, rotating(), at);
    const next = nextKeyChange(world, rotating())!;
    carryOutKeys(world, next.host, next.step, rotating(), 'half');
    expect(faults(world)).toEqual([]);
    run(world, rotating());
    expect(ends(world)).toEqual(ended('new'));
  });

  test.each(whole.map((_, at) => at + 1))(
    'that is cut off after change %i can be taken back until the old key goes',
    (at) => {
      const world = freshKeys();
      run(world, rotating(), at);
      const rotation = rotationOf(fleetOfKeys(world), 'sa');
      if (rotation === undefined || isDropping(fleetOfKeys(world), 'sa', rotation)) {
        expect(at).toBeGreaterThan(whole.indexOf('cp1 workloads-restarted') + 1);
        return;
      }
      run(world, rotating({ direction: 'back' }));
      expect(ends(world)).toEqual(ended('old'));
    },
  );

  test('that is taken back before the new key signed restarts nothing', () => {
    const world = freshKeys();
    run(world, rotating(), whole.indexOf('cp1 survivor-signs'));
    expect(run(world, rotating({ direction: 'back' }))).toEqual([
      'cp1 only-one-trusted',
      'cp2 only-one-trusted',
      'cp1 rotation-cleaned',
      'cp2 rotation-cleaned',
    ]);
  });

  test('that is taken back restarts the pods with tokens of the new key, also when only a half change had been made', () => {
    const world = freshKeys();
    run(world, rotating(), whole.indexOf('cp1 survivor-signs'));
    carryOutKeys(world, 'cp1', 'survivor-signs', rotating(), 'half');
    world.pods.push({ name: 'x-2', workload: 'deployment/x', startedMs: world.nowMs, key: 'new' });
    expect(run(world, rotating({ direction: 'back' })).slice(0, 2)).toEqual([
      'cp1 survivor-signs',
      'cp1 workloads-restarted',
    ]);
    expect(ends(world)).toEqual(ended('old'));
  });

  test('may change its direction, and change it again', () => {
    for (let at = 1; at <= whole.indexOf('cp1 workloads-restarted') + 1; at++)
      for (let back = 1; ; back++) {
        const world = freshKeys();
        run(world, rotating(), at);
        const changes = run(world, rotating({ direction: 'back' }), back);
        if (rotationOf(fleetOfKeys(world), 'sa') === undefined) break;
        run(world, rotating());
        expect(ends(world), `${String(at)} forward, ${changes.join(', ')} back`).toEqual(ended('new'));
      }
  });
});

/** The world before this change of this host. */
function before(step: string, host: string, how = rotating()): KeyWorld {
  const world = freshKeys();
  for (let made = 0; made < 40; made++) {
    const next = nextKeyChange(world, how)!;
    if (next.step === step && next.host === host) return world;
    carryOutKeys(world, next.host, next.step, how, 'whole');
  }
  throw new Error(`${step} of ${host} does not come`);
}

async function sentBy(world: KeyWorld, answers: Parameters<typeof recordingOn>[0] = {}, how = rotating()) {
  const { on, sent } = recordingOn(answers);
  const next = nextKeyChange(world, how)!;
  for (const change of next.diff(next.target)) await change.apply?.(on);
  return sent;
}
const jobs = (sent: Awaited<ReturnType<typeof sentBy>>) => sent.flatMap((one) => (one.kind === 'job' ? [one] : []));

describe('what its changes send', () => {
  test('the new key is of the kind of the old one, because kubeadm reads both as one kind', async () => {
    const [made, kept] = jobs(await sentBy(freshKeys()));
    expect(made!.script).toContain('HOW=key');
    expect(made!.script).toContain("GENERATE='-algorithm EC -pkeyopt ec_paramgen_curve:P-256'");
    expect(made!.script).toContain('SUBJECT=sa-20261126t013000z');
    expect(kept!.script).toMatch(/NAME=sa\nEND=pub\nKEPT=old\n/);
  });

  test('the key goes to the other control planes as a secret of a job', async () => {
    const sent = await sentBy(before('authority-prepared', 'cp2'), { read: () => KEYS.new.pem, run: () => 'THE KEY' });
    const [job] = jobs(sent);
    expect(job).toMatchObject({ host: 'cp2', files: { 'new.pub': KEYS.new.pem, 'new.key': 'THE KEY' } });
    expect(sent.some((one) => 'script' in one && one.script.includes('THE KEY'))).toBe(false);
  });

  test('API servers get both keys in one file, the old one first, and must show both', async () => {
    const [job] = jobs(await sentBy(before('both-trusted', 'cp1')));
    expect(job!.files).toEqual({ 'sa.pub': `${KEYS.old.pem}${KEYS.new.pem}` });
    expect(job!.script).toContain(`TRUSTED='${keyId(KEYS.old)}\n${keyId(KEYS.new)}'`);
    expect(job!.script).toContain("SIGNER=''");
  });

  test('the new key signs, and must be seen in a token', async () => {
    const [job] = jobs(await sentBy(before('survivor-signs', 'cp2')));
    expect(job!.files).toEqual({
      'sa.pub': `${KEYS.new.pem}${KEYS.old.pem}`,
      'signs.pub': KEYS.new.pem,
      'signed.pub': KEYS.old.pem,
    });
    expect(job!.script).toContain(`SIGNS=${keyId(KEYS.new)}`);
    expect(job!.script).toContain('SIGNER=new');
  });

  test('workloads restart when the clocks of all hosts are past the moment since which the new key signs alone', async () => {
    const world = before('workloads-restarted', 'cp1');
    const [job] = jobs(await sentBy(world));
    const since = world.hosts.get('cp2')!.signingMs;
    expect(job!.script).toContain(`AFTER=${String((since + 30_000) / 1000)}`);
    expect(job!.script).toContain("WORKLOADS='a deployment/x'");
  });

  test('in the end the keys that were kept are deleted, the new public key last', async () => {
    const sent = await sentBy(before('rotation-cleaned', 'cp1'));
    const [removed] = sent.flatMap((one) => (one.kind === 'run' ? [one.script] : []));
    expect(removed).toMatch(
      /^rm -f -- .*sa-signing\.pub .*sa-old\.key .*sa-new\.key \/etc\/kubernetes\/pki\/sa-new\.pub;/,
    );
  });
});

describe('a control plane that joined while the key is rotated', () => {
  /** It has what kubeadm copies from cp1: sa.key and sa.pub. */
  const joined = (at: number): KeyWorld => {
    const world = freshKeys();
    run(world, rotating(), at);
    const { bundle, key } = world.hosts.get('cp1')!;
    world.hosts.set('cp3', { bundle, key, kept: {}, signingMs: 0 });
    return world;
  };
  const last = whole.indexOf('cp1 rotation-cleaned');

  test.each(whole.slice(0, last).map((_, at) => at + 1))('after change %i takes part in it', (at) => {
    const world = joined(at);
    expect(faults(world)).toEqual([]);
    run(world, rotating());
    expect(ends(world)).toEqual([...ended('new'), 'cp3 new new']);
  });

  test.each(whole.slice(0, last - 2).map((_, at) => at + 1))('after change %i goes back with it', (at) => {
    const world = joined(at);
    run(world, rotating({ direction: 'back' }));
    expect(ends(world)).toEqual([...ended('old'), 'cp3 old old']);
  });

  test('gets both keys from the others, on the way back too', async () => {
    const back = rotating({ direction: 'back' });
    const sent = await sentBy(
      joined(whole.indexOf('cp1 workloads-restarted') + 1),
      { read: () => 'PUB', run: () => 'KEY' },
      back,
    );
    expect(jobs(sent)).toMatchObject([
      { host: 'cp3', files: { 'old.pub': 'PUB', 'old.key': 'KEY', 'new.pub': 'PUB', 'new.key': 'KEY' } },
    ]);
    expect(sent.filter(({ kind }) => kind === 'reveal').map(({ host }) => host)).toEqual(['cp1', 'cp1']);
  });

  test('is not refused, as it is while an authority is rotated', () => {
    const world = joined(whole.indexOf('cp1 survivor-signs') + 1);
    expect(duringRotation(inventory, fleetOfKeys(world), 'kubeadm cannot upgrade')).toEqual([]);
  });
});

describe('the old key does not go', () => {
  const world = (): KeyWorld => before('only-one-trusted', 'cp1');
  const used = (one: KeyWorld, how = rotating()) => {
    const fleet = fleetOfKeys(one);
    return tokensStillUsed(inventory, fleet, rotationOf(fleet, 'sa')!, how).map(({ message, remedy }) => [
      message,
      remedy,
    ]);
  };

  test('while a Secret holds a token of it, unless the operator says so', async () => {
    const found = world();
    found.secrets = [
      { name: 'ci', key: 'old' },
      { name: 'renewed', key: 'new' },
    ];
    expect(used(found)).toEqual([
      [
        expect.stringMatching(/Secrets hold tokens of key-[0-9a-f]{12}, which the API would no longer accept: a\/ci$/),
        expect.stringContaining('--leave-tokens'),
      ],
    ]);
    expect(nextKeyChange(found, rotating())).toMatchObject({ step: 'tokens-replaced' });
    await expect(sentBy(found)).rejects.toThrow('a/ci');
    expect(nextKeyChange(found, rotating({ secretTokens: 'leave' }))).toMatchObject({ step: 'only-one-trusted' });
    // The way back takes the other one's.
    expect(used(found, rotating({ direction: 'back' }))[0]![0]).toContain('a/renewed');
  });

  test('while a pod that nothing restarts has a token that its kubelet has yet to renew', () => {
    const found = world();
    found.pods.push({ name: 'bare', workload: 'none', startedMs: START_MS - 60_000, key: 'old' });
    const since = found.hosts.get('cp2')!.signingMs + 30_000;
    const renewed = since + 0.8 * 3_607_000 + 5 * 60_000;
    const [[message, remedy]] = used(found) as [[string, string]];
    expect(message).toMatch(/until their kubelets renew them: a\/bare$/);
    expect(remedy).toContain(`after ${new Date(Math.ceil(renewed / 60_000) * 60_000).toISOString().slice(0, 16)}Z`);
    found.nowMs = renewed;
    expect(used(found)).toEqual([]);
    expect(nextKeyChange(found, rotating())).toMatchObject({ step: 'only-one-trusted' });
  });

  test('while workloads are left that would have been restarted', () => {
    const found = before('workloads-restarted', 'cp1');
    expect(used(found)[0]![1]).toContain('run the same command again: it restarts their workloads first');
    const left = rotating({ workloads: 'leave' });
    expect(nextKeyChange(found, left)).toMatchObject({ step: 'tokens-replaced' });
    expect(used(found, left)[0]![0]).toContain('a/x-1');
  });

  test('while another control plane signs with it', async () => {
    const found = world();
    const next = nextKeyChange(found, rotating())!;
    found.hosts.get('cp2')!.key = 'old';
    const target = { ...next.target, fleet: fleetOfKeys(found) };
    await expect(next.diff(target)[0]!.apply!(recordingOn().on)).rejects.toThrow(
      'tokens may still be signed with it here',
    );
  });
});

test('the new key does not sign before all API servers accept its tokens', async () => {
  const world = before('survivor-signs', 'cp1');
  const next = nextKeyChange(world, rotating())!;
  world.hosts.get('cp2')!.bundle = ['old'];
  const target = { ...next.target, fleet: fleetOfKeys(world) };
  await expect(next.diff(target)[0]!.apply!(recordingOn().on)).rejects.toThrow(
    'tokens that it signs are not accepted here',
  );
});

test('a plan of a rotation that has not begun names the Secrets whose tokens nothing renews', () => {
  const secrets = [{ namespace: 'a', name: 'ci', keyId: '' }];
  const fleet = fleetOfKeys(freshKeys());
  const summaries = (over: Partial<Rotating>) =>
    tokensReplaced(rotating({ when: 'planned', tokensBefore: { pods: [], secrets }, ...over }))
      .diff({ inventory, host: cp1, facts: fleet.cluster, fleet })
      .map(({ summary }) => summary);
  expect(summaries({})).toEqual([expect.stringMatching(/which must be signed again before: a\/ci\)$/)]);
  expect(summaries({ secretTokens: 'leave' })).toEqual([
    'see that nothing uses a token of the old key of service accounts',
  ]);
  expect(summaries({ when: 'now' })).toEqual([]);
});

test('how far it is, is told as for authorities', () => {
  const world = freshKeys();
  expect(stageOf(fleetOfKeys(world), 'sa')).toBe('none');
  run(world, rotating(), whole.indexOf('cp1 survivor-signs'));
  expect(stageOf(fleetOfKeys(world), 'sa')).toBe('both are trusted');
  run(world, rotating(), 1);
  expect(stageOf(fleetOfKeys(world), 'sa')).toBe('the new one signs');
});

describe('it is refused', () => {
  test('where the inventory names keys of its own', () => {
    const kubeadm = { ...inventory.kubeadm };
    const own = inventoryOf({
      kubeadm: {
        ...kubeadm,
        cluster: { apiServer: { extraArgs: [{ name: 'service-account-signing-endpoint', value: '/run/signer' }] } },
      },
    });
    expect(
      refusedFor(rotationReasons, { inventory: own, fleet: fleetOfKeys(freshKeys()), name: 'sa' }).map(
        ({ message }) => message,
      ),
    ).toContainEqual(expect.stringContaining('kubeadm.cluster.apiServer.extraArgs, service-account-signing-endpoint'));
  });

  test('where another tool has put two keys into sa.pub, and no other command is', () => {
    const world = freshKeys();
    world.hosts.get('cp1')!.bundle = ['old', 'new'];
    expect(() => refusedFor(rotationReasons, { inventory, fleet: fleetOfKeys(world), name: 'sa' })).toThrow(
      'it trusts 2 public keys as sa',
    );
    expect(
      refusedFor(rotationReasons, { inventory, fleet: fleetOfKeys(world), name: 'front-proxy-ca' }).map(
        ({ message }) => message,
      ),
    ).toEqual([expect.stringContaining('settings were edited')]);
  });

  test('while an authority is rotated, and the other way round', () => {
    const world = before('survivor-signs', 'cp1');
    expect(refusedFor(rotationReasons, { inventory, fleet: fleetOfKeys(world), name: 'ca' })[0]!.message).toContain(
      'a rotation of sa is under way',
    );
  });
});

describe('who holds tokens', () => {
  const header = (fields: object): string => Buffer.from(JSON.stringify(fields)).toString('base64url');

  test('is read from pods and from the headers of tokens in Secrets', () => {
    const out = [
      'pod\ta\tx-5f-1\t2026-11-26T01:00:00Z\tReplicaSet\tx-5f\t5f\t3607',
      'pod\ta\tvault\t\tStatefulSet\tvault\t\t3607 86400',
      'pod\ta\tblind\t2026-11-26T01:00:00Z\tDaemonSet\td\t\t',
      `secret\ta\tci\t${header({ alg: 'RS256', kid: 'abc' })}`,
      `secret\ta\tancient\t${header({ alg: 'RS256' })}`,
      'secret\ta\topaque\t-',
      'secret\ta\tempty\t',
      'end',
    ].join('\n');
    expect(parseTokenUse(out)).toEqual({
      pods: [
        {
          ...{ namespace: 'a', name: 'x-5f-1', workload: 'deployment/x' },
          ...{ startedMs: Date.parse('2026-11-26T01:00:00Z'), lifetimeMs: 3_607_000 },
        },
        {
          ...{ namespace: 'a', name: 'vault', workload: 'statefulset/vault' },
          ...{ startedMs: Infinity, lifetimeMs: 86_400_000 },
        },
      ],
      secrets: [
        { namespace: 'a', name: 'ci', keyId: 'abc' },
        { namespace: 'a', name: 'ancient', keyId: '' },
        { namespace: 'a', name: 'opaque', keyId: '' },
      ],
    });
  });

  test('is unknown when the Secrets could not be read', () => {
    expect(() => parseTokenUse('pod\ta\tx\t\tDaemonSet\td\t\t3607')).toThrow('could not be read');
    expect(parseTokenUse('end\n')).toEqual({ pods: [], secrets: [] });
  });
});

test('the keys of a host are read with the names that kbuild gave them, whatever else the file holds', () => {
  const { sa } = parseAuthorities(
    `file sa 1795560575.437\n${KEYS.old.pem}${KEYS.new.pem}-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\nfile sa-new 1\n${KEYS.new.pem}file sa-signing 1795560580\n${KEYS.old.pem}key sa aa\nkey sa-new bb\n`,
  ).files;
  expect(sa.bundle).toEqual([KEYS.old, KEYS.new]);
  expect(sa).toMatchObject({ signingMs: 1795560580000, beside: { fresh: KEYS.new, signing: KEYS.old } });
  expect(sa.keys).toEqual({ current: 'aa', fresh: 'bb' });
  expect(KEYS.new).toMatchObject({ subject: 'sa-20261126t013000z', beginsMs: START_MS, expiresMs: Infinity });
  expect(KEYS.old.subject).toMatch(/^key-[0-9a-f]{12}$/);
});
