import { isMixed } from '../cluster/api-versions.ts';
import { FIELD_MANAGER } from '../cluster/fleet/ownership.ts';
import { objectKey } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { Step } from '../engine/step.ts';
import { textDiff } from '../engine/text-diff.ts';
import { Refused } from '../errors.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { type JsonObject, objectsOf, ofCluster, within } from '../shell/decode.ts';
import { withoutEnd } from '../shell/text.ts';
import { script } from '../templates.ts';
import { COREDNS } from './coredns.ts';

/** The first and the last line of kbuild's part of the Corefile. All other lines belong to kubeadm and the operator. */
const BEGIN = '# Begin of dns.blocks. kbuild writes what follows: edit the inventory.';
const END = '# End of dns.blocks.';

/** A Corefile in its parts. */
interface CorefileParts {
  /** Everything but kbuild's part. */
  readonly rest: string;
  /** kbuild's part with its first and last line; empty if there is none. */
  readonly own: string;
}

/**
 * Splits a Corefile. `broken` if it has only one of the two lines around kbuild's part: then the part has no known end.
 */
export function corefileParts(corefile: string): CorefileParts | 'broken' {
  const lines = corefile.split('\n');
  const [begin, end] = [lines.indexOf(BEGIN), lines.indexOf(END)];
  if (begin === -1 && end === -1) return { rest: corefile, own: '' };
  if (begin === -1 || end < begin || lines.indexOf(BEGIN, begin + 1) !== -1) return 'broken';
  return {
    rest: [...lines.slice(0, begin), ...lines.slice(end + 1)].join('\n'),
    own: lines.slice(begin, end + 1).join('\n'),
  };
}

/** kbuild's part for these server blocks (zone → lines); empty if there are none. */
export function ownBlocks(blocks: Readonly<Record<string, string>>): string {
  const names = Object.keys(blocks).sort();
  if (names.length === 0) return '';
  const block = (name: string): string => {
    const lines = withoutEnd(blocks[name]!, '\n').split('\n');
    return [`${name} {`, ...lines.map((line) => (line.trim() === '' ? '' : `    ${line.trimEnd()}`)), '}'].join('\n');
  };
  return [BEGIN, ...names.map(block), END].join('\n');
}

/** The Corefile with kbuild's part behind the rest. */
export const corefileWith = (rest: string, own: string): string =>
  own === '' ? rest : `${withoutEnd(rest, '\n')}\n${own}\n`;

/** A zone as CoreDNS compares it: without the protocol of DNS, the last dot and the port 53. */
const plainZone = (zone: string): string =>
  zone
    .toLowerCase()
    .replace(/^dns:\/\//, '')
    .replace(/:53$/, '')
    .replace(/\.$/, '');

/** The zones of the server blocks of a Corefile, as `plainZone` spells them. */
export function zonesOf(corefile: string): ReadonlySet<string> {
  const zones = new Set<string>();
  let depth = 0;
  for (const line of corefile.split('\n')) {
    for (const word of line.replace(/(?:^|\s)#.*$/, '').split(/\s+/)) {
      if (word === '}') depth -= 1;
      else if (word === '{') depth += 1;
      else if (depth === 0 && word !== '') for (const zone of word.split(',')) zones.add(plainZone(zone));
    }
  }
  return zones;
}

/** The zones that the rest of the Corefile already has: CoreDNS does not start if two blocks have the same zone. */
export function takenZones(rest: string, blocks: Readonly<Record<string, string>>): readonly string[] {
  const taken = zonesOf(rest);
  return Object.keys(blocks).filter((zone) => taken.has(plainZone(zone)));
}

const EDIT = '`kubectl -n kube-system edit configmap coredns`';

/** The pod that tries a Corefile. */
const TRIAL = 'kbuild-dns-trial';
const COREFILE_ANNOTATION = 'kbuild.dev/corefile';

/** Maximum lifetime of a trial pod in s, if kbuild does not delete it: longer than the script waits for it. */
const TRIAL_SECONDS = 300;

/**
 * A pod like those of the Deployment, with another Corefile. It has no labels of CoreDNS, so it gets no DNS requests.
 * It has no priority and requests no resources, so it displaces no other pod. undefined if the Deployment is missing or
 * not as kubeadm makes it.
 */
function trialPod(deployment: JsonObject | undefined, corefile: string): JsonObject | undefined {
  const spec = within(deployment, 'spec', 'template', 'spec');
  const containers = objectsOf(spec['containers']);
  const volumes = objectsOf(spec['volumes']);
  const isConfig = ({ configMap }: JsonObject): boolean => within(configMap)['name'] === 'coredns';
  if (containers.length === 0 || !volumes.some(isConfig)) return undefined;
  const field = { fieldPath: `metadata.annotations['${COREFILE_ANNOTATION}']` };
  const without = (object: JsonObject, ...keys: readonly string[]): JsonObject =>
    Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: TRIAL,
      namespace: 'kube-system',
      labels: { app: TRIAL },
      annotations: { [COREFILE_ANNOTATION]: corefile },
    },
    spec: {
      ...without(spec, 'priorityClassName', 'priority', 'hostNetwork', 'affinity', 'topologySpreadConstraints'),
      restartPolicy: 'Never',
      activeDeadlineSeconds: TRIAL_SECONDS,
      terminationGracePeriodSeconds: 1,
      containers: containers.map((container) => without(container, 'resources', 'livenessProbe')),
      volumes: volumes.map((volume) =>
        isConfig(volume)
          ? { name: volume['name'], downwardAPI: { items: [{ path: 'Corefile', fieldRef: field }] } }
          : volume,
      ),
    },
  };
}

const brokenParts = ({ name }: Inventory): Refused =>
  new Refused(
    'corefile',
    name,
    'the Corefile has only one of the two lines between which kbuild writes dns.blocks',
    `delete what is left of them with ${EDIT}, and run the same command again`,
  );

const takenBlocks = ({ name }: Inventory, zones: readonly string[]): Refused =>
  new Refused(
    'corefile',
    name,
    `the Corefile already has a block for ${zones.join(', ')} that kbuild did not write`,
    `delete it with ${EDIT}, or take the zone out of dns.blocks`,
  );

const untried = ({ name }: Inventory): Refused =>
  new Refused(
    'coredns-missing',
    name,
    'there is no Deployment kube-system/coredns as kubeadm makes it, so kbuild cannot try dns.blocks in a pod',
    'bring it back (`kubeadm init phase addon coredns` on a control plane), or take dns.blocks out',
  );

/**
 * Writes the server blocks of `dns.blocks` into the Corefile, between two lines of kbuild's, and leaves the rest as it
 * is. Before the cluster gets a Corefile, a pod of CoreDNS has to become ready with it: with a mistake in it, CoreDNS
 * would run on until its pods restart, and then no name of the cluster would resolve.
 */
export const dnsBlocks: Step<'cluster'> = {
  name: 'dns-blocks',
  settleMs: 30_000,
  diff: ({ inventory, facts, fleet }) => {
    const { blocks } = inventory.dns;
    const own = ownBlocks(blocks);
    if (facts.state === 'absent') return own === '' ? [] : [{ summary: 'write dns.blocks into the Corefile' }];
    if (facts.state === 'down') return own === '' ? [] : [waitForApi(facts)];
    // The cluster may not have kubeadm's CoreDNS.
    if (facts.corefile === '') return [];
    const parts = corefileParts(facts.corefile);
    // If the inventory has no blocks, a remaining line is an ordinary comment.
    if (parts === 'broken' && own === '') return [];
    if (parts === 'broken') throw brokenParts(inventory);
    if (parts.own === own || isMixed(facts)) return [];
    const taken = takenZones(parts.rest, blocks);
    if (taken.length > 0) throw takenBlocks(inventory, taken);
    const corefile = corefileWith(parts.rest, own);
    const live = facts.objects.get(objectKey(COREDNS));
    const trial = own === '' ? undefined : ofCluster(facts, 'the Deployment coredns', () => trialPod(live, corefile));
    if (own !== '' && trial === undefined) throw untried(inventory);
    const found = parts.own === '' ? 'found none' : 'found others';
    return [
      {
        summary:
          own === ''
            ? 'take dns.blocks out of the Corefile (not in the inventory any more)'
            : `write dns.blocks into the Corefile (${found})`,
        preview: () =>
          Promise.resolve(`ConfigMap kube-system/coredns, Corefile\n${textDiff(facts.corefile, corefile)}`),
        apply: async (on) => {
          const host = acting(fleet);
          await on(host).job(
            'dns-blocks',
            script('kubeadm/dns-blocks.sh', {
              KUBECTL: kubectl(inventory, host).join(' '),
              MANAGER: FIELD_MANAGER,
              TRIAL,
              POD: trial === undefined ? '' : JSON.stringify(trial),
              // If the operator has edited the Corefile meanwhile, the test fails and the edit stays.
              PATCH: JSON.stringify([
                { op: 'test', path: '/data/Corefile', value: facts.corefile },
                { op: 'replace', path: '/data/Corefile', value: corefile },
              ]),
            }),
          );
        },
      },
    ];
  },
};
